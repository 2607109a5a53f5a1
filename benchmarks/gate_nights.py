"""How often nightly gates cry wolf, and what they catch, by simulation.

    python benchmarks/gate_nights.py                    # a reduced size, under a minute
    python benchmarks/gate_nights.py --years 500 --losses 400

An engine whose answers scatter from night to night is held, every night, to a fixed anchor and to the night before, on
the same cases. Nothing changes for years: every fail is a false alarm, of which one a year is budgeted. Then it loses
what the gate says it can see: it should fail within three nights in 8 of 10 sets. Then it loses a tenth of that in each
of twenty nights: against the night before that is hardly seen, against the anchor it should be.
"""

import argparse
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from findback.measure.gating import LEVEL, Bounds, bound_difference, detect_loss, judge_loss, spend_alarms
from findback.measure.intervals import t_quantile
from findback.measure.paired import flip_signs
from findback.model.gated import Policy

Floats = npt.NDArray[np.float64]

TESTS = 2
"""Anchor and last night."""
ALARM = spend_alarms(1.0, 365, TESTS)
MARGIN = 0.05
NIGHTS = 365
STEPS = 20


class Engine(NamedTuple):
    """A system whose results scatter: each case has a usual reciprocal rank, and others it takes now and then."""

    usual: Floats
    other: Floats
    chance: Floats
    """How often each case takes the other value."""

    def search(self, nights: int, rng: np.random.Generator, kept: Floats | float = 1.0) -> Floats:
        """Return the scores of so many nights, shape (nights, cases); `kept` is 0 for cases that are lost."""
        takes = rng.random((nights, len(self.usual))) < self.chance
        return np.where(takes, self.other, self.usual) * kept


def draw_engine(cases: int, noisy: float, rng: np.random.Generator) -> Engine:
    """Return a system: half its cases have the answer first, and a share of all scatters by a rank or falls out."""
    ranks = np.minimum(rng.geometric(0.45, cases), 11)
    other = np.where(rng.random(cases) < 0.3, 11, ranks + rng.integers(1, 4, cases))
    chance = np.where(rng.random(cases) < noisy, rng.uniform(0.1, 0.5, cases), 0.0)
    return Engine(_reciprocal(ranks), _reciprocal(other), chance)


def _reciprocal(ranks: npt.NDArray[np.int64]) -> Floats:
    return np.where(ranks <= 10, 1 / ranks, 0.0)


def find_suspects(gaps: Floats) -> Iterator[int]:
    """Yield the nights that can be a proven loss at all: far below 0, with sign flips that agree."""
    cases = gaps.shape[1]
    error = gaps.std(axis=1, ddof=1) / np.sqrt(cases)
    bar = t_quantile(1 - 8 * ALARM, cases - 1)
    for night in np.flatnonzero(gaps.mean(axis=1) < -bar * error).tolist():
        if flip_signs(gaps[night])[0] / 2 <= ALARM:
            yield night


def fails(gaps: Floats, policy: Policy) -> bool:
    """Return whether one night fails; what is no proven loss is told from one bound."""
    if not bound_difference(gaps, level=1 - ALARM, alarm=ALARM).is_loss:
        return False
    return policy == "significance" or judge_loss(_bound(gaps), margin=MARGIN, policy=policy).verdict == "fail"


def _bound(gaps: Floats) -> Bounds:
    return bound_difference(gaps, alarm=ALARM)


def count_alarms(years: int, cases: int, noisy: float, rng: np.random.Generator) -> dict[Policy, list[int]]:
    """Return the nights of each year on which something failed although nothing changed."""
    found: dict[Policy, list[int]] = {"margin": [], "significance": []}
    for _ in range(years):
        engine = draw_engine(cases, noisy, rng)
        scores = engine.search(NIGHTS + 1, rng)
        alarms: dict[Policy, set[int]] = {"margin": set(), "significance": set()}
        for gaps in (scores[1:] - scores[:1], np.diff(scores, axis=0)):
            for night in find_suspects(gaps):
                bounds = _bound(gaps[night])
                for policy, nights in alarms.items():
                    if judge_loss(bounds, margin=MARGIN, policy=policy).verdict == "fail":
                        nights.add(night)
        for policy, nights in alarms.items():
            found[policy].append(len(nights))
    return found


