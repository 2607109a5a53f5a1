"""How often tests, intervals and families of them err, by simulation; prints the tables as Markdown.

    python benchmarks/simulations.py --repeats 10000

Every exam has 20, 40, 100 or 400 clusters, of one question or of five paraphrases that share their ease. Scores are
hits, or reciprocal ranks of mostly hard questions, which are skewed: many 0, few 1. "alike" systems have the same
chance on every question; "skewed gain" ones have equal means, the second by winning much on few and losing a little
on many, so that not even their differences are symmetric. Errors are in percent; what lies outside of what is wanted
is marked, and listed at the end. With 10,000 exams a rate of 5 is known to ± .4.
"""

import argparse
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from typing import NamedTuple

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 -- a process a core, a thread a process
import numpy.typing as npt  # noqa: E402

from findback.measure.contrasts import estimate_contrasts, take_sample, weigh_pairs  # noqa: E402
from findback.measure.gap import measure_gap  # noqa: E402
from findback.measure.intervals import estimate_mean  # noqa: E402
from findback.measure.paired import compare_all, compare_pair  # noqa: E402

Floats = npt.NDArray[np.float64]

CLUSTERS = (20, 40, 100, 400)
PARAPHRASES = (1, 5)
SYSTEMS = 10
EASE = (0.4, 1.6)
"""Shape of how easy questions are: most of them hard."""
RESAMPLES = 1_999

WANTED = {
    "exact interval of hits": (0.0, 5.0),
    "mean of hits": (4.0, 6.5),
    "mean of reciprocal ranks": (4.0, 6.5),
    "difference of alike systems": (4.0, 6.5),
    "difference with skewed gain": (4.0, 6.5),
    "difference between two sets": (4.0, 6.5),
    "test of alike systems": (4.0, 6.0),
    "test with skewed gain": (4.0, 6.0),
    "any of 45 pairs of ten alike: interval": (0.0, 6.0),
    "any of 45 pairs of ten alike: test": (0.0, 6.0),
    "any of 45 pairs between this set and one of 40": (0.0, 6.0),
}
"""What is wanted of each statistic, in percent."""


class Exam(NamedTuple):
    """One way an exam is made."""

    clusters: int
    paraphrases: int

    @property
    def codes(self) -> npt.NDArray[np.int64]:
        return np.arange(self.clusters * self.paraphrases) // self.paraphrases


def expected_rank(ease: Floats) -> Floats:
    """Mean reciprocal rank at an ease: geometric ranks, 0 beyond 10."""
    ranks = np.arange(1, 11)
    return ((1 - ease[..., None]) ** (ranks - 1) * ease[..., None] / ranks).sum(axis=-1)


def draw_ranks(ease: Floats, rng: np.random.Generator) -> Floats:
    """Reciprocal ranks at an ease."""
    ranks = rng.geometric(ease)
    return np.where(ranks <= 10, 1 / ranks, 0.0)


def draw_ease(size: int, rng: np.random.Generator) -> Floats:
    return np.clip(rng.beta(*EASE, size), 0.01, 0.99)


@lru_cache
def true_mean() -> float:
    """Mean reciprocal rank over all questions."""
    from scipy.stats import beta  # noqa: PLC0415 -- once

    quantiles = (np.arange(200_000) + 0.5) / 200_000
    return float(expected_rank(np.clip(beta.ppf(quantiles, *EASE), 0.01, 0.99)).mean())


