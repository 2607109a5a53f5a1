"""How much of a winner's lead is the luck of having picked the best of many."""

from collections.abc import Iterator

import numpy as np

from findback.measure.bootstrap import CHUNK_VALUES, DEFAULT_SEED
from findback.measure.clusters import FEWEST_CLUSTERS, Floats
from findback.measure.contrasts import RESAMPLES, Sample, estimate_contrasts, weigh_pairs
from findback.measure.intervals import too_few
from findback.model.record import Record

DRAWS = 1_000
"""Ways in which scores change hands."""


class BestOf(Record):
    """The best of several systems on one set, beside what the best of as many equal ones would show."""

    systems: int
    clusters: int
    best: int | None
    """Column with the largest mean, the first of equals; None without a case."""
    runner_up: int | None = None
    """Column with the next largest."""
    lead: float | None = None
    """Best minus runner-up."""
    ahead: float | None = None
    """Best minus the mean of all systems, itself among them."""
    luck: float | None = None
    """How far ahead the best of equal systems is on average: what picking adds to a winner's score."""
    noise: float | None = None
    """How far ahead the best of equal systems is at most, in 19 of 20 sets."""
    p: float | None = None
    """Share of sets, in (0, 1], in which the best of equal systems is as far ahead as this one, or further."""
    rivals: tuple[int, ...] = ()
    """Columns that cannot be told apart from the best, with intervals that hold for all pairs."""
    level: float
    seed: int
    draws: int = 0
    reason: str | None = None
    """Why there is no figure, or no noise beside it."""

    @property
    def warning(self) -> str | None:
        """Return why the winner may be no winner; None where it is told apart from every other system."""
        if self.lead is None or self.ahead is None:
            return self.reason
        if self.p is None or self.noise is None:
            return f"how much of its lead is luck cannot be told ({self.reason})"
        if self.p > 1 - self.level:
            return (
                f"it is {_figure(self.ahead)} ahead of the mean of all {self.systems}; the best of as many equal"
                f" systems would by chance be up to {_figure(self.noise)} ahead"
            )
        if self.rivals:
            others = "1 other" if len(self.rivals) == 1 else f"{len(self.rivals)} others"
            return f"it leads by {_figure(self.lead)}, and cannot be told apart from {others} of {self.systems} systems"
        return None


def rate_best(
    sample: Sample,
    *,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    draws: int = DRAWS,
) -> BestOf:
    """Return the best system and how far ahead of the others the best of equal ones would be.

    Were all systems equal, each case's scores could belong to any of them: whole clusters' scores change hands
    among the systems, in a random order each. How far the winner is ahead of the mean of all is held against how
    far the winner then is.

    Args:
        sample: Scores in [0, 1] of two systems or more; columns.
        level: Of the rivals' intervals; one minus it is the level of the warning.
        seed: Of everything drawn.
        resamples: Sign patterns of these intervals.
        draws: Ways in which scores change hands.

    Raises:
        ValueError: If there are fewer than two systems.

    Source:
        Friedman 1937 and Pitman 1938 for permutation within blocks; Phipson and Smyth 2010 for (k + 1) / (B + 1).
    """
    systems = sample.matrix.shape[1]
    if systems < 2:
        raise ValueError("the best of fewer than two systems has no lead")
    if not len(sample.matrix):
        reason = "no case has a value from every system"
        return BestOf(systems=systems, clusters=0, best=None, level=level, seed=seed, reason=reason)
    pairs, weights = weigh_pairs(systems)
    units = sample.units(weights)
    means = units.means()
    order = np.argsort(-means, kind="stable").tolist()
    found = BestOf(
        systems=systems,
        clusters=sample.clusters,
        best=order[0],
        runner_up=order[1],
        lead=float(means[order[0]] - means[order[1]]),
        ahead=float(means[order[0]] - means.mean()),
        level=level,
        seed=seed,
    )
    if len(units.sums) < FEWEST_CLUSTERS:
        return found.model_copy(update={"reason": too_few(len(units.sums), "clusters")})
    ahead = np.concatenate(list(_change_hands(units.sums, seed=seed, draws=draws))) / units.counts[:, 0].sum()
    apart = estimate_contrasts([sample], [weights], level=level, seed=seed, resamples=resamples)
    told = {pair for pair, contrast in zip(pairs, apart, strict=True) if contrast.excludes_zero}
    rivals = tuple(one for one in order[1:] if (min(one, order[0]), max(one, order[0])) not in told)
    extreme = int(np.count_nonzero(ahead >= (found.ahead or 0.0) - 1e-12))
    return found.model_copy(
        update={
            "luck": float(ahead.mean()),
            "noise": float(np.quantile(ahead, level)),
            "p": (extreme + 1) / (draws + 1),
            "rivals": rivals,
            "draws": draws,
        }
    )


def _figure(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _change_hands(sums: Floats, *, seed: int, draws: int) -> Iterator[Floats]:
    """Yield how far the largest sum is above the mean one when each unit's are dealt anew, in blocks of draws."""
    units, systems = sums.shape
    bits = np.random.PCG64(seed)
    rows = max(1, CHUNK_VALUES // sums.size)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        keys = bits.random_raw((count * sums.size + 1) // 2).astype("<u8").view("<u4")[: count * sums.size]
        dealt = np.argsort(keys.reshape(count, units, systems), axis=2)
        totals = np.take_along_axis(sums[None], dealt, axis=2).sum(axis=1)
        yield totals.max(axis=1) - totals.mean(axis=1)
