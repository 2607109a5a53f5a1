"""From intervals to a verdict on a pair."""

from typing import NamedTuple

from findback.measure.clusters import FEWEST_CLUSTERS
from findback.measure.paired import PairDifference
from findback.model.compared import Verdict


class Judged(NamedTuple):
    """A verdict and why it is that one."""

    verdict: Verdict
    why: str = ""
    """What a reader should know about it; empty where the interval says everything."""


def judge_difference(found: PairDifference, p: float | None, *, margin: float) -> Judged:
    """Return the verdict on one pair.

    better, worse: the simultaneous interval excludes 0. tied: it lies inside ± margin. Where fewer than eight
    units differ the interval rests on too little to be trusted by itself: better and worse then need the
    sign-flip probability as well, and tied is not given.

    Args:
        found: The difference, first minus second.
        p: Its probability, adjusted for how many pairs are compared.
        margin: Differences inside ± this are of no account.
    """
    estimate = found.estimate
    if estimate.value is not None and (estimate.reason or "").startswith("identical"):
        return Judged("identical", estimate.reason or "")
    if estimate.value is not None and found.units < FEWEST_CLUSTERS:
        return Judged("too few", estimate.reason or "")
    if found.low is None or found.high is None:
        return Judged("cannot tell", estimate.reason or "no interval")
    return _judge_interval(found, found.low, found.high, p, margin)


def _judge_interval(found: PairDifference, low: float, high: float, p: float | None, margin: float) -> Judged:
    few = found.differing < FEWEST_CLUSTERS
    sure = p is not None and p <= 1 - found.estimate.level + 1e-12
    inside = max(abs(low), abs(high)) <= margin
    if (low > 0 or high < 0) and (sure or not few):
        small = f"by less than the margin of {margin:g}".replace(" 0.", " .") if inside else ""
        return Judged("better" if low > 0 else "worse", small)
    if few:
        return Judged("cannot tell", f"they differ on {found.differing} of {found.units} only")
    return Judged("tied" if inside else "cannot tell")


def join_extremes(lowest: Judged, highest: Judged, errors: int) -> Judged:
    """Return the verdict that holds whatever the failed searches would have found, or none.

    Args:
        lowest: Where the first system's failed searches count as misses and the second's as perfect.
        highest: The other way round.
        errors: Cases on which a search failed.
    """
    said = f"{errors} failed {'search' if errors == 1 else 'searches'}"
    if lowest.verdict == highest.verdict:
        return lowest._replace(why=f"whatever {said} would have found" + (f"; {lowest.why}" if lowest.why else ""))
    return Judged("cannot tell", f"{said} could turn it either way")
