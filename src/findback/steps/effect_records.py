"""From measured contrasts to records."""

from collections.abc import Sequence

from findback.measure.contrasts import Contrast, Sample
from findback.measure.factors import Levels
from findback.model.effect import FactorEffect
from findback.model.estimate import Estimate


def estimate_of(contrast: Contrast, samples: Sequence[Sample], *, seed: int, level: float = 0.95) -> Estimate:
    """Return a contrast over samples as an estimate, with its simultaneous interval."""
    return Estimate(
        value=contrast.value,
        low=contrast.low,
        high=contrast.high,
        level=level,
        n=sum(len(one.matrix) for one in samples),
        clusters=sum(one.clusters for one in samples),
        method="none" if contrast.low is None else "bootstrap",
        seed=None if contrast.low is None else seed,
        left_out=sum(one.left_out for one in samples),
        reason=contrast.reason,
    )


def record_effect(levels: Levels, gains: tuple[Estimate, ...], between: Estimate | None = None) -> FactorEffect:
    """Return an effect as a record."""
    return FactorEffect(
        factor=levels.factor,
        first=levels.first,
        second=levels.second,
        settings=levels.settings,
        systems=levels.systems,
        confounded=levels.confounded,
        gains=gains,
        between=between,
    )
