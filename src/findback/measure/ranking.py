"""Whether two sets put the same systems into the same order."""

from typing import NamedTuple

import numpy as np

from findback.measure.bootstrap import DEFAULT_SEED
from findback.measure.clusters import FEWEST_CLUSTERS
from findback.measure.contrasts import RESAMPLES, Contrast, Sample, estimate_contrasts, weigh_pairs
from findback.measure.gap import Spread, measure_spread
from findback.measure.intervals import estimate_means, too_few
from findback.measure.paired import PairDifference, compare_all
from findback.measure.rank_noise import Noise, keep_order, permute_sets, rate_order
from findback.measure.verdicts import judge_difference
from findback.model.across import OrderVerdict
from findback.model.estimate import Estimate
from findback.model.record import Record

FEWEST_SYSTEMS = 5
"""Below this many systems an order has too few pairs for a tau-b: pairs only."""
SAME_FLOOR = 0.5
"""Orders are called the same where 19 of 20 such sets would agree at least this much: on three of four pairs."""
DRAWS = 20
"""Parts of the larger set that are looked at in the size of the smaller one."""


class SetStanding(Record):
    """How one set sees the systems."""

    n: int
    """Cases that every system has a value for."""
    clusters: int
    left_out: int
    """Cases that not every system has a value for."""
    levels: tuple[Estimate, ...]
    """Mean of each system."""
    spread: Spread
    """Best minus worst."""
    apart: int
    """Pairs it can tell apart."""
    apart_at_equal_n: float | None
    """Share of pairs, in [0, 1], it tells apart on as many clusters as the smaller set has; None below 8."""


class PairAgreement(Record):
    """One pair of systems on both sets."""

    first: int
    """Column of the first system."""
    second: int
    """Column of the second system."""
    here: PairDifference
    """First minus second on the first set, with the interval that holds for all pairs of that set."""
    there: PairDifference
    """The same on the second set."""
    between: Contrast
    """First set's difference minus the second's; the interval holds for all pairs together."""
    reversed: bool
    """Whether each set by itself shows a difference, and the other way round."""

    @property
    def differs(self) -> bool:
        """Whether the difference is shown to be another one on the other set, be it the same way round or not."""
        return self.between.excludes_zero

    @property
    def opposed(self) -> bool:
        """Whether the difference differs, and is seen the other way round: perhaps reversed, not shown to be."""
        here, there = self.here.estimate.value, self.there.estimate.value
        return self.differs and here is not None and there is not None and here * there < 0


class RankAgreement(Record):
    """How far two sets agree on the order of the same systems."""

    verdict: OrderVerdict
    why: str
    """What the verdict rests on, or why there is none."""
    tau: float | None
    """Kendall's tau-b between the two orders, in [-1, 1]; None below five systems, or where a set has no order."""
    reason: str | None = None
    """Why there is no tau-b."""
    population: Noise | None = None
    """Tau-b of two samples of one population."""
    order: Noise | None = None
    """Tau-b of two sets of one order that may differ in spread and noise."""
    sets: tuple[SetStanding, SetStanding]
    equal_clusters: int
    """Clusters of the smaller set."""
    pairs: tuple[PairAgreement, ...]
    level: float
    seed: int


class _Plan(NamedTuple):
    level: float
    seed: int
    resamples: int


def compare_orders(
    first: Sample,
    second: Sample,
    *,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
) -> RankAgreement:
    """Compare the order of the same systems on two sets that share no cases.

    The observed tau-b is held against two kinds of noise: what two samples of one population would show (clusters
    change sets), and what two sets of one order would, each with its own spread and noise. *changed* needs a tau-b
    below the floor of both, or a pair that each set by itself shows the other way round. *same order* needs a
    tau-b within both, and a floor of the second of .5 or more (with a lower one, sets of one order would look as
    unlike as others do), and no pair that differs and is seen the other way round; else the verdict is *cannot
    tell*. With fewer than five systems the
    verdict follows from the pairs: *same order* where both sets show every pair the same way round.

    Args:
        first: Scores in [0, 1] on the first set; systems are columns.
        second: The same systems on the second set.
        level: Confidence level of intervals; one minus it is the level of the tests.
        seed: Of everything drawn.
        resamples: Divisions into two sets, and sign patterns.

    Raises:
        ValueError: If the sets do not have the same systems, at least two.

    Source:
        Kendall 1945; Gail and Simon 1985: differences of quantity are none of order.
    """
    systems = first.matrix.shape[1]
    if systems != second.matrix.shape[1] or systems < 2:
        raise ValueError(f"two or more systems on both sets are needed, got {systems} and {second.matrix.shape[1]}")
    plan = _Plan(level, seed, resamples)
    pairs = _compare_pairs(first, second, plan)
    smaller = min(first.clusters, second.clusters)
    standings = (
        _stand(first, [pair.here for pair in pairs], smaller, plan),
        _stand(second, [pair.there for pair in pairs], smaller, plan),
    )
    tau, reason = _rate(first, second)
    population = order = None
    if tau is not None and smaller >= FEWEST_CLUSTERS:
        weights = weigh_pairs(systems)[1]
        one, two = first.units(weights), second.units(weights)
        population = permute_sets(one, two, tau, seed=seed, draws=resamples)
        order = keep_order(one, two, tau, seed=seed, draws=resamples)
    verdict, why = _judge(pairs, population, order, smaller, level)
    return RankAgreement(
        verdict=verdict,
        why=why,
        tau=tau,
        reason=reason,
        population=population,
        order=order,
        sets=standings,
        equal_clusters=smaller,
        pairs=pairs,
        level=level,
        seed=seed,
    )


