"""From columns to names: what was measured across two sides, as records."""

from collections.abc import Sequence

from findback.measure.paired import PairDifference
from findback.measure.rank_noise import Noise
from findback.measure.ranking import RankAgreement, SetStanding
from findback.measure.reweighting import Reweighting
from findback.model.across import (
    AcrossPair,
    AcrossSide,
    AcrossSystem,
    OrderNoise,
    OverlapBucket,
    OverlapMix,
)
from findback.model.estimate import Estimate
from findback.steps.across_sides import Side
from findback.steps.effect_records import estimate_of
from findback.steps.makeup import make_up


def stand(side: Side, standing: SetStanding) -> AcrossSide:
    """Return one side with what it tells apart."""
    spread = standing.spread
    return AcrossSide(
        name=side.name,
        set=make_up(side.questions),
        n=standing.n,
        clusters=standing.clusters,
        left_out=side.left_out,
        failed=side.failed,
        spread=Estimate(
            value=spread.value,
            low=spread.low,
            high=spread.high,
            level=spread.level,
            n=spread.n,
            clusters=spread.clusters,
            method="none" if spread.low is None else "bootstrap",
            seed=spread.seed,
            reason=spread.reason,
        ),
        apart=standing.apart,
        apart_at_equal_n=standing.apart_at_equal_n,
    )


def list_systems(
    sides: Sequence[Side], agreement: RankAgreement, reweighting: Reweighting | None
) -> tuple[AcrossSystem, ...]:
    """Return each system with its level on both sides, and weighted to the second side's overlap."""
    levels = [standing.levels for standing in agreement.sets]
    found = []
    for at, (here, there) in enumerate(zip(sides[0].entrants, sides[1].entrants, strict=True)):
        weighted = reweighting.systems[at] if reweighting is not None else None
        found.append(
            AcrossSystem(
                name=sides[0].paired.names[at],
                kind=here.run.kind,
                runs=(here.source, there.source),
                config_digest=here.run.config_digest or "",
                levels=(levels[0][at], levels[1][at]),
                reweighted=weighted.reweighted if weighted is not None else None,
                believe=weighted.better if weighted is not None else None,
                why=weighted.why if weighted is not None else "",
            )
        )
    return tuple(found)


def list_pairs(names: Sequence[str], sides: Sequence[Side], agreement: RankAgreement) -> tuple[AcrossPair, ...]:
    """Return every pair; the system that leads on the second side comes first in it, and the largest leads on top."""
    samples = [side.sample for side in sides]
    found = []
    for pair in agreement.pairs:
        between = estimate_of(pair.between, samples, seed=agreement.seed)
        differences = (_hold_together(pair.here), _hold_together(pair.there))
        one = AcrossPair(
            first=names[pair.first],
            second=names[pair.second],
            differences=differences,
            between=between,
            reversed=pair.reversed,
            differs=pair.differs,
            opposed=pair.opposed,
        )
        found.append(_turn(one) if (differences[1].value or 0.0) < 0 else one)
    return tuple(sorted(found, key=lambda one: -(one.differences[1].value or 0.0)))


def noise_of(noise: Noise | None) -> OrderNoise | None:
    """Return noise as reports show it."""
    return None if noise is None else OrderNoise(median=noise.median, floor=noise.floor, p=noise.p)


def mix_overlaps(reweighting: Reweighting | None, window: int | None) -> OverlapMix | None:
    """Return how common each overlap is on both sides."""
    if reweighting is None:
        return None
    return OverlapMix(
        buckets=tuple(
            OverlapBucket(bucket=one.bucket, shares=(one.generated, one.real), queries=one.queries)
            for one in reweighting.buckets
        ),
        window=window,
        support=reweighting.support,
        effective=reweighting.effective,
        unmeasurable=reweighting.unmeasurable,
        refusal=reweighting.refusal,
    )


def _hold_together(found: PairDifference) -> Estimate:
    """Return a difference with the interval that holds for all pairs of the set."""
    method = "none" if found.low is None else "bootstrap"
    return found.estimate.model_copy(update={"low": found.low, "high": found.high, "method": method})


def _turn(pair: AcrossPair) -> AcrossPair:
    """Return a pair seen from its second system."""
    first, second = map(_negate, pair.differences)
    return pair.model_copy(
        update={
            "first": pair.second,
            "second": pair.first,
            "differences": (first, second),
            "between": _negate(pair.between),
        }
    )


def _negate(estimate: Estimate) -> Estimate:
    def turned(value: float | None) -> float | None:
        return None if value is None else 0.0 - value

    return estimate.model_copy(
        update={"value": turned(estimate.value), "low": turned(estimate.high), "high": turned(estimate.low)}
    )
