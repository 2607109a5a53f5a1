"""Precision, and recall over every right document."""

import numpy as np
from numpy.typing import NDArray

from findback.measure.metrics.name import Metric
from findback.measure.ranks import Placed
from findback.measure.ties import chance_within


def _count_within(placed: Placed, metric: Metric, cutoff: NDArray[np.int64] | int) -> NDArray[np.float64]:
    query, above, tied = placed.relevant(metric.rel)
    limit = cutoff if isinstance(cutoff, int) else cutoff[query]
    return placed.total(query, chance_within(above, tied, limit))


def score_precision(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return right documents among the first k over k, however few were returned."""
    cutoff = metric.cutoff or 1
    return _count_within(placed, metric, cutoff) / cutoff


def score_recall(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return right documents among the first k over all right documents; 0 where there are none."""
    return _count_within(placed, metric, metric.cutoff or 0) / np.maximum(placed.golds(metric.rel), 1)


def score_rprec(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return the precision at R, R being the number of right documents; 0 where there are none."""
    golds = placed.golds(metric.rel)
    return _count_within(placed, metric, golds) / np.maximum(golds, 1)


def best_precision(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return the highest precision possible: min(R, k) / k."""
    cutoff = metric.cutoff or 1
    return np.minimum(placed.golds(metric.rel), cutoff) / cutoff


def best_recall(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return the highest recall possible within the cut-off: min(R, k) / R."""
    golds = placed.golds(metric.rel)
    reached = golds if metric.cutoff is None else np.minimum(golds, metric.cutoff)
    return reached / np.maximum(golds, 1)
