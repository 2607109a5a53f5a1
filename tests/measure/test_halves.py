"""Large sets: the same figures from one process or two."""

from random import Random

import pytest

from findback.measure import halves
from findback.measure.article import measure_article_figures
from findback.measure.halves import Corpus, measure_large_set
from findback.measure.rarity import DocumentFrequencies
from findback.measure.ruler import code_pool
from findback.measure.wordings import Wording
from findback.measure.yardstick import measure_set


def make_set(count: int) -> tuple[list[Wording], Corpus]:
    chance = Random(0)
    spelled = [f"w{number}ord" for number in range(300)]
    texts = [" ".join(chance.choices(spelled, k=30)) for _ in range(count)]
    wordings = [Wording(" ".join(chance.sample(spelled, 5)), text, at) for at, text in enumerate(texts)]
    wordings.append(Wording("a text of its own", "and this is a text of its own"))
    return wordings, Corpus(texts, ["en"] * count, list(range(count)))


def test_two_processes_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, order and floors do not depend on the number of processes; figures equal the undivided ones."""
    wordings, corpus = make_set(300)
    whole = measure_large_set(wordings, corpus, window=100, seed=1)
    assert whole == measure_set(wordings, code_pool(*corpus), window=100, seed=1)
    monkeypatch.setattr(halves, "LARGE", 100)
    alone = measure_large_set(wordings, corpus, window=100, seed=1)
    assert measure_large_set(wordings, corpus, window=100, seed=1, processes=2) == alone
    assert (alone.documents, alone.corpus_decides, len(alone.rows)) == (300, True, 301)
    for mine, theirs in zip(alone.rows, whole.rows, strict=True):
        assert mine.overlap.value == theirs.overlap.value
        assert mine.leak.weighted == theirs.leak.weighted
    assert alone.articles == whole.articles
    assert alone.articles == tuple(measure_article_figures([w.query for w in wordings], [w.gold for w in wordings]))


def test_articles_see_the_text_they_are_given() -> None:
    """The articles' figures are those of the quoted gold, findback's own those of the document."""
    document = "the refund form is on the intranet page"
    wording = Wording("where is the refund form", document, 0, article_gold="refund")
    measured = measure_set([wording], code_pool([document, "another page"], ["en", "en"]), window=100, seed=1)
    assert measured.articles == tuple(measure_article_figures(["where is the refund form"], ["refund"]))
    assert measured.rows[0].overlap.value == 1.0


def test_a_child_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost half raises instead of giving half a set."""
    monkeypatch.setattr(halves, "LARGE", 10)
    monkeypatch.setattr(halves.sys, "executable", "/bin/false")
    with pytest.raises(OSError, match=r"died|pipe"):
        measure_large_set(*make_set(50), window=100, seed=1, processes=2)


def test_merged_frequencies_add_up() -> None:
    """Counts of two halves are those of the whole, per language."""
    left, right = DocumentFrequencies(), DocumentFrequencies()
    left.add("the policy", "en")
    right.add("policies", "en-GB")
    right.add("Formular", "de")
    left.merge(right)
    assert (left.count("polici", "en"), left.documents("en"), left.documents("de")) == (2, 2, 1)
    assert set(left.languages()) == {"en", "de"}
