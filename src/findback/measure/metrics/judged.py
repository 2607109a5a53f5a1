"""How much of what was returned has been judged."""

import numpy as np
from numpy.typing import NDArray

from findback.measure.metrics.name import Metric
from findback.measure.ranks import Placed
from findback.measure.ties import chance_within


def score_judged(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return the share of the first k results that are judged, of those returned where they are fewer.

    Returns:
        Values in [0, 1]; 0 where nothing was returned.

    Source:
        ir_measures, which takes it from OpenNIR.
    """
    found = placed.above >= 0
    cutoff = metric.cutoff or 0
    within = chance_within(placed.above[found], placed.tied[found], cutoff)
    return placed.total(placed.query[found], within) / np.maximum(np.minimum(placed.returned, cutoff), 1)
