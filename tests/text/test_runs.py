"""Runs of words as numbers, and the index that finds who shares some."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from findback.text.runs import MOST_OWNERS, RunIndex, WordHashes
from findback.text.words import words


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.integers(1, 4))
def test_numbers_stand_for_distinct_runs(tokens: list[str], size: int) -> None:
    """There are as many numbers as distinct runs of words, in rising order; a shorter text is one run."""
    text = " ".join(tokens)
    found = WordHashes().hash_runs(text, size)
    size = min(size, len(tokens))
    runs = {tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1)} if tokens else set()
    assert len(found) == len(runs)
    assert np.array_equal(found, np.unique(found))


def test_numbers_never_change() -> None:
    """The number of a word and of a run is the same everywhere, so that what was remembered stays valid."""
    hashes = WordHashes()
    assert hashes["backoff"] == 17449761544715122221
    assert hashes.hash_runs("the job is parked").tolist() == WordHashes().hash_runs("THE job, is parked").tolist()


@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=12), max_size=6),
    st.lists(st.sampled_from("abcde"), max_size=20),
)
def test_shares_are_those_of_comparing_each_with_each(texts: list[list[str]], other: list[str]) -> None:
    """The index says of every text what comparing its set of runs with the other's says."""
    hashes = WordHashes()
    runs = [hashes.hash_runs(" ".join(one)) for one in texts]
    asked = hashes.hash_runs(" ".join(other))
    wanted = {
        at: len(np.intersect1d(one, asked)) / len(one) for at, one in enumerate(runs) if np.isin(one, asked).any()
    }
    assert {one.owner: one.share for one in RunIndex(runs).find_shared(asked)} == wanted


def test_a_run_that_very_many_share_counts_for_nobody() -> None:
    """A sentence of boilerplate in 201 texts tells nothing; what each has of its own does."""
    hashes = WordHashes()
    texts = [f"see also the handbook own{number} words{number} here{number}" for number in range(MOST_OWNERS + 1)]
    index = RunIndex([hashes.hash_runs(text) for text in texts])
    assert index.find_shared(hashes.hash_runs("see also the handbook")) == []
    [found] = index.find_shared(hashes.hash_runs(texts[7]))
    assert (found.owner, found.share) == (7, 1.0)
    assert len(words(texts[7])) == 7