def _compare_pairs(first: Sample, second: Sample, plan: _Plan) -> tuple[PairAgreement, ...]:
    pairs, weights = weigh_pairs(first.matrix.shape[1])
    inside = [
        compare_all(side.matrix, side.codes, side.golds, level=plan.level, seed=plan.seed, resamples=plan.resamples)
        for side in (first, second)
    ]
    between = estimate_contrasts(
        (first, second), (weights, -weights), level=plan.level, seed=plan.seed, resamples=plan.resamples, span=2.0
    )
    return tuple(
        PairAgreement(
            first=pair[0],
            second=pair[1],
            here=here,
            there=there,
            between=gap,
            reversed=_direction(here) * _direction(there) < 0,
        )
        for pair, here, there, gap in zip(pairs, *inside, between, strict=True)
    )


def _direction(found: PairDifference) -> int:
    """Return 1 where the first system is shown to be better, -1 where the second is, else 0."""
    return {"better": 1, "worse": -1}.get(judge_difference(found, found.p, margin=0.0).verdict, 0)


def _stand(sample: Sample, pairs: list[PairDifference], smaller: int, plan: _Plan) -> SetStanding:
    levels: tuple[Estimate, ...] = ()
    if len(sample.matrix):
        levels = estimate_means(sample.matrix, sample.codes, sample.golds, level=plan.level, seed=plan.seed)
    return SetStanding(
        n=len(sample.matrix),
        clusters=sample.clusters,
        left_out=sample.left_out,
        levels=levels,
        spread=measure_spread(sample.matrix, sample.codes, level=plan.level, seed=plan.seed),
        apart=sum(1 for pair in pairs if _direction(pair)),
        apart_at_equal_n=_tell_apart(sample, smaller, plan) if smaller >= FEWEST_CLUSTERS else None,
    )


def _tell_apart(sample: Sample, clusters: int, plan: _Plan) -> float:
    """Return the share of pairs told apart on so many clusters, averaged over parts of the sample."""
    weights = weigh_pairs(sample.matrix.shape[1])[1]
    bits = np.random.PCG64(plan.seed)
    shares = []
    for _ in range(1 if clusters == sample.clusters else DRAWS):
        drawn = np.argsort(bits.random_raw(sample.clusters), kind="stable")[:clusters]
        part = sample.take(drawn.astype(np.int64))
        found = estimate_contrasts(
            [part], [weights], level=plan.level, seed=plan.seed, resamples=min(plan.resamples, 1_000)
        )
        shares.append(sum(1 for one in found if one.excludes_zero) / len(found))
    return sum(shares) / len(shares)


def _rate(first: Sample, second: Sample) -> tuple[float | None, str | None]:
    if not (len(first.matrix) and len(second.matrix)):
        return None, "no case of one set has a value from every system"
    if first.matrix.shape[1] < FEWEST_SYSTEMS:
        return None, f"fewer than {FEWEST_SYSTEMS} systems: pairs only"
    tau = float(rate_order(first.by_cluster().means(), second.by_cluster().means()))
    return (None, "all systems score alike on one set") if np.isnan(tau) else (tau, None)


def _judge(
    pairs: tuple[PairAgreement, ...], population: Noise | None, order: Noise | None, smaller: int, level: float
) -> tuple[OrderVerdict, str]:
    if smaller < FEWEST_CLUSTERS:
        return "cannot tell", too_few(smaller, "clusters on one side")
    turned = sum(1 for pair in pairs if pair.reversed)
    if turned:
        return "changed", f"{turned} of {len(pairs)} pairs {'is' if turned == 1 else 'are'} reversed"
    if population is not None and order is not None:
        opposed = sum(1 for pair in pairs if pair.opposed)
        return _judge_tau(population, order, opposed, 1 - level)
    shown = sum(1 for pair in pairs if _direction(pair.here) and _direction(pair.here) == _direction(pair.there))
    if shown == len(pairs):
        return "same order", "both sets show every pair the same way round"
    if len(pairs) == 1:
        return "cannot tell", "the sets do not both show which of the two is better"
    return "cannot tell", f"{shown} of {len(pairs)} pairs are shown the same way round by both sets, none reversed"


def _figure(tau: float) -> str:
    return f"{tau:.2f}".replace("0.", ".").replace("-", "−")


def _judge_tau(population: Noise, order: Noise, opposed: int, risk: float) -> tuple[OrderVerdict, str]:
    if population.p <= risk and order.p <= risk:
        return "changed", "neither samples of one population nor other sets of one order would agree so little"
    if opposed:
        return "cannot tell", f"{opposed} pair{'' if opposed == 1 else 's'} may be reversed"
    if population.p <= risk:
        return "cannot tell", "no samples of one population, but sets of one order may agree as little by chance"
    if order.p <= risk:
        return "cannot tell", "the agreement is low, but samples of one population would show it as well"
    if order.floor < SAME_FLOOR:
        return "cannot tell", f"sets of one order may agree as little as tau-b {_figure(order.floor)} by chance"
    return "same order", f"19 of 20 sets of one order would agree to tau-b {_figure(order.floor)} or more, and these do"
