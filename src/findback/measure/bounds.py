"""What a mean can be when some cases failed with an error."""

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from findback.measure.bootstrap import DEFAULT_SEED
from findback.measure.clusters import Codes, Golds, Values, as_column
from findback.measure.intervals import estimate_mean, estimate_means
from findback.model.estimate import Estimate
from findback.model.record import Record


class ErrorBounds(Record):
    """A mean with its failed cases counted as all misses, and as all hits."""

    worst: Estimate
    """Every failed case counts as the worst value."""
    best: Estimate
    """Every failed case counts as the best value."""
    answered: Estimate
    """Only the cases that did not fail; a fair mean only if failing has nothing to do with the score."""
    errors: int
    """Cases that failed."""

    @property
    def exact(self) -> bool:
        """Whether no case failed, so that all three figures are one."""
        return self.errors == 0


def bound_errors(
    values: Values,
    failed: Sequence[bool] | npt.NDArray[np.bool_],
    clusters: Sequence[Hashable] | Codes | None = None,
    golds: Golds | None = None,
    *,
    worst: float = 0.0,
    best: float = 1.0,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
) -> ErrorBounds:
    """Return the mean as bounds over what the failed cases could have scored.

    The true mean without errors lies between the two values. Its interval reaches from the worst's low to
    the best's high.

    Args:
        values: One a case; what stands at a failed case is ignored, None elsewhere is left out.
        failed: Whether the case ended in an error.
        clusters: One a case; each case its own when left out.
        golds: As for `estimate_mean`.
        worst: Value of a miss.
        best: Value of a perfect answer.
        level: Confidence level, in (0, 1).
        seed: Of the bootstrap.

    Raises:
        ValueError: If lengths differ or a value lies outside worst … best.

    Source:
        Manski 1990 (worst-case bounds); Horowitz and Manski 2000 for the outer interval.

    >>> found = bound_errors([1.0, 0.0, None, 1.0], [False, False, True, False])
    >>> found.worst.value, found.best.value, found.errors
    (0.5, 0.75, 1)
    """
    column, broken = as_column(values), np.asarray(failed, dtype=np.bool_)
    if len(column) != len(broken):
        raise ValueError(f"{len(broken)} marks of failure were given for {len(column)} cases")
    limits = (min(worst, best), max(worst, best))
    filled = np.stack([np.where(broken, end, column) for end in (worst, best)], axis=1)
    low, high = estimate_means(filled, clusters, golds, level=level, seed=seed, bounds=limits)
    rest = np.where(broken, np.nan, column)
    return ErrorBounds(
        worst=low,
        best=high,
        answered=estimate_mean(rest, clusters, golds, level=level, seed=seed, bounds=limits),
        errors=int(broken.sum()),
    )
