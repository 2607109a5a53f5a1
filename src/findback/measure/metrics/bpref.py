"""Binary preference."""

import numpy as np
from numpy.typing import NDArray

from findback.measure.metrics.name import Metric
from findback.measure.ranks import Placed
from findback.measure.ties import expect_capped


def score_bpref(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return how seldom judged wrong documents stand above right ones, in [0, 1].

    Unjudged documents do not count, neither do those with a grade below 0.

    Source:
        Buckley and Voorhees (2004), as trec_eval computes it: wrong documents above a right one count
        up to R, and the penalty is divided by min(R, N).
    """
    query, above, _ = placed.relevant(metric.rel)
    judged_wrong = (placed.grade >= 0) & (placed.grade < metric.rel)
    wrong = judged_wrong & (placed.above >= 0)
    span = int(placed.above.max(initial=0)) + 2
    wrong_key = placed.query[wrong] * span + placed.above[wrong]
    key = query * span + above
    before = np.searchsorted(wrong_key, key, side="left") - np.searchsorted(wrong_key, query * span)
    beside = np.searchsorted(wrong_key, key, side="right") - np.searchsorted(wrong_key, key, side="left")
    golds = placed.golds(metric.rel)
    wrongs = np.bincount(placed.query[judged_wrong], minlength=placed.questions)
    penalty = expect_capped(before, beside, golds[query]) / np.maximum(np.minimum(golds, wrongs)[query], 1)
    return placed.total(query, 1.0 - penalty) / np.maximum(golds, 1)
