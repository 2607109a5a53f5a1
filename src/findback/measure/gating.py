"""Has a system lost something, more than is accepted, or can that not be told?"""

from collections.abc import Hashable, Sequence
from math import ceil, log, log2
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from findback.measure.bootstrap import DEFAULT_SEED, RESAMPLES
from findback.measure.clusters import (
    BOOTSTRAP_CLUSTERS,
    FEWEST_CLUSTERS,
    Codes,
    Floats,
    Golds,
    average_clusters,
    code_clusters,
    join_by_gold,
    merge_units,
)
from findback.measure.intervals import choose_units, estimate_mean, t_quantile, too_few
from findback.measure.paired import bound_constant, flip_signs
from findback.measure.power import POWER, count_units_to_tell
from findback.model.gated import GateVerdict, Policy

LEVEL = 0.95
"""Confidence of the one-sided bound that passes."""
_NEAR = 1e-9
_STEPS = 1_000
_NORMAL = NormalDist()


class Bounds(NamedTuple):
    """One-sided bounds of a mean difference."""

    value: float | None
    """The difference; None without a pair."""
    lower: float | None
    """It is above this with confidence `level`; None below eight units."""
    upper: float | None
    """It is below this with confidence 1 − `alarm`; None below eight units."""
    p: float | None
    """One-sided sign-flip probability of so low a difference; 1 where it is not below 0."""
    cases: int
    units: int
    """Clusters, or gold groups."""
    differing: int
    """Units that differ."""
    error: float | None
    """Standard error of the difference; None where nothing scatters."""
    interval: str
    """How the bounds were made."""
    reason: str
    """Why there is none; empty where there are."""
    level: float
    alarm: float

    @property
    def is_loss(self) -> bool:
        """Return whether a loss is proven: the upper bound is below 0, and sign flips agree."""
        return self.upper is not None and self.upper < 0 and self.p is not None and self.p <= self.alarm + 1e-12


class Decision(NamedTuple):
    """A verdict and why it is that one."""

    verdict: GateVerdict
    why: str = ""


def bound_difference(
    gaps: Floats,
    clusters: Sequence[Hashable] | Codes | None = None,
    golds: Golds | None = None,
    *,
    level: float = LEVEL,
    alarm: float = 1 - LEVEL,
    seed: int = DEFAULT_SEED,
) -> Bounds:
    """Return one-sided bounds of a mean paired difference of scores in [0, 1].

    The ends are those of `estimate_mean`. Below 50 units, or where fewer than eight differ, the lower one is never
    nearer to the difference than what so many units can show (`unseen_share`): how far others may fall is not seen.

    Args:
        gaps: Now minus before, one a case in [-1, 1]; NaN where undefined, which is left out.
        clusters: One a case; each case its own when left out.
        golds: As for `estimate_mean`.
        level: Confidence of the lower bound, in (0.5, 1).
        alarm: Chance of an upper bound below 0 without a loss, in (0, 0.5).
        seed: Of bootstrap and signs.

    Raises:
        ValueError: If a gap lies outside [-1, 1].

    >>> found = bound_difference(np.zeros(100))
    >>> found.value, round(found.lower, 4), found.p
    (0.0, -0.0295, 1.0)
    """
    at_level = estimate_mean(gaps, clusters, golds, level=2 * level - 1, seed=seed, bounds=(-1.0, 1.0))
    cases = at_level.n
    if at_level.value is None:
        return Bounds(None, None, None, None, cases, 0, 0, None, "none", at_level.reason or "", level, alarm)
    codes = code_clusters(clusters, len(gaps))
    by_cluster = average_clusters(gaps[:, None], codes)
    by_gold = None if golds is None else merge_units(by_cluster, join_by_gold(codes, golds))
    chosen = choose_units(by_cluster, by_gold).units
    sums, units = chosen.sums[:, 0], len(chosen.sums)
    differing = int(np.count_nonzero(np.abs(sums) > _NEAR))
    spread = float(chosen.variances()[0]) if units > 1 else 0.0
    error = spread**0.5 if spread > _NEAR**2 else None
    value = at_level.value
    if units < FEWEST_CLUSTERS:
        few = too_few(units, "clusters")
        return Bounds(value, None, None, None, cases, units, differing, error, "none", few, level, alarm)
    lower, upper, interval = at_level.low, at_level.high, str(at_level.method)
    if alarm != 1 - level:
        upper = estimate_mean(gaps, clusters, golds, level=1 - 2 * alarm, seed=seed, bounds=(-1.0, 1.0)).high
    if lower is None or upper is None:
        lower, upper, interval = *_bound_alike(value, units, level, alarm), "exact"
    if shows_little(units, differing):
        lower = max(-1.0, min(lower, value - unseen_share(units, level)))
    return Bounds(
        value=value,
        lower=lower,
        upper=upper,
        p=_flip(sums, value, alarm, seed),
        cases=cases,
        units=units,
        differing=differing,
        error=error,
        interval=interval,
        reason="",
        level=level,
        alarm=alarm,
    )


