"""Samples have the index's mix, are the same each time, and say what they left out."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findback.corpus import sampling
from findback.corpus.corpus import Corpus, corpus_of
from findback.corpus.duplicates import Duplicates
from findback.corpus.sampling import apportion, compare_mix, sample_documents
from findback.errors import UsageError
from findback.model.document import Document

NONE = Duplicates({}, ())


def page(name: str, subject: str | None = None, *, words: int = 40) -> Document:
    """Return a page that is fit and like no other."""
    letters = Random(name).choices("abcdefghijklmnopqrstuvwxyz", k=7 * words)
    text = " ".join("".join(letters[at : at + 7]) for at in range(0, len(letters), 7))
    return Document(name, text, subject=subject)


def corpus(counts: dict[str | None, int], *further: Document) -> Corpus:
    """Return a corpus with so many pages of each subject."""
    pages = [page(f"{subject}-{at:03}", subject) for subject, count in counts.items() for at in range(count)]
    return corpus_of([*pages, *further])


def ids(documents: Iterable[Document]) -> list[str]:
    """Return the ids of documents."""
    return [document.id for document in documents]


def test_the_sample_has_the_mix_of_the_index() -> None:
    """Of 50, 30, 15 and 5 pages ten are drawn as 5, 3, 1.5 and .5: largest remainder, one of the equal ones up."""
    found = sample_documents(corpus({"a": 50, "b": 30, "c": 15, None: 5}), 10, seed=1)
    drawn = Counter(document.subject for document in found.drawn)
    assert drawn["a"] == 5
    assert drawn["b"] == 3
    assert (drawn["c"], drawn[None]) in {(2, 0), (1, 1)}
    assert found.distance == pytest.approx(0.05)
    assert [(one.subject, one.index, one.documents) for one in found.mix] == [
        ("a", 0.5, 50),
        ("b", 0.3, 30),
        ("c", 0.15, 15),
        (None, 0.05, 5),
    ]
    assert [one.sample for one in found.mix] == [drawn[one.subject] / 10 for one in found.mix]
    assert found.why_fewer is None


def test_documents_without_a_subject_are_one_stratum() -> None:
    """Half the index has no subject, and so has half the sample."""
    found = sample_documents(corpus({"a": 20, None: 20}), 8, seed=1)
    assert Counter(document.subject for document in found.drawn) == {"a": 4, None: 4}
    assert found.distance == 0


def closest(total: int, weights: list[int], room: list[int]) -> float:
    """Return the smallest total variation that any whole numbers reach."""
    best = 2.0
    for counts in product(*(range(min(total, most) + 1) for most in room)):
        if sum(counts) == total:
            off = sum(abs(n / total - w / sum(weights)) for n, w in zip(counts, weights, strict=True))
            best = min(best, off / 2)
    return best


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 6)), min_size=1, max_size=4),
    st.integers(1, 8),
    st.integers(0, 5),
)
def test_no_whole_numbers_come_closer(strata: list[tuple[int, int]], total: int, seed: int) -> None:
    """The mix is as close as any choice within the room could be, which all choices tried out show."""
    weights = {str(at): weight for at, (weight, _) in enumerate(strata)}
    room = {str(at): min(most, weight) for at, (weight, most) in enumerate(strata)}
    total = min(total, sum(room.values()))
    given_ = apportion(total, weights, room, seed=seed)
    assert sum(given_.values()) == total
    assert all(given_.get(name, 0) <= room[name] for name in room)
    if total:
        drawn = [name for name, count in given_.items() for _ in range(count)]
        _, distance = compare_mix(weights, drawn)
        assert distance == pytest.approx(closest(total, list(weights.values()), list(room.values())))


def test_equal_remainders_are_not_decided_by_the_alphabet() -> None:
    """Of 26 equal subjects, each is drawn by some seed when four documents are asked for."""
    weights = {chr(97 + at): 1 for at in range(26)}
    drawn = {name for seed in range(60) for name, count in apportion(4, weights, weights, seed=seed).items() if count}
    assert drawn == set(weights)


def test_a_subject_that_cannot_give_enough_is_seen() -> None:
    """Where most of a subject are stubs, the others give the rest, and the distance tells."""
    stubs = [Document(f"archive-{at}", "soon", subject="archive") for at in range(48)]
    found = sample_documents(corpus({"archive": 2, "manual": 50}, *stubs), 20, seed=1, duplicates=NONE)
    assert Counter(document.subject for document in found.drawn) == {"manual": 18, "archive": 2}
    assert found.distance == pytest.approx(0.4)
    assert found.skipped_by_reason == {"stub": 48}


def test_near_duplicates_count_once() -> None:
    """Of three copies the first stands for all: in the draw, in the mix, and in what is said about the rest."""
    text = page("x").text
    copies = [Document(f"copy-{at}", text.replace(text.split()[7], f"changed{at}"), subject="b") for at in range(3)]
    found = sample_documents(corpus({"a": 1}, *copies), 4, seed=1)
    assert set(ids(found.drawn)) == {"a-000", "copy-0"}
    assert [tuple(one) for one in found.skipped] == [("copy-1", "near-duplicate"), ("copy-2", "near-duplicate")]
    assert [(one.subject, one.documents) for one in found.mix] == [("a", 1), ("b", 1)]
    assert found.why_fewer == "asked for 4, found 2: there are 4 documents; of these 2 near-duplicate"


def test_the_first_copy_that_is_fit_stands_for_its_group() -> None:
    """Where the first copy is not knowledge or not held, the next one is drawn."""
    copies = corpus_of([Document(name, page("x").text) for name in ("a.md", "b.md", "c.md")])
    assert ids(sample_documents(copies, 1, seed=1, not_knowledge=["a.md"]).drawn) == ["b.md"]
    assert ids(sample_documents(copies, 1, seed=1, held={"c.md"}).drawn) == ["c.md"]


def test_what_is_left_out_takes_its_copies_along() -> None:
    """A document described before is not described again under its copy's name."""
    copies = corpus_of([Document(name, page("x").text) for name in ("a.md", "b.md")] + [page("y")])
    found = sample_documents(copies, 3, seed=1, exclude=["b.md"])
    assert ids(found.drawn) == ["y"]
    assert dict(found.skipped) == {"a.md": "near-duplicate", "b.md": "left out on request"}