def lose(engine: Engine, sizes: Floats, rng: np.random.Generator) -> Floats:
    """Return what is kept of each case, 0 or 1, after losses of these mean sizes; what is lost stays so.

    Whole cases are lost, which is the kind of loss that is hardest to see.
    """
    mean = float((engine.usual * (1 - engine.chance) + engine.other * engine.chance).mean())
    order = rng.random(len(engine.usual))
    return (order >= sizes[:, None] / mean).astype(float)


def catch_losses(repeats: int, cases: int, noisy: float, policy: Policy, rng: np.random.Generator) -> dict[str, float]:
    """Return how often the detectable loss is caught, at once and step by step, and its mean size."""
    caught = {"within 3 nights": 0, "20 steps, anchor": 0, "20 steps, last night alone": 0}
    sizes = []
    for _ in range(repeats):
        engine = draw_engine(cases, noisy, rng)
        anchor, quiet = engine.search(2, rng)
        seen = bound_difference(quiet - anchor, level=1 - ALARM, alarm=ALARM)._replace(level=LEVEL)
        size = detect_loss(seen, margin=0.0 if policy == "significance" else MARGIN)
        if size is None:
            continue
        sizes.append(size)
        at_once = engine.search(3, rng, lose(engine, np.full(3, size), rng))
        caught["within 3 nights"] += any(fails(night - anchor, policy) for night in at_once)
        slowly = engine.search(STEPS, rng, lose(engine, size / 10 * np.arange(1, STEPS + 1), rng))
        caught["20 steps, anchor"] += any(fails(night - anchor, policy) for night in slowly[::-1])
        steps = np.diff(np.vstack([quiet, slowly]), axis=0)
        caught["20 steps, last night alone"] += any(fails(steps[night], policy) for night in find_suspects(steps))
    shares = {name: count / max(len(sizes), 1) for name, count in caught.items()}
    return {"size": float(np.mean(sizes)) if sizes else float("nan"), **shares}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--years", type=int, default=60)
    parser.add_argument("--losses", type=int, default=8)
    parser.add_argument("--cases", type=int, nargs="*", default=[100, 400])
    parser.add_argument("--noisy", type=float, nargs="*", default=[0.05, 0.3])
    given = parser.parse_args()
    begun = time.perf_counter()
    print(f"false alarms a year, over {given.years} years of {NIGHTS} nights; one is budgeted")
    print(f"{'cases':>6} {'noisy':>6} {'margin':>8} {'significance':>13} {'worst year':>11}")
    for cases in given.cases:
        for noisy in given.noisy:
            found = count_alarms(given.years, cases, noisy, np.random.default_rng(1))
            shown = found["significance"]
            print(
                f"{cases:6} {noisy:6.2f} {np.mean(found['margin']):8.3f} {np.mean(shown):13.3f} {max(shown):11}",
                flush=True,
            )
    print(f"\nlosses of the detectable size, {given.losses} a row")
    print(" cases  noisy        policy   size  3 nights  20 steps  20 steps, last night alone")
    for cases in given.cases:
        for noisy in given.noisy:
            policy: Policy
            for policy in ("margin", "significance"):
                row = catch_losses(given.losses, cases, noisy, policy, np.random.default_rng(2))
                print(
                    f"{cases:6} {noisy:6.2f} {policy:>13} {row['size']:6.3f} {row['within 3 nights']:9.0%}"
                    f" {row['20 steps, anchor']:9.0%} {row['20 steps, last night alone']:26.0%}",
                    flush=True,
                )
    print(f"\n{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
