"""What each factor of a retriever's configuration is worth."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from findback.measure.bootstrap import DEFAULT_SEED
from findback.measure.clusters import Floats
from findback.measure.contrasts import RESAMPLES, Contrast, Sample, estimate_contrasts
from findback.model.record import Record

Settings = Sequence[Mapping[str, str]]
"""Of each system, the level of each factor it names."""


class Levels(Record):
    """Two levels of a factor, and the systems they are compared by."""

    factor: str
    first: str
    second: str
    settings: int
    """Settings of all other factors that both levels were tried in; 0 where none was."""
    systems: int
    """Systems that take part."""
    confounded: tuple[str, ...] = ()
    """Other factors whose levels differ between the two sides, so that they are part of the effect."""


class Effect(Record):
    """What one level is worth against another on one set."""

    levels: Levels
    gain: Contrast
    """First level minus second; the interval holds for all effects together."""


class EffectShift(Record):
    """The same effect on two sets."""

    levels: Levels
    here: Contrast
    """On the first set; the interval holds for all effects there."""
    there: Contrast
    """On the second set."""
    between: Contrast
    """Effect on the first set minus that on the second; the interval holds for all effects."""


class _Plan(NamedTuple):
    levels: tuple[Levels, ...]
    weights: Floats
    """Shape (systems, effects)."""


def estimate_effects(
    sample: Sample,
    settings: Settings,
    factors: Collection[str] | None = None,
    *,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
) -> tuple[Effect, ...]:
    """Return the effect of each pair of levels of each factor.

    Systems that differ in that factor alone are compared, averaged over the settings of the others. Where no
    two do, the means of all systems with either level are, and what else differs between them is named.

    Args:
        sample: Scores in [0, 1] of the systems on one set.
        settings: One a system; a system that does not name a factor takes no part in its effects.
        factors: Those whose effects are wanted; all of them when left out.
        level: Confidence level of all intervals together.
        seed: Of the signs.
        resamples: Sign patterns.

    Returns:
        Effects by factor in the order they are first named; none where every factor has one level.

    Raises:
        ValueError: If there are not as many settings as systems.

    Source:
        Main effects of a factorial design, by matched settings: Montgomery, "Design and Analysis of
        Experiments" (2017); Westfall and Young 1993 for max-T.
    """
    plan = _plan(settings, factors, sample)
    if not plan.levels:
        return ()
    found = estimate_contrasts([sample], [plan.weights], level=level, seed=seed, resamples=resamples, span=1.0)
    return tuple(Effect(levels=levels, gain=gain) for levels, gain in zip(plan.levels, found, strict=True))


def compare_effects(
    first: Sample,
    second: Sample,
    settings: Settings,
    factors: Collection[str] | None = None,
    *,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
) -> tuple[EffectShift, ...]:
    """Return each effect on both of two sets that share no cases, and how far it differs between them.

    Args:
        first: Scores in [0, 1] on the first set; systems are columns.
        second: The same systems on the second set.
        settings: As for `estimate_effects`.
        factors: As there.
        level: Confidence level, of each of the three families of intervals.
        seed: Of the signs.
        resamples: Sign patterns.

    Raises:
        ValueError: If there are not as many settings as systems on both sets.
    """
    plan = _plan(settings, factors, first, second)
    if not plan.levels:
        return ()
    families = (
        estimate_contrasts(samples, weights, level=level, seed=seed, resamples=resamples, span=span)
        for samples, weights, span in (
            ([first], [plan.weights], 1.0),
            ([second], [plan.weights], 1.0),
            ([first, second], [plan.weights, -plan.weights], 2.0),
        )
    )
    return tuple(
        EffectShift(levels=levels, here=here, there=there, between=between)
        for levels, here, there, between in zip(plan.levels, *families, strict=True)
    )


def _plan(settings: Settings, factors: Collection[str] | None, *samples: Sample) -> _Plan:
    if any(sample.matrix.shape[1] != len(settings) for sample in samples):
        raise ValueError(f"settings of {len(settings)} systems were given for {samples[0].matrix.shape[1]} systems")
    planned = [
        _plan_levels(settings, factor, first, second)
        for factor in dict.fromkeys(factor for one in settings for factor in one)
        if factors is None or factor in factors
        for first, second in combinations(dict.fromkeys(one[factor] for one in settings if factor in one), 2)
    ]
    columns = [column for _, column in planned]
    return _Plan(tuple(levels for levels, _ in planned), np.stack(columns, axis=1) if columns else np.empty((0, 0)))


def _plan_levels(settings: Settings, factor: str, first: str, second: str) -> tuple[Levels, Floats]:
    """Return two levels of a factor and the weights that make first minus second of the systems' means."""
    blocks: dict[frozenset[tuple[str, str]], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for system, one in enumerate(settings):
        if one.get(factor) in (first, second):
            others = frozenset((name, value) for name, value in one.items() if name != factor)
            blocks[others][one[factor]].append(system)
    matched = [block for block in blocks.values() if len(block) == 2]
    sides = matched or [_join(list(blocks.values()))]
    column = np.zeros(len(settings))
    for block in sides:
        for level, sign in ((first, 1.0), (second, -1.0)):
            column[block[level]] += sign / len(block[level]) / len(sides)
    levels = Levels(
        factor=factor,
        first=first,
        second=second,
        settings=len(matched),
        systems=int(np.count_nonzero(column)),
        confounded=() if matched else _find_confounded(settings, factor, sides[0][first], sides[0][second]),
    )
    return levels, column


def _join(blocks: Sequence[Mapping[str, Sequence[int]]]) -> dict[str, list[int]]:
    joined: dict[str, list[int]] = defaultdict(list)
    for block in blocks:
        for level, systems in block.items():
            joined[level].extend(systems)
    return joined


def _find_confounded(settings: Settings, factor: str, first: Sequence[int], second: Sequence[int]) -> tuple[str, ...]:
    """Return the other factors whose levels are not equally frequent on both sides."""

    def shares(name: str, systems: Sequence[int]) -> dict[str | None, float]:
        counted: dict[str | None, float] = defaultdict(float)
        for system in systems:
            counted[settings[system].get(name)] += 1 / len(systems)
        return {level: round(share, 9) for level, share in counted.items()}

    named = dict.fromkeys(name for system in (*first, *second) for name in settings[system] if name != factor)
    return tuple(name for name in named if shares(name, first) != shares(name, second))
