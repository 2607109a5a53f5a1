"""Clusters and gold groups."""

import numpy as np
import pytest

from findback.measure.clusters import (
    Units,
    as_column,
    as_matrix,
    average_clusters,
    code_clusters,
    group_alike,
    join_by_gold,
    merge_units,
)


def test_clusters_are_numbered_as_they_appear() -> None:
    """Names of any kind become 0, 1, … in order of appearance, and no names means one a case."""
    assert code_clusters(["x", 7, "x"], 3).tolist() == [0, 1, 0]
    assert code_clusters(np.array([9, 9, 2]), 3).tolist() == [0, 0, 1]
    assert code_clusters(None, 3).tolist() == code_clusters([None] * 3, 3).tolist() == [0, 1, 2]


def test_lengths_must_agree() -> None:
    """Clusters or golds for another number of cases are refused."""
    with pytest.raises(ValueError, match="2 clusters were given for 3 cases"):
        code_clusters([1, 2], 3)
    with pytest.raises(ValueError, match="1 entries of golds were given for 2 cases"):
        join_by_gold(np.array([0, 1]), ["a"])


def test_infinities_and_wrong_shapes_are_refused() -> None:
    """An infinite value, a table given as a column and a column given as a table are errors."""
    with pytest.raises(ValueError, match="infinite"):
        as_column([1.0, float("inf")])
    with pytest.raises(ValueError, match="one value a case"):
        as_column(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="table"):
        as_matrix(np.zeros(2))


def test_a_cluster_counts_once() -> None:
    """A cluster of three misses weighs as much as a cluster of one hit."""
    units = average_clusters(np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([0, 0, 0, 1]))
    assert units.means().tolist() == [0.5]


def test_undefined_cases_leave_the_cluster_mean() -> None:
    """The mean of a cluster is over its defined cases; a cluster without any is absent."""
    units = average_clusters(np.array([[1.0], [np.nan], [np.nan]]), np.array([0, 0, 1]))
    assert units.means().tolist() == [1.0]
    assert units.present().tolist() == [1]


def test_golds_join_through_others() -> None:
    """a-b and b-c and c put four clusters into one group; a case without gold stands alone."""
    groups = join_by_gold(np.arange(6), [["a"], ["a", "b"], {"b", "c"}, "c", (), None])
    assert groups.tolist() == [0, 0, 0, 0, 1, 2]


def test_a_cluster_is_never_split() -> None:
    """Two golds of one cluster's cases join whatever hangs on either."""
    assert join_by_gold(np.array([0, 0, 1, 2]), ["a", "b", "b", "a"]).tolist() == [0, 0, 0]


def test_jackknife_variance_of_singletons_is_the_textbook_one() -> None:
    """With one count a unit the variance is s² / n."""
    values = np.array([0.1, 0.4, 0.4, 0.9, 0.2])
    units = Units(values[:, None], np.ones((5, 1)))
    assert units.variances()[0] == pytest.approx(values.var(ddof=1) / 5)


def test_jackknife_variance_of_uneven_groups_is_by_leaving_out() -> None:
    """Groups of 2, 1 and 1: the variance is 2/3 of the squared changes, counted by hand."""
    units = merge_units(Units(np.array([[1.0], [1.0], [0.0], [0.0]]), np.ones((4, 1))), np.array([0, 0, 1, 2]))
    # Leaving out moves .5 to 0, 2/3 and 2/3.
    assert units.variances()[0] == pytest.approx(2 / 3 * (0.25 + 2 / 36))


def test_one_unit_has_no_variance() -> None:
    """The spread of a single unit is undefined, not zero."""
    assert np.isnan(Units(np.ones((1, 1)), np.ones((1, 1))).variances()[0])


def test_one_gold_a_case_joins_like_several_would() -> None:
    """Where each case is a cluster with one gold, the groups are those the general way finds; None joins nothing."""
    golds = ["b", None, "a", "b", None, "a", "c"]
    codes = np.arange(len(golds))
    assert join_by_gold(codes, golds).tolist() == [0, 1, 2, 0, 3, 2, 4]
    listed = [() if gold is None else (gold,) for gold in golds]
    assert join_by_gold(codes, listed).tolist() == [0, 1, 2, 0, 3, 2, 4]


def test_alike_units_are_grouped_without_loss() -> None:
    """Groups are of alike units, their sizes add up value by value, and each is a power of two."""
    values = np.array([0.5] * 6 + [1.0] * 3 + [0.0])[:, None]
    counts = np.array([1.0] * 9 + [2.0])[:, None]
    unit, sizes = group_alike(Units(values, counts))
    found = sorted(zip(unit.sums[:, 0].tolist(), unit.counts[:, 0].tolist(), sizes.tolist(), strict=True))
    assert found == [(0.0, 2.0, 1), (0.5, 1.0, 2), (0.5, 1.0, 4), (1.0, 1.0, 1), (1.0, 1.0, 2)]
    assert sizes.tolist() == sorted(sizes.tolist())
