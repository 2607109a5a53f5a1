"""Copies are turned away by the leak filter, each for its own reason; what cannot be measured goes to a person."""

import json
import tomllib
from pathlib import Path

import pytest

from builders.sets import case
from findback.corpus.open import open_corpus
from findback.measure.yardstick import choose_window
from findback.model.document import Document
from findback.model.settings import CorpusSettings
from findback.steps.measured import measure_golds
from findback.writing.leaking import ALIGNED, UNMEASURABLE, Leakage, Leaking, explain_unmeasurable, respell

DATA = Path(__file__).parent.parent / "data"
PLANTED = tomllib.loads((DATA / "planted_texts.toml").read_text(encoding="utf-8"))
COPIES = tomllib.loads((DATA / "written_copies.toml").read_text(encoding="utf-8"))
LIMIT = 0.35


def inspect(text: str, language: str, *, limit: float | None = LIMIT) -> Leakage:
    """Return what the leak filter says about a text beside a planted document."""
    planted = PLANTED[language]
    listed = [Document(name, planted[name], language=language) for name in ("document", "other")]
    return Leaking(listed, window=1_000).inspect(text, listed[0], language, limit=limit)


@pytest.mark.parametrize(
    ("language", "kind", "reason"),
    [
        ("en", "copied_sentence", "copied sentence"),
        ("de", "copied_sentence", "copied sentence"),
        ("ja", "copied_sentence", "copied sentence"),
        ("en", "inflected_copy", "inflected copy"),
        ("de", "inflected_copy", "inflected copy"),
        # Japanese is compared by pairs of characters: what is left of an inflected copy is simply copied.
        ("ja", "inflected_copy", "copied words"),
        ("en", "hyphen_copy", "hyphen or camelCase copy"),
        ("de", "hyphen_copy", "hyphen or camelCase copy"),
        ("ja", "hyphen_copy", "copied words"),
        ("en", "camel_copy", "hyphen or camelCase copy"),
        ("de", "camel_copy", "copied words"),
        ("ja", "camel_copy", "copied words"),
    ],
)
def test_each_planted_copy_is_found_by_its_name(language: str, kind: str, reason: str) -> None:
    """A planted copy is turned away by the leak filter, for the reason it was planted for."""
    rejection = inspect(PLANTED[language][kind], language).rejection
    assert rejection is not None
    assert (rejection.by, rejection.reason) == ("leak", reason)


@pytest.mark.parametrize("kind", ["hyphen_copy", "camel_copy"])
def test_joined_and_split_words_pass_the_plain_figure(kind: str) -> None:
    """The reported leak stays the one of a release, under the limit; only the respelled document shows the copy."""
    value = inspect(PLANTED["en"][kind], "en").measured.leak.value
    assert value is not None
    assert value <= LIMIT


@pytest.mark.parametrize("language", sorted(PLANTED))
def test_a_description_in_other_words_is_not_turned_away(language: str) -> None:
    """What a person would say leaks nothing, or too little is rare in it to tell."""
    leakage = inspect(PLANTED[language]["good"], language)
    assert leakage.rejection is None
    if leakage.measured.leak.value is None:
        assert leakage.doubts == (UNMEASURABLE,)
    else:
        assert leakage.measured.leak.value < 0.05
        assert leakage.doubts == ()


def test_empty_talk_is_not_clean_because_it_leaks_nothing() -> None:
    """Words that say nothing have no leak to measure: a doubt, not a pass."""
    leakage = inspect(PLANTED["en"]["empty_talk"], "en")
    assert leakage.measured.leak.value is None
    assert leakage.doubts == (UNMEASURABLE,)
    assert explain_unmeasurable(leakage.measured.leak) == "fewer than 3 rare words in the query"


def test_another_language_is_unmeasurable_and_not_clean() -> None:
    """A text in a language other than the document's shares no word with it, and is not clean for that."""
    planted = PLANTED["en"]
    document = Document("d", planted["document"], language="en")
    leakage = Leaking([document], window=1_000).inspect(planted["wrong_language"], document, None, limit=LIMIT)
    assert leakage.measured.leak.unmeasurable == "different-languages"
    assert leakage.doubts == (UNMEASURABLE,)


