"""Does the exam ask about what the index is made of?"""

from collections.abc import Sequence

import numpy as np

from findback.measure.bootstrap import DEFAULT_SEED
from findback.model.record import Record

SIMULATIONS = 10_000
UNLIKELY = 0.05
"""A mix that random samples reach more rarely than this is more than chance."""


class Mix(Record):
    """How far one composition is from another, beside what chance would show."""

    distance: float | None
    """Total variation in [0, 1]: the share of the exam that would have to change subject."""
    typical: float | None = None
    """Median distance of random samples of the index as large as the exam."""
    expected: float | None = None
    """Distance that 95 of 100 such samples stay within."""
    p: float | None = None
    """Chance that a random sample is at least as far away, (k + 1) / (B + 1), in (0, 1]."""
    more_than_chance: bool | None = None
    """Whether p is at most .05; None when undefined."""
    exam: int = 0
    """Size of the exam."""
    index: int = 0
    """Size of the index."""
    seed: int = DEFAULT_SEED
    """Seed of the random samples."""
    reason: str | None = None
    """Why there is no distance."""


def compare_mix(
    exam: Sequence[int], index: Sequence[int], *, simulations: int = SIMULATIONS, seed: int = DEFAULT_SEED
) -> Mix:
    """Compare the exam's counts by subject with the index's.

    A small exam is always some way off, so the distance stands beside what random samples of that size
    would show. What the exam asks about a subject the index does not have counts as far away.

    Args:
        exam: Gold documents, or clusters of questions, by subject.
        index: Documents by subject, in the same order.
        simulations: Random samples drawn.
        seed: Of the samples; the same seed gives the same figures.

    Returns:
        A mix; with nothing on one side its distance is None.

    Raises:
        ValueError: If a count is negative or the sides have other numbers of subjects.

    Source:
        Total variation; Monte Carlo test as in Phipson and Smyth 2010.

    >>> mix = compare_mix([8, 2], [50, 50])
    >>> round(mix.distance, 3), mix.more_than_chance
    (0.3, False)
    """
    if len(exam) != len(index):
        raise ValueError(f"the exam has {len(exam)} subjects and the index {len(index)}")
    if min([*exam, *index], default=0) < 0:
        raise ValueError("a subject has a negative count")
    asked, held = sum(exam), sum(index)
    if not asked or not held:
        side = "exam" if not asked else "index"
        return Mix(distance=None, exam=asked, index=held, seed=seed, reason=f"no subject is known in the {side}")
    target = np.array(index, dtype=np.float64) / held
    distance = float(np.abs(np.array(exam) / asked - target).sum() / 2)
    drawn = np.random.Generator(np.random.PCG64(seed)).multinomial(asked, target, size=simulations)
    chance = np.abs(drawn / asked - target).sum(axis=1) / 2
    p = (int(np.count_nonzero(chance >= distance - 1e-12)) + 1) / (simulations + 1)
    return Mix(
        distance=distance,
        typical=float(np.median(chance)),
        expected=float(np.quantile(chance, 0.95)),
        p=p,
        more_than_chance=p <= UNLIKELY,
        exam=asked,
        index=held,
        seed=seed,
    )
