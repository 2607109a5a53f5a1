"""Average precision."""

import numpy as np
from numpy.typing import NDArray

from findback.measure.metrics.name import Metric
from findback.measure.ranks import Placed
from findback.measure.ties import expect_precision


def score_average(placed: Placed, metric: Metric) -> NDArray[np.float64]:
    """Return the mean, over all right documents, of the precision at their ranks; unreached ones give 0.

    A cut-off drops what stands beyond it and leaves the divisor alone, as trec_eval's map_cut does.
    """
    query, above, tied = placed.relevant(metric.rel)
    # Rows stand by question, then by place: blocks are stretches.
    key = query * (int(above.max(initial=0)) + 1) + above
    earlier = np.searchsorted(key, key, side="left") - np.searchsorted(query, query, side="left")
    count = np.searchsorted(key, key, side="right") - np.searchsorted(key, key, side="left")
    reached = placed.total(query, expect_precision(above, tied, earlier, count, metric.cutoff))
    return reached / np.maximum(placed.golds(metric.rel), 1)
