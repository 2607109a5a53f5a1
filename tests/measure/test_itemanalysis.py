"""Cases, golds and documents that look wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from findback.measure.contrasts import take_sample
from findback.measure.itemanalysis import find_heavy_golds, find_second_golds, rank_popular, rate_items


def test_cases_everybody_or_nobody_solves_are_listed() -> None:
    """A score above 0 is a solution; one system that misses is not everybody."""
    items = rate_items(take_sample([[1.0, 0.1], [0.0, 0.0], [1.0, 0.0]]))
    assert (items.everybody, items.nobody) == ((0,), (1,))
    assert (items.against, items.by_chance, items.reason) == ((), None, "fewer than 5 systems")


def make_exam(cases: int = 60, systems: int = 10) -> np.ndarray:
    """Hits of systems from weak to strong: the stronger, the more cases it solves."""
    rng = np.random.default_rng(1)
    return (rng.random((cases, systems)) < np.linspace(0.1, 0.9, systems)).astype(float)


def test_a_case_that_only_weak_systems_solve_stands_out() -> None:
    """Solved by the five weakest of ten and missed by the rest, it comes first, with an interval below 0."""
    table = make_exam()
    table[17] = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    items = rate_items(take_sample(table))
    worst = items.against[0]
    assert worst.row == 17
    assert worst.low < worst.correlation < worst.high < 0
    assert items.rated == int((np.ptp(table, axis=1) > 0).sum())


def test_correlation_and_interval_are_scipys() -> None:
    """The correlation is with the mean on the other clusters, its interval Fisher's."""
    table = make_exam()
    table[5] = table[6] = np.arange(10, 0, -1) / 10
    clusters = [min(row, 5) if row == 6 else row for row in range(60)]
    items = rate_items(take_sample(table, clusters), level=0.9)
    found = next(item for item in items.against if item.row == 5)
    others = np.delete(table, [5, 6], axis=0).mean(axis=0)
    oracle = stats.pearsonr(table[5], others)
    ends = oracle.confidence_interval(0.9)
    assert found.correlation == pytest.approx(float(oracle.statistic))
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))


def test_chance_is_said_beside_it() -> None:
    """Where hits are drawn at random about as many cases stand out as chance would have it, 2.5 % or fewer."""
    table = (np.random.default_rng(2).random((400, 12)) < 0.5).astype(float)
    items = rate_items(take_sample(table))
    assert 2 <= items.by_chance <= 0.03 * 400
    assert abs(len(items.against) - items.by_chance) <= 12
    assert rate_items(take_sample(table)) == items


def test_one_cluster_has_no_others() -> None:
    """Cases of one root cannot be compared with other cases."""
    items = rate_items(take_sample(make_exam(4), ["a"] * 4))
    assert items.reason == "no other cases to compare a case with"


def test_a_document_that_answers_too_much_is_named() -> None:
    """Eight of 48 clusters for one of 41 documents are suspicious; eight paraphrases of one root are not."""
    golds = [["faq"]] * 8 + [[f"page-{number}"] for number in range(40)]
    (heavy,) = find_heavy_golds(golds, np.arange(48))
    assert (heavy.document, heavy.clusters, heavy.expected) == ("faq", 8, pytest.approx(48 / 41))
    assert find_heavy_golds(golds, np.array([0] * 8 + list(range(1, 41)))) == ()
    assert find_heavy_golds([[], []], np.arange(2)) == ()


def test_suspicion_follows_poisson() -> None:
    """The bar is where scipy's Poisson tail, times the documents, falls below .05."""
    golds = [[f"page-{number % 20}"] for number in range(40)]
    bar = next(count for count in range(1, 40) if 20 * stats.poisson.sf(count - 1, (38 + count) / 20) < 0.05)
    for count, named in ((bar, 1), (bar - 1, 0)):
        changed = [*golds[1:20], *golds[21:], *[["page-0"]] * count]
        assert len(find_heavy_golds(changed, np.arange(len(changed)))) == named


def test_an_even_spread_is_not_suspicious() -> None:
    """Ten clusters for each of five documents are many, and even."""
    assert find_heavy_golds([[f"page-{number % 5}"] for number in range(50)], np.arange(50)) == ()


def test_an_unjudged_document_that_several_rank_first_is_named() -> None:
    """Three of four systems put it first; what was judged not to answer is no news, nor is what one system finds."""
    firsts = [["new", "new", "gold", "new"], ["bad", "bad", "x", None], ["y", "y", "z", "z"]]
    found = find_second_golds(firsts, [{"gold"}, {"bad", "gold"}, set()])
    assert [(one.row, one.document, one.systems) for one in found] == [
        (0, "new", (0, 1, 3)),
        (2, "y", (0, 1)),
        (2, "z", (2, 3)),
    ]
    assert [one.document for one in find_second_golds(firsts, [set()] * 3, several=3)] == ["new"]


names = st.lists(st.sets(st.sampled_from("abcdef"), max_size=3), min_size=1, max_size=12)


@settings(max_examples=80, deadline=None)
@given(names, st.integers(1, 4), st.integers(1, 4))
def test_popular_documents_are_those_of_other_clusters(golds: list[set[str]], roots: int, depth: int) -> None:
    """For each case: every document counted by the other clusters it answers, most first, ties by name."""
    clusters = np.arange(len(golds)) % roots
    for row, ranked in enumerate(rank_popular(golds, clusters, depth)):
        counts: dict[str, set[int]] = {}
        for other, documents in enumerate(golds):
            for document in documents:
                if clusters[other] != clusters[row]:
                    counts.setdefault(document, set()).add(int(clusters[other]))
        wanted = sorted(counts, key=lambda document: (-len(counts[document]), document))
        assert ranked == tuple(wanted[:depth])
