"""Whether two samples are made of the same kinds."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from findback.measure.shares import compare_shares, judge_shares


def one_hot(*counts: int) -> list[list[float]]:
    """So many cases of each kind."""
    return [[float(at == kind) for at in range(len(counts))] for kind, count in enumerate(counts) for _ in range(count)]


def test_the_figure_is_pearsons() -> None:
    """With one kind a case the chance comes close to that of the chi-square test of the same table."""
    found = compare_shares(one_hot(30, 20, 10), one_hot(45, 40, 40), permutations=20_000)
    expected = chi2_contingency([[30, 20, 10], [45, 40, 40]], correction=False).pvalue
    assert found.p == pytest.approx(expected, abs=0.01)
    assert [round(one.difference, 3) for one in found.kinds] == [0.14, 0.013, -0.153]


def test_samples_of_one_kind_of_question_are_rarely_called_apart() -> None:
    """Halves of the same mix are apart in about one of twenty, whatever the mix."""
    rng = np.random.default_rng(1)
    apart = 0
    for seed in range(300):
        drawn = rng.choice(5, size=90, p=[0.6, 0.2, 0.1, 0.07, 0.03])
        rows = np.eye(5)[drawn]
        found = compare_shares(rows[:30], rows[30:], permutations=200, seed=seed)
        apart += judge_shares(found, found.p) == "apart"
    assert apart / 300 <= 0.08


def test_a_thread_counts_once() -> None:
    """Forty questions of one thread about a new thing are one cluster, and no sign of a new kind of question."""
    thread = one_hot(0, 40)
    rest = one_hot(20, 0)
    counted = compare_shares(rest + thread, one_hot(60, 2), permutations=500)
    assert judge_shares(counted, counted.p) == "apart"
    clusters = [*range(20), *(["t"] * 40)]
    once = compare_shares(rest + thread, one_hot(60, 2), clusters, permutations=500)
    assert (once.first, once.second) == (21, 62)
    assert judge_shares(once, once.p) != "apart"
    assert once.kinds[1].first == pytest.approx(1 / 21)


def test_the_kind_that_is_new_is_named() -> None:
    """Of four kinds the one that only the first sample holds has its own small chance; the others have none."""
    found = compare_shares(one_hot(20, 20, 20, 25), one_hot(30, 30, 30, 1))
    assert [one.p <= 0.05 for one in found.kinds] == [False, False, False, True]
    assert found.kinds[3].low > 0


def test_alike_needs_enough_cases() -> None:
    """The same mix is alike with 400 cases a side; with 12 nobody can tell, with 5 there is no test."""
    many = compare_shares(one_hot(200, 200), one_hot(198, 202))
    assert judge_shares(many, many.p) == "alike"
    few = compare_shares(one_hot(6, 6), one_hot(7, 5))
    assert judge_shares(few, few.p) == "cannot tell"
    none = compare_shares(one_hot(3, 2), one_hot(200, 200))
    assert (none.p, none.reason) == (None, "too few: 5 clusters on one side, 8 needed")
    assert judge_shares(none, none.p) == "cannot tell"


def test_figures_are_compared_like_shares() -> None:
    """One column of a figure in [0, 1] gives the difference of its means, by cluster."""
    found = compare_shares([[0.2]] * 30 + [[0.4]] * 30, [[0.6]] * 30 + [[0.8]] * 30)
    assert found.kinds[0].difference == pytest.approx(-0.4)
    assert found.p is not None
    assert found.p < 0.01


def test_what_does_not_vary_is_alike() -> None:
    """Where everything is of one kind, 20 and 30 leave .139 open, by hand 1 - .05 ** (1 / 20); 9 leave too much."""
    same = compare_shares(one_hot(20), one_hot(30))
    assert (same.p, judge_shares(same, same.p)) == (1.0, "alike")
    assert same.widest == pytest.approx(0.139, abs=0.001)
    few = compare_shares(one_hot(9), one_hot(30))
    assert judge_shares(few, few.p) == "cannot tell"


def test_a_side_without_cases_is_no_test() -> None:
    """An empty side, and unlike widths, are told."""
    assert compare_shares([], one_hot(30)).reason == "too few: 0 clusters on one side, 8 needed"
    with pytest.raises(ValueError, match="3 kinds"):
        compare_shares(one_hot(9, 9, 9), one_hot(9, 9))
