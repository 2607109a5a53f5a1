"""Shingles: equal pieces have equal hashes, whatever surrounds them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from findback.text.shingles import containment, shingle_hashes, word_shingles


@given(st.text(alphabet="abc é返", max_size=60), st.integers(1, 6))
def test_hashes_stand_for_distinct_runs(text: str, size: int) -> None:
    """There are as many hashes as distinct runs of characters."""
    folded = " ".join(text.casefold().split())
    runs = {folded[at : at + size] for at in range(max(len(folded) - size + 1, 1 if folded else 0))}
    assert len(shingle_hashes(text, size)) == len(runs)


@given(st.text(alphabet="abcd", min_size=8, max_size=40), st.text(alphabet="abcd", max_size=20))
def test_a_part_shares_all_its_hashes(text: str, more: str) -> None:
    """A text's hashes are among those of a longer text that holds it."""
    assert np.isin(shingle_hashes(text, 5), shingle_hashes(text + more, 5)).all()


def test_hashes_never_change() -> None:
    """The hash of a run is the same on every machine, so that stored sketches stay valid."""
    assert shingle_hashes("abc", 3).tolist() == shingle_hashes("  ABC ", 3).tolist()
    assert shingle_hashes("\ud800", 3).shape == (1,)


def test_containment_has_a_direction() -> None:
    """The part's size divides, not the union's."""
    part, text = word_shingles("b c d", 2), word_shingles("a b c d e f", 2)
    assert containment(part, text) == 1.0
    assert containment(text, part) == 0.4
    assert containment(frozenset(), text) is None
    assert word_shingles("only two", 8) == {"only two"}
