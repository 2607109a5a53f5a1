"""How often two sets are said to order systems alike, or not, by simulation; prints a table as Markdown.

    python benchmarks/ranking_agreement.py --repeats 2000

Eight systems answer two sets; a score is a reciprocal rank. Each line is one truth, over so many pairs of sets.
Where it is one population or one order, "changed" is an error, which may occur in at most 6 %; where a pair is
reversed, "same" is one. "tau-b alone" is how often tau-b lies below the floor of two samples of one population:
where the sets are no such samples, that is no sign of another order, and why it does not carry the verdict by
itself. "found" is how often the one pair that is truly reversed, by .15 on both sets, is called reversed.
"""

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from typing import NamedTuple

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 -- a process a core, a thread a process
import numpy.typing as npt  # noqa: E402

from findback.measure.contrasts import take_sample  # noqa: E402
from findback.measure.ranking import compare_orders  # noqa: E402

Floats = npt.NDArray[np.float64]

HARD, EASY = (0.4, 1.6), (1.6, 0.6)
"""Shapes of how easy cases are: most of them hard, most of them easy."""
PAIR = (3, 4)
"""The systems that change places."""


class Truth(NamedTuple):
    """What is true of two sets."""

    name: str
    sizes: tuple[int, int]
    levels: tuple[Sequence[float], Sequence[float]]
    """Mean score of each system on each set."""
    ease: tuple[tuple[float, float], tuple[float, float]] = (HARD, HARD)
    changed: bool = False
    paraphrases: int = 1
    promised: bool = False
    """Whether a share is promised: at most 6 % changed, or the pair found in 80 %."""


def spaced(middle: float, reach: float) -> list[float]:
    """Eight levels at equal distances."""
    return np.linspace(middle - reach, middle + reach, 8).tolist()


def with_pair(gap: float) -> list[float]:
    """Eight levels of which two in the middle are so far apart, and far from the others."""
    return [0.05, 0.08, 0.11, 0.36 - gap / 2, 0.36 + gap / 2, 0.61, 0.64, 0.67]


TRUTHS = (
    Truth("one population, 1,000 and 40", (1000, 40), (spaced(0.35, 0.08), spaced(0.35, 0.08)), promised=True),
    Truth("one population, 200 and 200", (200, 200), (spaced(0.35, 0.08), spaced(0.35, 0.08))),
    Truth("one population, wide apart, 1,000 and 40", (1000, 40), (spaced(0.4, 0.3), spaced(0.4, 0.3))),
    Truth("one population, 200 and 40 roots of five", (200, 40), (spaced(0.35, 0.1),) * 2, paraphrases=5),
    Truth("one order, second half as wide", (1000, 40), (spaced(0.35, 0.16), spaced(0.35, 0.08))),
    Truth("one order, first easy and wide", (1000, 40), (spaced(0.7, 0.16), spaced(0.3, 0.08)), (EASY, HARD)),
    Truth("one order, second easy", (1000, 40), (spaced(0.3, 0.1), spaced(0.7, 0.1)), (HARD, EASY)),
    Truth("all alike", (200, 200), (spaced(0.35, 0.0), spaced(0.35, 0.0))),
    Truth("all alike on the second", (1000, 40), (spaced(0.35, 0.16), spaced(0.35, 0.0))),
    Truth("one pair reversed by .15, 200 and 200", (200, 200), (with_pair(0.15), with_pair(-0.15)), changed=True,
          promised=True),
    Truth("one pair reversed by .15, 1,000 and 40", (1000, 40), (with_pair(0.15), with_pair(-0.15)), changed=True),
    Truth("shuffled, 200 and 200", (200, 200), (spaced(0.35, 0.16), [0.39, 0.19, 0.44, 0.27, 0.51, 0.23, 0.31, 0.48]),
          changed=True),
    Truth("reversed, 1,000 and 40", (1000, 40), (spaced(0.35, 0.16), spaced(0.35, -0.16)), changed=True),
)  # fmt: skip


