"""Reciprocal rank."""

import numpy as np
from numpy.typing import NDArray

from findback.measure.metrics.name import Metric
from findback.measure.metrics.success import first_blocks
from findback.measure.ranks import Placed
from findback.measure.ties import expect_reciprocal


def score_reciprocal(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return one over the rank of the first right document, 0 where none is within the cut-off."""
    query, above, tied, count = first_blocks(*placed.relevant(metric.rel))
    return placed.total(query, expect_reciprocal(above, tied, count, metric.cutoff))
