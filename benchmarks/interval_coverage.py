"""How often the intervals miss the truth, by simulation.

    python benchmarks/interval_coverage.py --repeats 2000

Each line is one way an exam can be made. "misses" is the share of simulated exams whose 95 % interval does
not contain the true mean: 5 % is nominal, more is overconfident. "by case" is the interval that would be
given if every question were taken as independent.
"""

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from findback.measure.gap import measure_gap, measure_spread
from findback.measure.intervals import estimate_mean
from findback.measure.paired import compare_all

Floats = npt.NDArray[np.float64]
Found = tuple[float | None, float | None]


class Exam(NamedTuple):
    """One simulated exam."""

    values: Floats
    clusters: npt.NDArray[np.int64]
    golds: list[int] | None = None


def reciprocal_ranks(ease: Floats, rng: np.random.Generator) -> Floats:
    """Return a reciprocal rank for each ease in (0, 1): geometric ranks, 0 beyond 10."""
    ranks = rng.geometric(np.clip(ease, 0.01, 0.99))
    return np.where(ranks <= 10, 1 / ranks, 0.0)


def single_hits(rng: np.random.Generator) -> Exam:
    """39 questions, a hit with chance .54."""
    return Exam((rng.random(39) < 0.54).astype(float), np.arange(39))


def paraphrases(roots: int) -> Callable[[np.random.Generator], Exam]:
    """Five paraphrases of each root, whose ease they share."""

    def draw(rng: np.random.Generator) -> Exam:
        ease = np.repeat(rng.beta(0.6, 0.6, roots), 5)
        return Exam((rng.random(5 * roots) < ease).astype(float), np.arange(5 * roots) // 5)

    return draw


def single_ranks(cases: int) -> Callable[[np.random.Generator], Exam]:
    """Reciprocal ranks of questions with an ease of their own, most of them hard."""

    def draw(rng: np.random.Generator) -> Exam:
        return Exam(reciprocal_ranks(rng.beta(0.4, 1.6, cases), rng), np.arange(cases))

    return draw


def shared_golds(documents: int) -> Callable[[np.random.Generator], Exam]:
    """Reciprocal ranks where questions about one document share its ease; some documents are asked often."""

    def draw(rng: np.random.Generator) -> Exam:
        asked = np.minimum(rng.geometric(0.35, documents), 18)
        golds = np.repeat(np.arange(documents), asked)
        ease = rng.beta(0.4, 1.6, documents)[golds]
        return Exam(reciprocal_ranks(ease, rng), np.arange(len(golds)), golds.tolist())

    return draw


def miss_rate(draw: Callable[[np.random.Generator], Exam], truth: float, repeats: int) -> tuple[float, float]:
    """Return the misses of the shown interval and of the one by case, in percent."""
    rng = np.random.default_rng(1)
    shown = naive = 0
    for _ in range(repeats):
        exam = draw(rng)
        figure = estimate_mean(exam.values, exam.clusters, exam.golds)
        shown += missed((figure.low, figure.high), truth)
        plain = estimate_mean(exam.values)
        naive += missed((plain.low, plain.high), truth)
    return 100 * shown / repeats, 100 * naive / repeats


def missed(ends: Found, truth: float) -> bool:
    """Return whether an interval was given and does not hold the truth."""
    low, high = ends
    return low is not None and high is not None and not low <= truth <= high


def true_mean(draw: Callable[[np.random.Generator], Exam], *, by_gold: bool) -> float:
    """Return the mean over a very large exam of the same make."""
    rng = np.random.default_rng(2)
    exams = [draw(rng) for _ in range(4_000)]
    if not by_gold:
        return float(np.mean([exam.values.mean() for exam in exams]))
    return float(np.concatenate([exam.values for exam in exams]).mean())


def gap_misses(repeats: int) -> tuple[float, float]:
    """Return misses of difference and superiority, 30 roots of three against 60 single queries, all alike."""
    rng = np.random.default_rng(3)
    difference = superiority = 0
    for _ in range(repeats):
        roots = np.repeat(rng.beta(1, 3, 30), 3)
        first = np.clip(roots + rng.normal(0, 0.05, 90), 0, 1)
        second = np.clip(rng.beta(1, 3, 60) + rng.normal(0, 0.05, 60), 0, 1)
        gap = measure_gap(first, second, np.arange(90) // 3)
        difference += missed((gap.difference.low, gap.difference.high), 0.0)
        superiority += missed((gap.superiority.low, gap.superiority.high), 0.5)
    return 100 * difference / repeats, 100 * superiority / repeats


def family_misses(cases: int, repeats: int) -> tuple[float, float]:
    """Return how often any of 15 pairs of six alike retrievers is told apart, and any spread misses 0."""
    rng = np.random.default_rng(4)
    pairs = spreads = 0
    for _ in range(repeats):
        ease = rng.beta(0.4, 1.6, cases)
        table = np.stack([reciprocal_ranks(ease, rng) for _ in range(6)], axis=1)
        pairs += any(missed((pair.low, pair.high), 0.0) for pair in compare_all(table, resamples=1_000))
        spread = measure_spread(table)
        spreads += missed((spread.low, spread.high), 0.0)
    return 100 * pairs / repeats, 100 * spreads / repeats


def main() -> None:
    """Print the miss rates."""
    parser = argparse.ArgumentParser(description="Miss rates of 95 % intervals")
    parser.add_argument("--repeats", type=int, default=300, help="simulated exams a line (300)")
    repeats = parser.parse_args().repeats
    started = time.perf_counter()
    print(f"{repeats} exams a line; nominal 5 %, ± {196 * (0.05 * 0.95 / repeats) ** 0.5:.1f} by chance")
    print(f"{'exam':44}{'misses':>8}{'by case':>9}")
    for name, draw, by_gold in (
        ("39 single hits or misses (exact)", single_hits, False),
        ("13 roots of five, hits (t)", paraphrases(13), False),
        ("40 roots of five, hits (t)", paraphrases(40), False),
        ("80 roots of five, hits (BCa)", paraphrases(80), False),
        ("30 reciprocal ranks (t)", single_ranks(30), False),
        ("60 reciprocal ranks (BCa)", single_ranks(60), False),
        ("200 reciprocal ranks (BCa)", single_ranks(200), False),
        ("30 documents, about 86 questions", shared_golds(30), True),
        ("120 documents, about 340 questions", shared_golds(120), True),
    ):
        shown, naive = miss_rate(draw, true_mean(draw, by_gold=by_gold), repeats)
        print(f"{name:44}{shown:7.1f}%{naive:8.1f}%")
    difference, superiority = gap_misses(repeats)
    print(f"{'gap of two alike samples: difference':44}{difference:7.1f}%")
    print(f"{'gap of two alike samples: superiority':44}{superiority:7.1f}%")
    for cases in (20, 100):
        pairs, spreads = family_misses(cases, repeats)
        print(f"{f'any of 15 alike pairs, {cases} cases':44}{pairs:7.1f}%")
        print(f"{f'spread of six alike retrievers, {cases} cases':44}{spreads:7.1f}%")
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