def draw_skewed(ease: Floats, root: npt.NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """A system of the same mean: right on 15 % of the roots, and a little worse on the others."""
    won = rng.random(root.max() + 1) < 0.15
    share = (true_mean() - 0.15) / (0.85 * true_mean())
    return np.where(won[root], 1.0, share * draw_ranks(ease, rng))


def missed(low: float | None, high: float | None, truth: float) -> bool:
    return low is not None and high is not None and not low <= truth <= high


def check_exam(exam: Exam, repeat: int) -> dict[str, bool]:
    """Draw one exam and return which statistics err on it."""
    rng = np.random.default_rng([exam.clusters, exam.paraphrases, repeat])
    return dict(
        (*check_means(exam, rng, repeat), *check_differences(exam, rng, repeat), *check_families(exam, rng, repeat))
    )


def check_means(exam: Exam, rng: np.random.Generator, seed: int) -> Iterator[tuple[str, bool]]:
    codes = exam.codes
    chance = np.full(exam.clusters, 0.54) if exam.paraphrases == 1 else rng.beta(0.6, 0.6, exam.clusters)
    hits = estimate_mean((rng.random(len(codes)) < chance[codes]) * 1.0, codes, seed=seed)
    exact = exam.paraphrases == 1
    yield (
        "exact interval of hits" if exact else "mean of hits",
        missed(hits.low, hits.high, 0.54 if exact else 0.5),
    )
    ranks = estimate_mean(draw_ranks(draw_ease(exam.clusters, rng)[codes], rng), codes, seed=seed)
    yield "mean of reciprocal ranks", missed(ranks.low, ranks.high, true_mean())


def check_differences(exam: Exam, rng: np.random.Generator, seed: int) -> Iterator[tuple[str, bool]]:
    codes = exam.codes
    ease = draw_ease(exam.clusters, rng)[codes]
    first = draw_ranks(ease, rng)
    for name, second in (
        ("of alike systems", draw_ranks(ease, rng)),
        ("with skewed gain", draw_skewed(ease, codes, rng)),
    ):
        found = compare_pair(first, second, codes, seed=seed, resamples=RESAMPLES)
        yield f"difference {name}", missed(found.estimate.low, found.estimate.high, 0.0)
        yield f"test {name}", found.p is not None and found.p <= 0.05
    other = draw_ranks(draw_ease(exam.clusters, rng)[codes], rng)
    gap = measure_gap(first, other, codes, codes, seed=seed).difference
    yield "difference between two sets", missed(gap.low, gap.high, 0.0)


def check_families(exam: Exam, rng: np.random.Generator, seed: int) -> Iterator[tuple[str, bool]]:
    codes = exam.codes
    table = draw_table(exam.clusters, codes, rng)
    pairs = compare_all(table, codes, seed=seed, resamples=RESAMPLES)
    yield "any of 45 pairs of ten alike: interval", any(missed(pair.low, pair.high, 0.0) for pair in pairs)
    yield "any of 45 pairs of ten alike: test", any(pair.p is not None and pair.p <= 0.05 for pair in pairs)
    other = draw_table(40, np.arange(40), rng)
    weights = weigh_pairs(SYSTEMS)[1]
    between = estimate_contrasts(
        [take_sample(table, codes), take_sample(other)], [weights, -weights], seed=seed, resamples=RESAMPLES
    )
    yield "any of 45 pairs between this set and one of 40", any(one.excludes_zero for one in between)


def draw_table(clusters: int, codes: npt.NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Scores of ten alike systems, shape (cases, systems)."""
    ease = draw_ease(clusters, rng)[codes]
    return draw_ranks(np.repeat(ease[:, None], SYSTEMS, axis=1), rng)


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description="Errors of tests and intervals, by simulation")
    parser.add_argument("--repeats", type=int, default=200, help="simulated exams a cell (200)")
    parser.add_argument("--processes", type=int, default=2, help="processes (2)")
    parser.add_argument("--clusters", type=int, action="append", choices=CLUSTERS, help="only this many; repeatable")
    options = parser.parse_args()
    started = time.perf_counter()
    chosen = [Exam(clusters, size) for size in PARAPHRASES for clusters in options.clusters or CLUSTERS]
    rates: dict[Exam, dict[str, float]] = {}
    with ProcessPoolExecutor(options.processes) as pool:
        for exam in chosen:
            found = list(pool.map(partial(check_exam, exam), range(options.repeats), chunksize=10))
            rates[exam] = {name: 100 * sum(one[name] for one in found) / len(found) for name in found[0]}
    heads = [f"{exam.clusters} × {exam.paraphrases}" for exam in chosen]
    print(f"Errors in percent over {options.repeats:,} exams a cell; columns are clusters × paraphrases.\n")
    print(f"| statistic | wanted | {' | '.join(heads)} |\n|---|---|{'---:|' * len(heads)}")
    outside = []
    for name, (least, most) in WANTED.items():
        cells = []
        for exam, head in zip(chosen, heads, strict=True):
            rate = rates[exam].get(name)
            off = rate is not None and not least <= round(rate, 2) <= most
            cells.append("" if rate is None else f"**{rate:.1f}**" if off else f"{rate:.1f}")
            if off:
                outside.append(f"- {name}, {head}: {rate:.2f}, wanted {shown(least, most)}")
        print(f"| {name} | {shown(least, most)} | {' | '.join(cells)} |")
    print("\nOutside:\n" + ("\n".join(outside) or "- none"))
    print(f"\n{time.perf_counter() - started:.0f} s")


def shown(least: float, most: float) -> str:
    return f"at most {most:g}" if least == 0 else f"{least:g}-{most:g}"


if __name__ == "__main__":
    main()