def test_only_what_the_retriever_holds_is_drawn_from() -> None:
    """With --from-index, four of a hundred are the index: its mix, its near-duplicates, and 4 % said."""
    everything = corpus({"a": 90, "b": 10})
    held = {"a-000", "a-001", "b-000", "b-001", "gone.md"}
    found = sample_documents(everything, 3, seed=1, held=held)
    assert set(ids(found.drawn)) <= held
    assert len(found.drawn) == 3
    assert (found.held, found.documents, found.indexed) == (4, 100, 0.04)
    assert [(one.subject, one.index) for one in found.mix] == [("a", 0.5), ("b", 0.5)]
    assert sample_documents(everything, 3, seed=1).indexed is None
    fewer = sample_documents(everything, 9, seed=1, held=held)
    assert fewer.why_fewer == "asked for 9, found 4: the retriever holds 4 of 100 documents"


def test_an_empty_index_gives_an_empty_sample() -> None:
    """Where the retriever holds nothing there is no distance, and the reason is said."""
    found = sample_documents(corpus({"a": 3}), 2, seed=1, held=())
    assert (found.drawn, found.reserve, found.mix, found.distance, found.indexed) == ((), (), (), None, 0)
    assert found.why_fewer == "asked for 2, found 0: the retriever holds 0 of 3 documents"


def test_asking_for_none_is_refused() -> None:
    """A sample of nothing is no sample."""
    with pytest.raises(UsageError, match="at least one"):
        sample_documents(corpus({"a": 3}), 0, seed=1)


