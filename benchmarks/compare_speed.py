"""How fast many systems are compared at once, beside scipy's permutation test and bootstrap of one pair.

Both sides take turns in one process, on the same scores; medians and their ratios are printed.

    python benchmarks/compare_speed.py
    python benchmarks/compare_speed.py --queries 1000 --resamples 1000
"""

import argparse
import json
import time
from collections.abc import Callable
from itertools import combinations
from statistics import median
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from findback.measure.bootstrap import bca_interval, resample_means
from findback.measure.clusters import average_clusters, code_clusters
from findback.measure.paired import compare_all, compare_pair

Floats = npt.NDArray[np.float64]


class Job(NamedTuple):
    """What both sides do."""

    scores: Floats
    """Shape (queries, systems)."""
    resamples: int


def make_scores(queries: int, systems: int, seed: int) -> Floats:
    """Return reciprocal ranks at 10 of systems that find the same questions easy."""
    rng = np.random.default_rng(seed)
    ease = rng.beta(0.5, 1.0, (queries, 1)) * 0.8 + np.linspace(0.02, 0.1, systems)
    ranks = rng.geometric(np.clip(ease, 0.01, 0.99))
    return np.where(ranks <= 10, 1 / ranks, 0.0)


class Found(NamedTuple):
    """One figure of the first pair, and how far resampling may take two such figures apart."""

    value: float
    slack: float


def flip_all(job: Job) -> Found:
    """Return the first pair's p after adjusted probabilities and simultaneous intervals of all pairs."""
    pairs = compare_all(job.scores, resamples=job.resamples)
    assert len(pairs) == job.scores.shape[1] * (job.scores.shape[1] - 1) // 2
    p = compare_pair(job.scores[:, 0], job.scores[:, 1], resamples=job.resamples).p or 0.0
    return Found(p, 7 * (p * (1 - p) / job.resamples) ** 0.5 + 7 / job.resamples)


def flip_one_with_scipy(job: Job) -> Found:
    """Return the first pair's p."""
    gaps = job.scores[:, 0] - job.scores[:, 1]

    def total(x: Floats, axis: int) -> Floats:
        return x.sum(axis=axis)

    found = stats.permutation_test(
        (gaps,),
        total,
        permutation_type="samples",
        vectorized=True,
        n_resamples=job.resamples,
        batch=max(1, 20_000_000 // len(gaps)),
        rng=np.random.default_rng(1),
    )
    return Found(float(found.pvalue), 0.0)


def bootstrap_all(job: Job) -> Found:
    """Return the lower end of the first pair's interval after BCa intervals of all pairs from the same resamples."""
    places = list(combinations(range(job.scores.shape[1]), 2))
    gaps = np.stack([job.scores[:, one] - job.scores[:, other] for one, other in places], axis=1)
    units = average_clusters(gaps, code_clusters(None, len(gaps)))
    replicates = resample_means(units, seed=1, resamples=job.resamples)
    means, influence = units.means(), units.influence()
    ends = [bca_interval(float(means[at]), replicates[:, at], influence[:, at]) for at in range(len(places))]
    error = float(units.variances()[0]) ** 0.5
    return Found(ends[0][0], error * 25 / job.resamples**0.5)


def bootstrap_one_with_scipy(job: Job) -> Found:
    """Return the lower end of the first pair's interval."""
    gaps = job.scores[:, 0] - job.scores[:, 1]
    found = stats.bootstrap(
        (gaps,),
        np.mean,
        n_resamples=job.resamples,
        batch=max(1, 20_000_000 // len(gaps)),
        method="BCa",
        rng=np.random.default_rng(1),
    )
    return Found(float(found.confidence_interval.low), 0.0)


def spend(work: Callable[[Job], Found], job: Job) -> tuple[float, Found]:
    """Return how long it took, in seconds, and what came out."""
    begun = time.perf_counter()
    found = work(job)
    return time.perf_counter() - begun, found


def race(ours: Callable[[Job], Found], peers: Callable[[Job], Found], job: Job, rounds: int) -> dict[str, float]:
    """Let both sides take turns; their figures must agree within what resampling leaves open."""
    times = []
    for _ in range(rounds):
        (peer, theirs), (own, mine) = spend(peers, job), spend(ours, job)
        if abs(theirs.value - mine.value) > mine.slack:
            raise SystemExit(f"the two sides disagree: {mine.value} and {theirs.value}")
        times.append((own, peer))
    return {
        "findback": median(own for own, _ in times),
        "scipy": median(peer for _, peer in times),
        "ratio": median(peer / own for own, peer in times),
    }


def main() -> None:
    """Print seconds and ratios."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--queries", type=int, default=10_000)
    asked.add_argument("--systems", type=int, default=20)
    asked.add_argument("--resamples", type=int, default=10_000)
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--json", action="store_true")
    given = asked.parse_args()
    job = Job(make_scores(given.queries, given.systems, given.seed), given.resamples)
    table = {
        "permutations": race(flip_all, flip_one_with_scipy, job, given.rounds),
        "bootstrap": race(bootstrap_all, bootstrap_one_with_scipy, job, given.rounds),
    }
    if given.json:
        print(json.dumps({**vars(given), **table}, indent=2))
        return
    pairs = given.systems * (given.systems - 1) // 2
    print(
        f"{given.systems} systems × {given.queries:,} queries × {given.resamples:,} resamples,"
        f" medians of {given.rounds} paired rounds"
    )
    for name, row in table.items():
        print(
            f"{name:13} findback, all {pairs} pairs {row['findback']:8.2f} s   scipy, one pair {row['scipy']:8.2f} s"
            f"   ratio {row['ratio']:6.2f}, pair for pair {row['ratio'] * pairs:,.0f}"
        )


if __name__ == "__main__":
    main()