@lru_cache
def shift_for(level: float, ease: tuple[float, float]) -> float:
    """Return what has to be added to a case's ease so that scores average to a level."""
    rng = np.random.default_rng(0)
    base, wobble, luck = rng.beta(*ease, 40_000), rng.normal(0, 0.15, 40_000), rng.random(40_000)
    low, high = -1.5, 1.5
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if reciprocal_ranks(base + middle + wobble, luck).mean() < level else (low, middle)
    return (low + high) / 2


def reciprocal_ranks(ease: Floats, luck: Floats) -> Floats:
    """Return reciprocal ranks, geometric with the ease as chance of each place, 0 beyond 10."""
    chance = np.clip(ease, 0.01, 0.99)
    ranks = np.ceil(np.log1p(-luck) / np.log1p(-chance))
    return np.where(ranks <= 10, 1 / np.maximum(ranks, 1), 0.0)


def draw_set(size: int, levels: Sequence[float], ease: tuple[float, float], paraphrases: int, rng) -> Floats:
    """Return scores of shape (cases, systems)."""
    shifts = np.array([shift_for(round(level, 4), ease) for level in levels])
    roots = rng.beta(*ease, size)[:, None] + shifts + rng.normal(0, 0.15, (size, len(levels)))
    cases = np.repeat(roots, paraphrases, axis=0)
    return reciprocal_ranks(cases, rng.random(cases.shape))


def simulate(truth: Truth, seed: int) -> tuple[str, bool, bool]:
    """Return the verdict, whether tau-b lay below the population's floor, and whether the pair was found."""
    rng = np.random.default_rng([seed, len(truth.name)])
    samples = [
        take_sample(
            draw_set(size, levels, ease, truth.paraphrases, rng),
            np.arange(size * truth.paraphrases) // truth.paraphrases,
        )
        for size, levels, ease in zip(truth.sizes, truth.levels, truth.ease, strict=True)
    ]
    found = compare_orders(samples[0], samples[1], seed=seed, resamples=1_000)
    low = found.population is not None and found.population.p <= 0.05
    return found.verdict, low, any(pair.reversed and (pair.first, pair.second) == PAIR for pair in found.pairs)


def main() -> None:
    """Print the shares, in percent."""
    parser = argparse.ArgumentParser(description="Verdicts on the order of systems, by simulation")
    parser.add_argument("--repeats", type=int, default=100, help="simulated pairs of sets a line (100)")
    parser.add_argument("--others", type=int, help="the same for lines without a promise (a fifth of it)")
    parser.add_argument("--processes", type=int, default=2, help="processes (2)")
    parser.add_argument("--only", default="", help="lines whose name holds this")
    options = parser.parse_args()
    started = time.perf_counter()
    print("| truth | pairs of sets | changed | same | cannot tell | tau-b alone | found |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    outside = []
    with ProcessPoolExecutor(options.processes) as pool:
        for truth in TRUTHS:
            if options.only not in truth.name:
                continue
            repeats = options.repeats if truth.promised else options.others or max(1, options.repeats // 5)
            done = list(pool.map(partial(simulate, truth), range(repeats), chunksize=5))
            verdicts = [one[0] for one in done]
            changed, same, open_ = (
                100 * verdicts.count(verdict) / len(done) for verdict in ("changed", "same order", "cannot tell")
            )
            alone, found = (100 * sum(one[at] for one in done) / len(done) for at in (1, 2))
            named = f"{found:.1f}" if "pair" in truth.name else ""
            print(
                f"| {truth.name} | {repeats:,} | {changed:.1f} | {same:.1f} | {open_:.1f} | {alone:.1f} | {named} |",
                flush=True,
            )
            if not truth.changed and changed > 6:
                outside.append(f"{truth.name}: changed {changed:.1f} %, at most 6 wanted")
            if truth.promised and truth.changed and found < 80:
                outside.append(f"{truth.name}: found {found:.1f} %, 80 wanted")
    print(f"\nOutside: {'; '.join(outside) or 'none'}\n\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
