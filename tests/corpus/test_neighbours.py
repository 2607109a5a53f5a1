"""Documents alike are found by their words, and by nothing else."""

import math

import pytest

from findback.corpus.corpus import corpus_of
from findback.corpus.neighbours import Near, Neighbours
from findback.model.document import Document

PAGES = {
    "a": "pump valve",
    "b": "pump lamp",
    "c": "valve lamp",
    "d": "pump valve lamp",
    "e": "whale",
}


def test_similarity_is_the_cosine_of_weighted_words() -> None:
    """Two pages that share one of two words each have the cosine counted by hand."""
    near = Neighbours(corpus_of([Document("a", "pump valve"), Document("b", "pump lamp"), Document("c", "whale")]))
    shared, own = math.log(4 / 2.5), math.log(4 / 1.5)
    assert near.nearest("a", 5) == (Near("b", pytest.approx(shared**2 / (shared**2 + own**2), abs=1e-6)),)
    assert near.nearest("c", 5) == ()


def test_repeats_weigh_less_and_less() -> None:
    """A word that stands there e times... counts 1 + ln of its number, not its number."""
    near = Neighbours(corpus_of([Document("a", "pump pump valve"), Document("b", "pump"), Document("c", "whale")]))
    pump, valve = (1 + math.log(2)) * math.log(4 / 2.5), math.log(4 / 1.5)
    assert near.nearest("b", 1)[0].similarity == pytest.approx(pump / math.hypot(pump, valve), abs=1e-6)


def test_the_most_alike_come_first_and_ids_decide_between_equals() -> None:
    """The page with all words is nearest; the two that share one each are equal and in the order of ids."""
    near = Neighbours(corpus_of([Document(name, text) for name, text in PAGES.items()]))
    assert [one.document for one in near.nearest("a", 5)] == ["d", "b", "c"]
    assert [one.document for one in near.nearest("a", 2)] == ["d", "b"]
    assert [one.document for one in near.nearest("a", 2, exclude=["d", "not there"])] == ["b", "c"]
    assert near.nearest("a", 0) == ()


def test_equal_ones_at_the_end_are_chosen_by_id() -> None:
    """Of twelve equal pages the first three by id come, whatever order the corpus has."""
    pages = [Document(f"{at:02}", "pump valve") for at in range(12)]
    for given in (pages, pages[::-1]):
        assert [one.document for one in Neighbours(corpus_of(given)).nearest("05", 3)] == ["00", "01", "02"]


def test_forms_of_a_word_are_one_within_their_language() -> None:
    """English and German pages meet in stems; Japanese ones in pairs of characters; titles count."""
    pages = [
        Document("en1", "The valves were leaking in the cellar and they had to be closed."),
        Document("en2", "A leaking valve can be closed in the cellar, and it is cheap."),
        Document("de1", "Die Ventile sind undicht und nicht mehr zu schließen."),
        Document("de2", "Das undichte Ventil ist nicht mehr zu schließen."),
        Document("ja1", "弁から水が漏れています。"),
        Document("ja2", "水漏れは弁を閉めて止めます。"),
        Document("t", "quux", title="Quagga"),
        Document("u", "about the quagga"),
    ]
    near = Neighbours(corpus_of(pages))
    firsts = {name: near.nearest(name, 1)[0].document for name in ("en1", "de1", "ja1", "t")}
    assert firsts == {"en1": "en2", "de1": "de2", "ja1": "ja2", "t": "u"}


def test_words_of_half_the_corpus_tell_nothing_apart() -> None:
    """In a corpus of 200 or more, a word that most pages hold makes none of them alike."""
    pages = [Document(f"{at:03}", f"everywhere only{at}") for at in range(250)]
    assert Neighbours(corpus_of(pages)).nearest("000", 3) == ()
    assert len(Neighbours(corpus_of(pages[:100])).nearest("000", 3)) == 3


def test_a_page_without_words_has_no_neighbours() -> None:
    """An empty page, and a corpus of nothing else, are no trouble."""
    near = Neighbours(corpus_of([Document("a", "…"), Document("b", "pump")]))
    assert near.nearest("a", 3) == near.nearest("b", 3) == ()
    assert Neighbours(corpus_of([Document("a", "")])).nearest("a", 3) == ()


def test_others_of_the_subject_are_drawn_with_a_seed() -> None:
    """Never itself, never what is passed over, each of the subject for some seed; the same for the same seed."""
    pages = [Document(f"a{at}", "pump", subject="a") for at in range(6)] + [Document("b", "pump", subject="b")]
    near = Neighbours(corpus_of([*pages, Document("n1", "x"), Document("n2", "y")]))
    assert near.same_subject("a0", 3, 1) == near.same_subject("a0", 3, 1)
    drawn = [near.same_subject("a0", 2, seed, exclude=["a1"]) for seed in range(40)]
    assert {name for names in drawn for name in names} == {"a2", "a3", "a4", "a5"}
    assert all(len(set(names)) == 2 for names in drawn)
    assert set(near.same_subject("a0", 9, 1, exclude=["a1", "b"])) == {"a2", "a3", "a4", "a5"}
    assert near.same_subject("b", 3, 1) == ()
    assert near.same_subject("n1", 3, 1) == ("n2",)
