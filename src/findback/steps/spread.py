"""How far the best and the worst of several retrievers are apart."""

from collections.abc import Sequence

from findback.measure.gap import measure_spread
from findback.model.estimate import Estimate
from findback.steps.makeup import cluster_of
from findback.steps.scores import Scored


def spread_of(scored: Sequence[Scored], metric: str) -> Estimate | None:
    """Return the best retriever's mean minus the worst one's, over the questions that all of them were asked.

    Returns:
        In the metric's unit, 0 or more; None with fewer than two retrievers, or when a search failed.
    """
    if len(scored) < 2 or any(one.scores.failed.any() for one in scored):
        return None
    shared = set(scored[0].answerable_rows).intersection(*(one.answerable_rows for one in scored[1:]))
    rows = sorted(shared)
    if not rows:
        return Estimate(value=None, reason="no question was asked of all retrievers")
    matrix = [[float(one.scores[metric].values[row]) for one in scored] for row in rows]
    clusters = [cluster_of(scored[0].labelled.questions[row]) for row in rows]
    spread = measure_spread(matrix, clusters, seed=scored[0].seed)
    return Estimate(
        value=spread.value,
        low=spread.low,
        high=spread.high,
        level=spread.level,
        n=spread.n,
        clusters=spread.clusters,
        method="none" if spread.low is None else "bootstrap",
        seed=spread.seed,
        left_out=int(scored[0].scores.answerable.sum()) - len(rows),
        reason=spread.reason,
    )