def _bound_alike(value: float, units: int, level: float, alarm: float) -> tuple[float, float]:
    """Return the bounds of a difference that is the same in every unit."""
    if abs(value) <= _NEAR:
        return -unseen_share(units, level), unseen_share(units, 1 - alarm)
    low, _ = bound_constant(value, units, level=2 * level - 1)
    _, high = bound_constant(value, units, level=1 - 2 * alarm)
    return (value if low is None else low), (value if high is None else high)


def _flip(sums: Floats, value: float, alarm: float, seed: int) -> float:
    """Return the one-sided sign-flip probability: half the two-sided one, as flips are symmetric."""
    if value >= -_NEAR:
        return 1.0
    resamples = max(RESAMPLES, ceil(10 / alarm))
    return flip_signs(sums, seed=seed, resamples=resamples)[0] / 2


def shows_little(units: int, differing: int) -> bool:
    """Return whether the spread that is seen is too little to go by alone."""
    return units < BOOTSTRAP_CLUSTERS or differing < FEWEST_CLUSTERS


def unseen_share(units: int, level: float = LEVEL) -> float:
    """Return how large a share of cases may behave in a way that none of so many units shows.

    Source:
        Clopper and Pearson 1934, the upper bound at no hit in n trials; about 3 / n at 95 %.

    >>> round(unseen_share(59), 4), round(unseen_share(12), 3)
    (0.0495, 0.221)
    """
    return float(1 - (1 - level) ** (1 / units))


def judge_loss(found: Bounds, *, margin: float, policy: Policy = "margin") -> Decision:
    """Return the verdict on a difference.

    margin: pass when the lower bound is above −margin; fail when it is not, and a loss is proven; else undecided.
    significance: fail on a proven loss, else pass. Without bounds it is undecided either way.

    Args:
        found: The difference, now minus before.
        margin: Loss that is accepted, above 0.
        policy: By which rule.
    """
    if found.lower is None or found.upper is None or found.value is None:
        return Decision("undecided", found.reason)
    these = "this one case" if found.cases == 1 else f"these {found.cases} cases"
    alike = "" if found.differing else f"identical on {these}"
    if policy == "significance":
        return Decision("fail" if found.is_loss else "pass", alike)
    if found.lower > -margin:
        return Decision("pass", alike)
    if found.is_loss:
        return Decision("fail")
    if alike:
        return Decision("undecided", f"{alike}, too few to show it for others")
    few = found.upper < 0
    return Decision("undecided", f"only {found.differing} of {found.units} differ" if few else "")


def join_extremes(lowest: Decision, highest: Decision, errors: int) -> Decision:
    """Return the verdict with failed searches: undecided at best, fail where there is a loss whatever they found.

    Args:
        lowest: Where failed searches count as the worst for the system under test.
        highest: Where they count as the best for it.
        errors: Cases on which a search failed.
    """
    said = f"{errors} failed {'search' if errors == 1 else 'searches'}"
    if highest.verdict == "fail" and lowest.verdict == "fail":
        return Decision("fail", f"whatever {said} would have found")
    return Decision("undecided", f"{said}: bounds only")


