"""How far the best and the worst of several retrievers are apart."""

from collections.abc import Sequence

from findback.measure.gap import measure_spread
from findback.model.estimate import Estimate


def spread_estimate(columns: Sequence[Sequence[float]], clusters: Sequence[str], *, seed: int) -> Estimate:
    """Return the spread of several retrievers' scores on the same questions, as an estimate.

    Shape:
        `columns` holds one sequence a retriever, each with one value a question.
    """
    rows = [list(row) for row in zip(*columns, strict=True)]
    spread = measure_spread(rows, clusters, seed=seed)
    return Estimate(
        value=spread.value,
        low=spread.low,
        high=spread.high,
        level=spread.level,
        n=spread.n,
        clusters=spread.clusters,
        method="none" if spread.low is None else "bootstrap",
        seed=spread.seed,
        reason=spread.reason,
    )
