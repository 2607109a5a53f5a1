"""Normalised discounted cumulative gain."""

import numpy as np
from numpy.typing import NDArray

from findback.measure.metrics.name import Metric
from findback.measure.ranks import Int64s, Placed
from findback.measure.ties import expect_discount


def _gains(grade: Int64s, metric: Metric) -> NDArray[np.float64]:
    linear = np.maximum(grade, 0).astype(np.float64)
    return np.exp2(linear) - 1 if metric.dcg == "exp-log2" else linear


def score_ndcg(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return the discounted gain over that of the ideal order; 0 where nothing has a gain.

    The ideal comes from the judgements, whether or not their documents were returned.

    Source:
        Järvelin and Kekäläinen (2002), with the discount 1 / log2(rank + 1) of trec_eval; exponential
        gain as in Burges et al. (2005).
    """
    gain = _gains(placed.grade, metric)
    found = np.flatnonzero((gain > 0) & (placed.above >= 0))
    discount = expect_discount(placed.above[found], placed.tied[found], metric.cutoff)
    reached = placed.total(placed.query[found], gain[found] * discount)
    ideal = _ideal(placed, gain, metric.cutoff)
    return np.divide(reached, ideal, out=np.zeros(placed.questions), where=ideal > 0)


def _ideal(placed: Placed, gain: NDArray[np.float64], cutoff: int | None) -> NDArray[np.float64]:
    kept = np.flatnonzero(gain > 0)
    order = kept[np.lexsort((-gain[kept], placed.query[kept]))]
    query = placed.query[order]
    above = np.arange(len(order)) - np.searchsorted(query, query)
    return placed.total(query, gain[order] * expect_discount(above, np.ones_like(above), cutoff))
