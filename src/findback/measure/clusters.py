"""Which cases are independent of each other: clusters, and clusters joined by shared gold documents."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.int64]
Sizes: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = Sequence[float | None] | Floats
Golds: TypeAlias = Sequence[Hashable | Collection[Hashable]]

_SEVERAL = (list, tuple, set, frozenset)

FEWEST_CLUSTERS = 8
"""Below this many clusters no interval is given: the spread itself is not known."""
BOOTSTRAP_CLUSTERS = 50
"""From this many clusters the bootstrap is used; below it, t."""


@dataclass(frozen=True, slots=True)
class Units:
    """Sums over independent units, one column a figure; a figure is the sum of `sums` over that of `counts`.

    Where each unit is a cluster, `sums` are cluster means and `counts` ones; where units are gold groups,
    both are added up over the clusters of the group. A unit without a value in a column has zeros there.
    """

    sums: Floats
    """Shape (units, columns)."""
    counts: Floats
    """Shape (units, columns)."""

    def means(self) -> Floats:
        """Return the figure of each column; NaN where no unit has a value."""
        return ratio(self.sums.sum(axis=0), self.counts.sum(axis=0))

    def present(self) -> Codes:
        """Return how many units have a value, column by column."""
        return np.asarray(np.count_nonzero(self.counts, axis=0), dtype=np.int64)

    def influence(self) -> Floats:
        """Return what leaving a unit out would take from the figure, in its unit; shape (units, columns).

        NaN where one unit holds all there is.
        """
        means = self.means()
        return ratio(self.sums - self.counts * means, self.counts.sum(axis=0) - self.counts)

    def variances(self) -> Floats:
        """Return the jackknife variance of each column's figure: (U - 1) / U times the squared influences.

        With one count a unit this is the sample variance over the number of units. Large units are not
        favoured, as they are where residuals are summed without their leverage.

        Returns:
            Variances of the mean, 0 or more; NaN below two units.

        Source:
            Bell and McCaffrey 2002 (CR3); MacKinnon, Nielsen and Webb 2023 recommend it for few or uneven
            clusters.

        >>> Units(np.array([[0.0], [1.0], [1.0], [0.0]]), np.ones((4, 1))).variances().round(4).tolist()
        [0.0833]
        """
        units = self.present()
        squares = np.square(self.influence()).sum(axis=0)
        return np.where(units >= 2, squares * (units - 1) / np.maximum(units, 1), np.nan)

    def column(self, index: int) -> "Units":
        """Return one column, without the units that have no value there."""
        kept = self.counts[:, index] > 0
        return Units(self.sums[kept, index : index + 1], self.counts[kept, index : index + 1])


def ratio(above: Floats, below: Floats) -> Floats:
    """Return above / below, NaN where below is 0.

    >>> ratio(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    shape = np.broadcast_shapes(above.shape, below.shape)
    quotient = np.full(shape, np.nan)
    np.divide(above, below, out=quotient, where=np.broadcast_to(below, shape) != 0)
    return quotient


def as_column(values: Values) -> Floats:
    """Return the values as floats, undefined ones (None, NaN) as NaN.

    Raises:
        ValueError: If a value is infinite or there is more than one dimension.

    >>> as_column([1, None, 0.5]).tolist()
    [1.0, nan, 0.5]
    """
    column = np.array(values, dtype=np.float64)
    if column.ndim != 1:
        raise ValueError(f"one value a case is needed, got an array of shape {column.shape}")
    return _finite(column)


def as_matrix(values: Floats | Sequence[Values]) -> Floats:
    """Return a table of values, cases down and figures across, undefined ones as NaN.

    Raises:
        ValueError: If a value is infinite or the table has not two dimensions.
    """
    matrix = np.array(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"a table of cases and figures is needed, got an array of shape {matrix.shape}")
    return _finite(matrix)


def code_clusters(clusters: Sequence[Hashable] | Codes | None, cases: int) -> Codes:
    """Number the clusters 0, 1, … in the order they appear; a case whose cluster is None is its own.

    Raises:
        ValueError: If there is not one cluster a case.

    >>> code_clusters(["b", None, "b", None], 4).tolist()
    [0, 1, 0, 2]
    """
    if clusters is None:
        return np.arange(cases, dtype=np.int64)
    if len(clusters) != cases:
        raise ValueError(f"{len(clusters)} clusters were given for {cases} cases")
    names = clusters.tolist() if isinstance(clusters, np.ndarray) else clusters
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(object() if name is None else name, len(seen)) for name in names], dtype=np.int64)