def test_the_reserve_steps_in_by_subject() -> None:
    """The reserve holds as many of each subject as were drawn; one of the lacking subject steps in, then any."""
    found = sample_documents(corpus({"a": 60, "b": 30, "c": 10}), 10, seed=1, reserve=1)
    assert Counter(document.subject for document in found.reserve) == {"a": 6, "b": 3, "c": 1}
    assert not set(ids(found.drawn)) & set(ids(found.reserve))
    of_b = [document.id for document in found.reserve if document.subject == "b"]
    first = found.substitutes(["b", "c"])
    assert [one.subject for one in first] == ["b", "c"]
    assert first[0].id == of_b[0]
    second = found.substitutes(["b", "c"], used=ids(first))
    assert second[0].id == of_b[1]
    # Nothing of subject c is left: the next of all steps in.
    left = [one.id for one in found.reserve if one.id not in {*ids(first), second[0].id}]
    assert second[1].id == left[0]
    everything = found.substitutes(["c"] * 50)
    assert sorted(ids(everything)) == sorted(ids(found.reserve))


def test_the_reserve_takes_from_others_what_a_subject_lacks() -> None:
    """A subject whose documents are all drawn leaves its place in the reserve to others; zero keeps none."""
    found = sample_documents(corpus({"a": 30, "b": 3}), 11, seed=1, reserve=1)
    assert Counter(document.subject for document in found.drawn) == {"a": 10, "b": 1}
    assert len(found.reserve) == 11
    small = corpus({"a": 3, "b": 30})
    assert len(sample_documents(small, 30, seed=1, reserve=1).reserve) == 3
    assert sample_documents(small, 5, seed=1, reserve=0).reserve == ()


def test_every_beginning_has_about_the_mix() -> None:
    """A run that stops half-way has described half of each subject."""
    found = sample_documents(corpus({"a": 100, "b": 60, "c": 40}), 100, seed=3)
    half = Counter(document.subject for document in found.drawn[:50])
    assert all(abs(half[name] - count) <= 1 for name, count in {"a": 25, "b": 15, "c": 10}.items())


def test_neither_order_nor_other_subjects_change_the_draw() -> None:
    """The same documents in another order, or with another subject beside them, give the same draw of each."""
    pages = [page(f"{subject}-{at:03}", subject) for subject in "ab" for at in range(40)]
    one = sample_documents(corpus_of(pages), 8, seed=5)
    assert one == sample_documents(corpus_of(pages[::-1]), 8, seed=5)
    other = sample_documents(corpus_of([*pages, *(page(f"c-{at}", "c") for at in range(40))]), 12, seed=5)
    assert set(ids(one.drawn)) == {document.id for document in other.drawn if document.subject != "c"}
    assert ids(one.drawn) != ids(sample_documents(corpus_of(pages), 8, seed=6).drawn)


SCRIPT = """
from findback.corpus.corpus import corpus_of
from findback.corpus.neighbours import Neighbours
from findback.corpus.sampling import sample_documents
from findback.model.document import Document
pages = [Document(f"{at:03}", " ".join(f"w{at * n % 97}" for n in range(40)), subject=str(at % 7)) for at in range(200)]
corpus = corpus_of(pages)
found = sample_documents(corpus, 20, seed=11)
near = Neighbours(corpus)
for one in found.drawn:
    print(one.id, near.nearest(one.id, 4), near.same_subject(one.id, 3, 11))
print(found.skipped, [one.id for one in found.reserve], found.mix)
"""


def test_every_process_draws_the_same() -> None:
    """Sample and neighbours are the same whatever order this process' sets have."""
    said = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert said.pop().count(b"\n") == 21


def test_work_grows_with_the_corpus_and_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each document is drawn for a fixed number of times, however many there are."""
    calls = Counter[str]()
    real = sampling._draw

    def counting(seed: int, name: str) -> bytes:
        calls[name] += 1
        return real(seed, name)

    monkeypatch.setattr(sampling, "_draw", counting)
    sample_documents(corpus({"a": 300, "b": 300}), 100, seed=1, duplicates=NONE)
    assert max(count for name, count in calls.items() if len(name) > 1) <= 2
