"""Near-duplicates are grouped, others are not, and crowds stay cheap."""

import random
import time

import numpy as np
import pytest

from findback.corpus.duplicates import find_duplicates, jaccard_index
from findback.model.document import Document
from findback.text.shingles import shingle_hashes

DRAW = random.Random(7)
WORDS = ["".join(DRAW.choices("abcdefghijklmnop", k=DRAW.randint(4, 9))) for _ in range(3_000)]


def prose(words: int) -> str:
    """Return some random words."""
    return " ".join(DRAW.choices(WORDS, k=words))


def test_a_touched_up_copy_is_a_near_duplicate() -> None:
    """A page with one word changed is grouped with the first; another page is not; the index is exact."""
    page = prose(200)
    copy = page.replace(page.split()[100], "changed", 1)
    found = find_duplicates([Document("b", page), Document("other", prose(200)), Document("a", copy)])
    assert found.groups == {"b": "b", "a": "b"}
    (pair,) = found.pairs
    one, other = set(shingle_hashes(page).tolist()), set(shingle_hashes(copy).tolist())
    assert pair == ("b", "a", pytest.approx(len(one & other) / len(one | other)))


def test_pages_below_the_threshold_stay_apart() -> None:
    """Pages that share half their text are alike, but not at the threshold of .8."""
    shared = prose(100)
    documents = [Document("a", f"{shared} {prose(100)}"), Document("b", f"{shared} {prose(100)}")]
    assert find_duplicates(documents).groups == {}
    assert find_duplicates(documents, threshold=0.25).groups in ({}, {"a": "a", "b": "a"})


def test_texts_without_words_are_no_duplicates() -> None:
    """Empty pages are not near-duplicates of each other; identical short ones are."""
    found = find_duplicates([Document(name, text) for name, text in zip("abcd", ["", " ", "ok", "OK"], strict=True)])
    assert found.groups == {"c": "c", "d": "c"}


def test_planted_copies_are_found() -> None:
    """Of 300 planted copies as alike as .85 or more, every one is found among 600 pages."""
    documents: list[Document] = []
    for number in range(300):
        page = prose(120)
        words = page.split()
        words[60] = "changed"
        documents += [Document(f"{number:03}a", page), Document(f"{number:03}b", " ".join(words))]
    found = find_duplicates(documents)
    assert found.groups == {document.id: f"{document.id[:3]}a" for document in documents}


def test_order_and_seed_decide_nothing() -> None:
    """Groups are the same for another seed, and for another order but for who stands for them."""
    page = prose(200)
    documents = [Document(name, page + " " + name * 3) for name in "abc"] + [Document("z", prose(200))]
    groups = find_duplicates(documents).groups
    assert groups == find_duplicates(documents, seed=1).groups == {"a": "a", "b": "a", "c": "a"}
    assert find_duplicates(documents[::-1]).groups == {"a": "c", "b": "c", "c": "c"}


def test_a_crowd_of_copies_is_linear() -> None:
    """Four times as many copies of one page take about four times as long, not sixteen."""
    page = prose(60)

    def measure(count: int) -> float:
        documents = [Document(str(number), f"{page} {number}") for number in range(count)]
        began = time.process_time()
        assert len(find_duplicates(documents).groups) == count
        return time.process_time() - began

    measure(100)
    assert measure(8_000) < 10 * measure(2_000)


def test_jaccard_index_by_hand() -> None:
    """Two of four is a half, nothing of nothing is 0."""
    one, other = np.array([1, 2, 3], dtype=np.uint64), np.array([2, 3, 4], dtype=np.uint64)
    assert jaccard_index(one, other) == 0.5
    assert jaccard_index(one[:0], other[:0]) == 0.0
