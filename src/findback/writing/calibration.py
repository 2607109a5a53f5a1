"""Calibration of the judge: texts swapped between documents, and what it turns down by leak."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil, erfc, sqrt
from random import Random
from typing import NamedTuple

from findback.llm.ask import ItemFailedError
from findback.model.calibrated import Calibration, LeakBucket
from findback.model.document import Document
from findback.model.written import Fidelity
from findback.writing.around import Around
from findback.writing.fidelity import Judging, choose_others, judge

SWAPS = 20
LEAST_REJECTED = 0.95
"""Share of the swapped texts that a judge must turn down: 19 of 20."""
FEWEST_SWAPS = 10
"""Swapped texts from which that share says anything."""
EDGES = (0.1, 0.2, 0.35)
NAMES = ("0", "0-.1", ".1-.2", ".2-.35", ".35-1", "not measurable")
"""Buckets of leak; each holds its upper edge."""
FEWEST_EACH = 5
"""Texts turned down, and texts let through, from which a tendency can be told."""
SIGNIFICANT = 0.05
"""Chance below which a tendency is reported."""


class Passed(NamedTuple):
    """A text that passed the filters, with what the judge would need to see it again."""

    text: str
    source: Document
    around: Around


class Judged(NamedTuple):
    """A text of the run that the judge saw."""

    leak: float | None
    """None where it cannot be measured."""
    rejected: bool
    """Whether the fidelity filter turned it down."""


async def calibrate(
    judging: Judging, passed: Sequence[Passed], judged: Iterable[Judged], *, seed: int, swaps: int = SWAPS
) -> Calibration:
    """Return how a judge does on texts swapped between documents, and how its rejections hang together with leak.

    Args:
        judging: How it is asked, as for every other text.
        passed: Texts that passed, in sampling order.
        judged: Every text that it saw in the run.
        seed: Of which texts are swapped, and with which.
        swaps: Texts swapped at most.

    Texts that the judge fails on are left out.

    Raises:
        StoppedError: If no further call can go well.
    """
    pairs = swap(passed, seed=seed, count=swaps)
    answered = await asyncio.gather(
        *(_judge_as_if(judging, text, place) for text, place in pairs), return_exceptions=True
    )
    failed = [one for one in answered if isinstance(one, BaseException) and not isinstance(one, ItemFailedError)]
    if failed:
        raise failed[0]
    seen = [one for one in answered if isinstance(one, Fidelity)]
    rejected = sum(fidelity.source == 0 for fidelity in seen)
    doubtful = sum(0 < fidelity.source < fidelity.asked for fidelity in seen)
    trusted, reason = _say_trusted(len(seen), rejected)
    rows = list(judged)
    prefers, why, p = find_preference(rows)
    return Calibration(
        swapped=len(seen),
        rejected=rejected,
        doubtful=doubtful,
        trusted=trusted,
        trusted_reason=reason,
        buckets=count_by_leak(rows),
        prefers_leaking=prefers,
        prefers_leaking_reason=why,
        p=p,
    )


async def _judge_as_if(judging: Judging, text: str, place: Passed) -> Fidelity:
    near = place.around
    others = choose_others(place.source, near.nearest, near.fellows, near.duplicates)
    return await judge(judging, text, place.source, others, duplicates=near.duplicates)


def swap(passed: Sequence[Passed], *, seed: int, count: int = SWAPS) -> list[tuple[str, Passed]]:
    """Return texts, each with another document in the place of its own.

    Nobody gets a near-duplicate of its own document: that would be no mistake.

    Args:
        passed: Texts with their documents.
        seed: Of the choice.
        count: How many at most.
    """
    random = Random(f"{seed}\0swap")  # noqa: S311 (no secret hangs on it)
    chosen = list({one.source.id: one for one in passed}.values())
    random.shuffle(chosen)
    chosen = chosen[:count]
    turned = [*chosen[1:], *chosen[:1]]
    return [
        (one.text, other)
        for one, other in zip(chosen, turned, strict=True)
        if one.source.id != other.source.id and one.source.id not in other.around.duplicates
    ]


def _say_trusted(swapped: int, rejected: int) -> tuple[bool | None, str]:
    counted = f"{rejected} of {swapped} texts swapped between documents were turned down"
    if swapped < FEWEST_SWAPS:
        return None, f"{counted}: too few to tell whether this judge can be trusted"
    if rejected < ceil(LEAST_REJECTED * swapped):
        return False, f"{counted}: the verdicts of this judge cannot be trusted"
    return True, counted


def count_by_leak(judged: Iterable[Judged]) -> tuple[LeakBucket, ...]:
    """Return how many texts of each stretch of leak a judge saw and turned down; stretches without any are left out."""
    seen: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    for one in judged:
        name = leak_bucket(one.leak)
        seen[name] += 1
        rejected[name] += one.rejected
    return tuple(LeakBucket(bucket=name, judged=seen[name], rejected=rejected[name]) for name in NAMES if seen[name])


def leak_bucket(leak: float | None) -> str:
    """Return the bucket of a leak in [0, 1].

    >>> leak_bucket(0.0), leak_bucket(0.1), leak_bucket(0.11), leak_bucket(None)
    ('0', '0-.1', '.1-.2', 'not measurable')
    """
    if leak is None:
        return NAMES[-1]
    return NAMES[0] if leak <= 0 else NAMES[1 + sum(leak > edge for edge in EDGES)]


def find_preference(judged: Iterable[Judged]) -> tuple[bool | None, str, float | None]:
    """Return whether a judge turns down more texts the less they leak, why, and the chance of it by luck.

    The leaks of the texts turned down are compared with those let through by ranks, ties sharing theirs; the chance
    is one-sided, from the normal approximation. Texts whose leak cannot be measured are left out.

    Returns:
        None and the reason where fewer than five were turned down or let through, or where all leak the same.

    Source:
        Mann and Whitney 1947, with the correction for ties.

    >>> judged = [Judged(0.0, True)] * 6 + [Judged(0.3, False)] * 6
    >>> find_preference(judged)[0], find_preference(judged[:4])[0]
    (True, None)
    """
    known = [(one.leak, one.rejected) for one in judged if one.leak is not None]
    down = sum(rejected for _, rejected in known)
    through = len(known) - down
    counted = f"{down} {'text' if down == 1 else 'texts'} turned down and {through} let through"
    if min(down, through) < FEWEST_EACH:
        return None, f"{counted} are too few to tell whether this judge prefers leaking text", None
    tied = Counter(leak for leak, _ in known)
    if len(tied) == 1:
        return None, "all texts leak the same: nothing tells whether this judge prefers leaking text", None
    p = _rank_sum(known, tied, down, through)
    means = [sum(leak for leak, one in known if one is side) / n for side, n in ((True, down), (False, through))]
    told = f"mean leak {means[0]:.2f} of {down} texts turned down, {means[1]:.2f} of {through} let through, p = {p:.2g}"
    if p < SIGNIFICANT:
        return True, f"this judge prefers leaking text: {told}", p
    return False, f"no sign that this judge prefers leaking text: {told}", p


def _rank_sum(known: Sequence[tuple[float, bool]], tied: Counter[float], down: int, through: int) -> float:
    """Return the chance that the rejected ones rank as low or lower."""
    ranks: dict[float, float] = {}
    below = 0
    for leak in sorted(tied):
        ranks[leak] = below + (tied[leak] + 1) / 2
        below += tied[leak]
    n = down + through
    statistic = sum(ranks[leak] for leak, rejected in known if rejected) - down * (down + 1) / 2
    ties = sum(count**3 - count for count in tied.values()) / (n * (n - 1))
    spread = sqrt(down * through / 12 * (n + 1 - ties))
    # Half a rank of continuity.
    return 0.5 * erfc(-(statistic + 0.5 - down * through / 2) / spread / sqrt(2))