def judge_floor(lower: float | None, upper: float | None, floor: float, *, policy: Policy = "margin") -> GateVerdict:
    """Return whether a mean holds a floor: pass from the lower bound, fail from the upper one, else undecided.

    >>> judge_floor(0.31, 0.5, 0.3), judge_floor(0.1, 0.29, 0.3), judge_floor(0.2, 0.4, 0.3)
    ('pass', 'fail', 'undecided')
    """
    if lower is None or upper is None:
        return "undecided"
    if upper < floor:
        return "fail"
    return "pass" if lower >= floor or policy == "significance" else "undecided"


def count_needed(found: Bounds, margin: float, *, power: float = POWER) -> int | None:
    """Return how many cases in all would let a system that is as good as the baseline pass in 8 of 10 sets.

    Spread and cases a unit are taken as they are; where none is seen, what so many units can show decides.

    Returns:
        None without a pair.

    >>> count_needed(bound_difference(np.zeros(12)), 0.05)
    59
    """
    if not found.units:
        return None
    little = shows_little(found.units, found.differing)
    least = ceil(log(1 - found.level) / log(1 - margin)) if little else 1
    if found.error is not None and found.units > 1:
        critical = t_quantile(2 * found.level - 1, found.units - 1)
        wanted = count_units_to_tell(margin, found.error, found.units, critical, power=power)
        if wanted is None:
            return None
        least = max(least, wanted)
    return ceil(least * found.cases / found.units)


def detect_loss(found: Bounds, *, margin: float, power: float = POWER) -> float | None:
    """Return the smallest loss that would fail in 8 of 10 such sets, however it is spread over the cases.

    To the spread that is seen comes the one the loss brings itself: the most where a few cases lose everything.

    Args:
        found: What was seen.
        margin: Loss that is accepted; 0 where every proven loss fails.
        power: Chance of failing on it, in (0, 1).

    Returns:
        A loss in (0, 1]; None where not even the largest would be seen, or below eight units.

    >>> round(detect_loss(bound_difference(np.zeros(200)), margin=0.05), 2)
    0.04
    """
    from scipy.special import betaincinv  # noqa: PLC0415 (scipy only where needed)

    units = found.units
    fewest = ceil(log2(1 / found.alarm) - 1e-9)
    if units < FEWEST_CLUSTERS or fewest > units:
        return None
    fails, passes = (t_quantile(2 * one - 1, units - 1) for one in (1 - found.alarm, found.level))
    sizes = np.arange(1, _STEPS + 1) / _STEPS
    error = np.sqrt((found.error or 0.0) ** 2 + sizes * (1 - sizes) / units)
    reach = np.maximum(fails * error, margin - passes * error) + _NORMAL.inv_cdf(power) * error
    hidden = np.flatnonzero(sizes < reach)
    if len(hidden) == _STEPS or (len(hidden) and hidden[-1] == _STEPS - 1):
        return None
    # Sign flips need so many units on the losing side.
    flips = float(betaincinv(fewest, units - fewest + 1, power))
    return max(float(sizes[hidden[-1] + 1 if len(hidden) else 0]), flips)


def spend_alarms(alarms: float, looks: int, tests: int) -> float:
    """Return the chance of a false alarm that each test of one look may have.

    Args:
        alarms: False alarms accepted a year, above 0.
        looks: Looks they are spread over.
        tests: Tests in one look.

    Returns:
        A chance in (0, .05]. The alarms expected in `looks` looks are then at most `alarms`, however much the looks
        depend on each other.

    Source:
        Bonferroni's inequality.

    >>> round(spend_alarms(1, 365, 2), 5)
    0.00137
    """
    return min(1 - LEVEL, alarms / (looks * tests))
