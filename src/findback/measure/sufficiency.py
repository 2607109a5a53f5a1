"""How many more labels make a share known well enough."""

from collections.abc import Hashable, Sequence
from math import sqrt

import numpy as np

from findback.measure.clusters import FEWEST_CLUSTERS, Values, as_column, average_clusters, code_clusters
from findback.measure.intervals import exact_interval, t_quantile, too_few
from findback.model.assisted import LabelsWanted

WITHIN = 0.05
MOST_TRIED = 20_000
"""Clusters at which the search gives up: a share known to ± .01 takes half as many."""
SAME = 1e-12


def count_labels_wanted(
    values: Values, clusters: Sequence[Hashable] | None = None, *, within: float = WITHIN, level: float = 0.95
) -> LabelsWanted:
    """Return how many more clusters make both ends of a share's interval lie within so much of it.

    It assumes that further labels are like those there are: the same share, the same spread between clusters, and
    drawn the same way. Where every cluster holds one hit or miss, or all are at the same end of the range, the
    exact interval (Clopper-Pearson) is tried for growing n; else t on cluster means.

    Args:
        values: Shares in [0, 1], one a label; None is left out.
        clusters: One a label, such as the candidate a document was graded for; each its own when left out.
        within: Most distance between the share and an end, in (0, 1).
        level: Confidence level, in (0, 1).

    Returns:
        0 where it is known that well already; None below 8 clusters, where the spread means nothing.

    Raises:
        ValueError: If lengths differ.

    >>> count_labels_wanted([1.0] * 20).more, count_labels_wanted([1.0] * 5).reason
    (52, 'too few: 5 clusters, 8 needed')
    """
    column = as_column(values)
    units = average_clusters(column[:, None], code_clusters(clusters, len(column)))
    means = units.sums[units.counts > 0]
    there = len(means)
    if there < FEWEST_CLUSTERS:
        return LabelsWanted(more=None, within=within, reason=too_few(there, "clusters"))
    share, spread = float(means.mean()), float(means.std(ddof=1))
    single = there == int((~np.isnan(column)).sum()) and set(means.tolist()) <= {0.0, 1.0}
    exact = single or share in (0.0, 1.0)
    if not exact and spread < SAME:
        return LabelsWanted(more=None, within=within, reason="every cluster has the same share: no interval")
    for wanted in range(there, MOST_TRIED):
        if _reach(share, spread, wanted, level, exact=exact) <= within:
            return LabelsWanted(more=wanted - there, within=within)
    return LabelsWanted(more=None, within=within, reason=f"more than {MOST_TRIED:,} clusters would be needed")


def _reach(share: float, spread: float, clusters: int, level: float, *, exact: bool) -> float:
    """Return how far the farther end of the interval would lie from the share."""
    if not exact:
        return t_quantile(level, clusters - 1) * spread / sqrt(clusters)
    low, high = exact_interval(round(share * clusters), clusters, level=level)
    return max(share - low, high - share)
