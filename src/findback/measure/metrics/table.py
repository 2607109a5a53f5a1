"""Which function computes which metric."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.measure.metrics.average import score_average
from findback.measure.metrics.bpref import score_bpref
from findback.measure.metrics.judged import score_judged
from findback.measure.metrics.name import Metric
from findback.measure.metrics.ndcg import score_ndcg
from findback.measure.metrics.parts import best_complete, best_part_recall, score_complete, score_part_recall
from findback.measure.metrics.precision import (
    best_precision,
    best_recall,
    score_precision,
    score_recall,
    score_rprec,
)
from findback.measure.metrics.reciprocal import score_reciprocal
from findback.measure.metrics.success import score_success
from findback.measure.ranks import Placed

Compute = Callable[[Placed, Metric], NDArray[np.float64]]


def best_one(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return 1 for every question: a perfect answer reaches it."""
    return np.ones(placed.questions)


class Computation(NamedTuple):
    """How one metric is computed from places."""

    score: Compute
    """Values per question; meaningless where the question has no right document."""
    best: Compute = best_one
    """The highest value a perfect answer could reach."""


COMPUTATIONS: dict[str, Computation] = {
    "Success": Computation(score_success),
    "P": Computation(score_precision, best_precision),
    "R": Computation(score_recall, best_recall),
    "RR": Computation(score_reciprocal),
    "nDCG": Computation(score_ndcg),
    "AP": Computation(score_average, best_recall),
    "Rprec": Computation(score_rprec),
    "Bpref": Computation(score_bpref),
    "Judged": Computation(score_judged),
    "PartRecall": Computation(score_part_recall, best_part_recall),
    "Complete": Computation(score_complete, best_complete),
}
"""Metrics over documents; those over passages are in `anchors`."""