def average_clusters(matrix: Floats, codes: Codes) -> Units:
    """Return the mean of each cluster's defined values, so that each cluster counts once.

    Shape:
        `matrix` is (cases, columns), `codes` (cases,) as from `code_clusters`.

    >>> units = average_clusters(np.array([[1.0], [0.0], [0.0], [np.nan]]), np.array([0, 0, 1, 2]))
    >>> units.sums.ravel().tolist(), units.counts.ravel().tolist()
    ([0.5, 0.0, 0.0], [1.0, 1.0, 0.0])
    """
    defined = ~np.isnan(matrix)
    sums = sum_groups(np.where(defined, matrix, 0.0), codes)
    sizes = sum_groups(defined.astype(np.float64), codes)
    return Units(np.nan_to_num(ratio(sums, sizes)), (sizes > 0).astype(np.float64))


def sum_groups(matrix: Floats, codes: Codes) -> Floats:
    """Add up the rows that share a code; shape (codes, columns)."""
    groups = int(codes.max()) + 1 if codes.size else 0
    columns = [np.bincount(codes, weights=matrix[:, j], minlength=groups) for j in range(matrix.shape[1])]
    return np.stack(columns, axis=1) if columns else np.zeros((groups, 0))


def join_by_gold(codes: Codes, golds: Golds) -> Codes:
    """Return each cluster's gold group: clusters that share a gold document, directly or through others.

    A group is a connected part of "has a gold in common": a case with several golds joins what hangs on any
    of them, and a cluster is never split. A case without gold (None or empty) joins nothing. Groups may be
    larger than the dependence behind them, so the interval errs on the wide side.

    Shape:
        `codes` and `golds` have one entry a case; the result one a cluster. An entry of `golds` is one gold
        or a list, tuple or set of them.

    Raises:
        ValueError: If there is not one entry of golds a case.

    >>> join_by_gold(np.array([0, 1, 2, 3]), ["a", ("a", "b"), {"b"}, ()]).tolist()
    [0, 0, 0, 1]
    """
    if len(golds) != len(codes):
        raise ValueError(f"{len(golds)} entries of golds were given for {len(codes)} cases")
    parents = list(range(int(codes.max()) + 1 if codes.size else 0))
    if len(parents) == len(codes) and not any(isinstance(gold, _SEVERAL) for gold in golds):
        # One case a cluster and one gold a case: what shares it is the group.
        return code_clusters(cast("Sequence[Hashable]", golds), len(codes))

    def find(cluster: int) -> int:
        while parents[cluster] != cluster:
            parents[cluster] = parents[parents[cluster]]
            cluster = parents[cluster]
        return cluster

    first: dict[Hashable, int] = {}
    for cluster, gold in zip(codes.tolist(), golds, strict=True):
        for name in _list_golds(gold):
            here, there = find(cluster), find(first.setdefault(name, cluster))
            parents[max(here, there)] = min(here, there)
    return code_clusters([find(cluster) for cluster in range(len(parents))], len(parents))


class Alike(NamedTuple):
    """Groups of units that are alike in every column."""

    unit: Units
    """One unit of each group."""
    sizes: Sizes
    """Units in each group, rising; powers of two, so that there are few different ones."""


def group_alike(units: Units) -> Alike:
    """Group the units that are alike in every column; six of them make a group of two and one of four.

    >>> group_alike(Units(np.array([[0.5], [1.0], [0.5], [0.5]]), np.ones((4, 1)))).sizes.tolist()
    [1, 1, 2]
    """
    rows = np.hstack([units.sums, units.counts])
    order = np.lexsort(rows.T)
    starts = np.flatnonzero((np.diff(rows[order], axis=0, prepend=np.nan) != 0).any(axis=1))
    alike = np.diff(starts, append=len(rows))
    power, group = np.nonzero(alike >> np.arange(int(alike.max()).bit_length())[:, None] & 1)
    first = order[starts][group]
    return Alike(Units(units.sums[first], units.counts[first]), np.left_shift(1, power))


def _list_golds(gold: Hashable | Collection[Hashable]) -> Collection[Hashable]:
    if gold is None:
        return ()
    return gold if isinstance(gold, _SEVERAL) else (gold,)


def merge_units(units: Units, groups: Codes) -> Units:
    """Add units up into larger ones; the figures stay the same, their variance does not."""
    return Units(sum_groups(units.sums, groups), sum_groups(units.counts, groups))


def _finite(values: Floats) -> Floats:
    if np.isinf(values).any():
        raise ValueError("a value is infinite")
    return values