@pytest.mark.parametrize(
    ("language", "row"), [(language, row) for language, rows in sorted(COPIES.items()) for row in rows]
)
def test_a_copy_translated_there_and_back_does_not_pass_as_clean(language: str, row: dict[str, str]) -> None:
    """Each copy is turned away for its words, or flagged for its sentences; the person's own words are neither."""
    document = Document("d", row["document"], language=language)
    leaking = Leaking([document], window=1_000)
    copy = leaking.inspect(row["copy"], document, language, limit=LIMIT)
    assert copy.rejection is not None or ALIGNED in copy.doubts
    own = leaking.inspect(row["own"], document, language, limit=LIMIT)
    assert own.rejection is None
    assert ALIGNED not in own.doubts


def test_a_copy_whose_rare_words_were_all_translated_is_flagged() -> None:
    """A copy that leaks nothing is still flagged, because its sentences follow the document's."""
    row = COPIES["en"][1]
    document = Document("d", row["document"], language="en")
    leakage = Leaking([document], window=1_000).inspect(row["copy"], document, "en", limit=LIMIT)
    assert leakage.measured.leak.value == 0.0
    assert leakage.rejection is None
    assert leakage.doubts == (ALIGNED,)


def test_a_reworded_copy_over_the_limit_is_called_one() -> None:
    """A copy that keeps rare words and the order of sentences is told apart from one that picks words."""
    row = COPIES["en"][4]
    document = Document("d", row["document"], language="en")
    rejection = Leaking([document], window=1_000).inspect(row["copy"], document, "en", limit=LIMIT).rejection
    assert rejection is not None
    assert rejection.reason == "reworded copy"


def test_without_a_limit_only_copied_stretches_are_turned_away() -> None:
    """Where real queries set the overlap, their many shared words are wanted, and a copied sentence is still none."""
    assert inspect(PLANTED["en"]["inflected_copy"], "en", limit=None).rejection is None
    rejection = inspect(PLANTED["en"]["copied_sentence"], "en", limit=None).rejection
    assert rejection is not None
    assert rejection.reason == "copied sentence"


def test_respelling_adds_a_spelling_and_takes_none() -> None:
    """Compounds get the text's spelling beside their own; a document without any stays as it is."""
    assert respell("A plain line.", "nothing shared here", "en") == "A plain line."
    assert respell("das Drucker-Fach", "mein druckerfach klemmt", "de") == "das Drucker-Fach druckerfach"
    assert respell("das Druckerfach", "mein drucker-fach klemmt", "de") == "das Druckerfach drucker fach"
    assert respell("max_retry_count", "max retry", "en") == "max_retry_count max retry count"
    assert respell("隔離棚", "隔離・棚", "ja") == "隔離棚"


def test_leak_and_overlap_are_those_a_release_records(data: Path) -> None:
    """For every real question the filter's figures equal those of the release's own measuring, on the same window."""
    rows = [json.loads(line) for line in (data / "ubuntu" / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    corpus = open_corpus(CorpusSettings(path="ubuntu/corpus.jsonl"), base=data)
    cases = [
        case(number, query=row["query"], judged=[{"doc": row["gold"], "grade": 3, "found_by": "resolver"}])
        for number, row in enumerate(rows)
    ]
    released = {row.case: row for row in measure_golds(cases, corpus, seed=1).measured}
    golds = [corpus.get(row["gold"]) for row in rows]
    window = choose_window([len(gold.text) for gold in golds if gold is not None]).window
    assert window is not None
    leaking = Leaking(corpus, window=window)
    for one, gold in zip(cases, golds, strict=True):
        assert gold is not None
        measured = leaking.measure_text(one.query, gold, "en")
        assert measured.leak.value == released[one.id].leak
        assert measured.overlap.value == released[one.id].overlap
        assert explain_unmeasurable(measured.leak) == released[one.id].leak_reason
    assert leaking.measure == f"vocabulary leak, words-1, window {window}"


def test_no_real_question_copies_a_stretch_of_its_answer(data: Path) -> None:
    """None of 348 real questions holds eight words in a row of the text its asker was sent."""
    rows = [json.loads(line) for line in (data / "ubuntu" / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    corpus = open_corpus(CorpusSettings(path="ubuntu/corpus.jsonl"), base=data)
    leaking = Leaking(corpus, window=150)
    for row in rows:
        gold = corpus.get(row["gold"])
        assert gold is not None
        assert leaking.inspect(row["query"], gold, "en", limit=None).rejection is None
