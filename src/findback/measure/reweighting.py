"""What a set would score if its queries shared as many words with their answers as real ones do."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from findback.measure.bootstrap import DEFAULT_SEED, bca_interval, draw_weights
from findback.measure.buckets import NAMES, bucket_of
from findback.measure.clusters import (
    BOOTSTRAP_CLUSTERS,
    FEWEST_CLUSTERS,
    Codes,
    Floats,
    Golds,
    code_clusters,
    join_by_gold,
    ratio,
    sum_groups,
)
from findback.measure.effective import effective_size
from findback.measure.intervals import WIDEST_BY_CLUSTER, estimate_mean, t_quantile, too_few, welch_freedom
from findback.model.estimate import Estimate, IntervalMethod
from findback.model.record import Record

HEAVY = 0.05
"""Share of the real queries from which a bucket has to be well filled."""
FEWEST_IN_BUCKET = 10
"""Generated queries, each cluster counted once, that fill a bucket well."""


class BucketMass(Record):
    """One bucket of overlap on both sides."""

    bucket: str
    real: float
    """Share of the real clusters, in [0, 1]."""
    generated: float
    """Share of the generated clusters."""
    queries: int
    """Generated clusters in it."""


class Reweighted(Record):
    """One system's score, as it is and as it would be if only overlap differed."""

    raw: Estimate
    """On the generated queries as they are, of measurable overlap or not."""
    reweighted: Estimate
    """On them, weighted to the real queries' overlap; its interval holds the noise of both sides."""
    real: Estimate
    """On the real queries themselves."""
    better: Literal["reweighted", "real queries"] | None
    """Which estimate of the score on real queries to believe; None where neither has an interval."""
    why: str
    """Why that one; empty where there is none."""


class Reweighting(Record):
    """A set weighted to the overlap of real queries: never a correction of its score."""

    buckets: tuple[BucketMass, ...]
    support: float | None
    """Share of the real clusters whose bucket holds a generated query at all, in [0, 1]; None without real ones."""
    effective: float | None
    """Generated clusters that the weighted ones are worth (Kish); None where nothing can be weighted."""
    unmeasurable: tuple[int, int]
    """Generated and real queries whose overlap cannot be measured: left out."""
    refusal: str | None
    """Why nothing is estimated; None where it is."""
    systems: tuple[Reweighted, ...]
    level: float
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """One side's queries, with their scores and overlap."""

    values: Floats
    """Shape (queries, systems), in [0, 1]; NaN where undefined."""
    overlaps: Sequence[float | None]
    """One a query, in [0, 1]; None where it cannot be measured."""
    clusters: Sequence[Hashable] | Codes | None = None
    """One a query; each its own when left out."""
    golds: Golds | None = None
    """As for `estimate_mean`."""


def reweight(generated: Queries, real: Queries, *, level: float = 0.95, seed: int = DEFAULT_SEED) -> Reweighting:
    """Return what each system would score on generated queries that overlap with their answers as real ones do.

    The score within each bucket of overlap is taken from the generated queries, the size of the buckets from the
    real ones; clusters count once on both sides. The interval holds the noise of both: t below 50 units on either
    side, else BCa. It does not hold whatever else sets generated and real queries apart.

    Args:
        generated: The queries to weight.
        real: Those whose overlap they are to have; their scores stand beside.
        level: Confidence level, in (0, 1).
        seed: Of the bootstrap.

    Returns:
        A reweighting that refuses where a bucket with over 5 % of the real queries has fewer than 10 generated
        ones. Smaller buckets without any are left out: see `support`.

    Raises:
        ValueError: If lengths differ or a value is out of bounds.

    Source:
        Direct standardisation (post-stratification): Holt and Smith 1979; Kish 1965 for the effective size.
    """
    here, there = _share_out(generated), _share_out(real)
    masses = [side.sum(axis=0) / max(1, np.count_nonzero(side.sum(axis=1))) for side in (here, there)]
    buckets = tuple(
        BucketMass(bucket=name, generated=float(one), real=float(other), queries=int(queries))
        for name, one, other, queries in zip(NAMES, *masses, np.count_nonzero(here, axis=0), strict=True)
    )
    refusal = _refuse(buckets)
    factors = np.nan_to_num(ratio(masses[1], masses[0]))
    weights = (here @ factors).tolist()
    systems = []
    for at in range(generated.values.shape[1]):
        raw, own = (
            estimate_mean(side.values[:, at], side.clusters, side.golds, level=level, seed=seed)
            for side in (generated, real)
        )
        found = Estimate(value=None, level=level, reason=refusal)
        if refusal is None:
            found = _estimate(generated, real, at, level=level, seed=seed)
        better, why = _believe(found, own)
        systems.append(Reweighted(raw=raw, reweighted=found, real=own, better=better, why=why))
    return Reweighting(
        buckets=buckets,
        support=float(masses[1][masses[0] > 0].sum()) if there.any() else None,
        effective=effective_size(weights) if any(weights) else None,
        unmeasurable=(_count_unmeasurable(generated), _count_unmeasurable(real)),
        refusal=refusal,
        systems=tuple(systems),
        level=level,
        seed=seed,
    )


def _count_unmeasurable(side: Queries) -> int:
    return sum(1 for overlap in side.overlaps if overlap is None)


def _share_out(side: Queries, values: Floats | None = None) -> Floats:
    """Return how much of each cluster lies in each bucket: a cluster's measurable queries share 1.

    With values, queries without one do not count, and the buckets' sums of the values stand before the shares.
    """
    if len(side.overlaps) != len(side.values):
        raise ValueError(f"{len(side.overlaps)} overlaps were given for {len(side.values)} queries")
    marks = np.zeros((len(side.values), len(NAMES)))
    for row, overlap in enumerate(side.overlaps):
        if overlap is not None and (values is None or not np.isnan(values[row])):
            marks[row, NAMES.index(bucket_of(overlap))] = 1.0
    table = marks if values is None else np.hstack([marks * np.nan_to_num(values)[:, None], marks])
    codes = code_clusters(side.clusters, len(side.values))
    return np.nan_to_num(ratio(sum_groups(table, codes), sum_groups(marks, codes).sum(axis=1, keepdims=True)))


def _refuse(buckets: tuple[BucketMass, ...]) -> str | None:
    if not any(one.real for one in buckets):
        return "no overlap to aim at can be measured"
    thin = [one for one in buckets if one.real > HEAVY and one.queries < FEWEST_IN_BUCKET]
    if not thin:
        return None
    named = ", ".join(f"{one.bucket} ({one.queries} for {one.real:.0%} of those aimed at)" for one in thin)
    return f"too few queries to weight in overlap {named}; {FEWEST_IN_BUCKET} needed"


class _Side(NamedTuple):
    """What one side brings to the figure."""

    rows: Floats
    """One an independent unit; the figure depends on their sum."""
    influence: Floats
    """How much the figure falls when each unit is left out."""
    by_gold: bool

    @property
    def variance(self) -> float:
        """Return the jackknife variance of the figure that comes from this side."""
        return float(np.square(self.influence).sum()) * (len(self.rows) - 1) / len(self.rows)


def _estimate(generated: Queries, real: Queries, at: int, *, level: float, seed: int) -> Estimate:
    """Return one system's reweighted score; its queries are those with overlap and score, its clusters both sides'."""
    column = generated.values[:, at]
    scored, masses = _share_out(generated, column), _share_out(real)
    filled, mixed = scored.sum(axis=0), masses.sum(axis=0)
    value = float(_figure(filled, mixed))
    here = _side(scored, generated, lambda rows: value - _figure(filled - rows, mixed))
    there = _side(masses, real, lambda rows: value - _figure(filled, mixed - rows))
    used = sum(1 for row, one in enumerate(generated.overlaps) if one is not None and not np.isnan(column[row]))
    found = Estimate(
        value=value,
        level=level,
        n=used,
        clusters=int(np.count_nonzero(scored.any(axis=1)) + np.count_nonzero(masses.any(axis=1))),
        left_out=len(column) - used,
    )
    sizes = len(here.rows), len(there.rows)
    variance = here.variance + there.variance
    if min(sizes) < FEWEST_CLUSTERS:
        return found.model_copy(update={"reason": too_few(min(sizes), "clusters on one side")})
    if not variance > 0:
        return found.model_copy(update={"reason": "all queries have the same value"})
    method: IntervalMethod = "t"
    if min(sizes) < BOOTSTRAP_CLUSTERS:
        freedom = welch_freedom([np.array(here.variance), np.array(there.variance)], sizes)
        half = t_quantile(level, float(freedom)) * variance**0.5
        low, high = value - half, value + half
    else:
        method = "bca"
        replicates = _figure(*(_resample(side.rows, seed, stream) for stream, side in enumerate((here, there))))
        influence = np.concatenate([here.influence, there.influence])
        low, high = bca_interval(value, replicates, influence, level=level)
    return found.model_copy(
        update={
            "low": max(0.0, low),
            "high": min(1.0, high),
            "method": "gold-clustered" if here.by_gold or there.by_gold else method,
            "seed": seed if method == "bca" else None,
        }
    )


def _figure(filled: Floats, masses: Floats) -> Floats:
    """Return the mean of the buckets' means, weighted by the real masses of those that hold anything.

    Shape:
        `filled` is (…, sums and counts of the buckets), `masses` (…, buckets).
    """
    sums, counts = filled[..., : len(NAMES)], filled[..., len(NAMES) :]
    held = np.where(counts > 1e-9, masses, 0.0)
    return ratio((held * np.nan_to_num(ratio(sums, np.where(held > 0, counts, 0.0)))).sum(axis=-1), held.sum(axis=-1))


def _side(rows: Floats, queries: Queries, fall: Callable[[Floats], Floats]) -> _Side:
    """Return the side by cluster, or by gold group where that widens its variance by more than half."""
    present = rows.any(axis=1)
    by_cluster = _Side(rows[present], np.nan_to_num(fall(rows[present])), False)
    if queries.golds is None:
        return by_cluster
    joined = sum_groups(rows, join_by_gold(code_clusters(queries.clusters, len(queries.values)), queries.golds))
    joined = joined[joined.any(axis=1)]
    by_gold = _Side(joined, np.nan_to_num(fall(joined)), True)
    return by_gold if by_gold.variance > WIDEST_BY_CLUSTER * by_cluster.variance else by_cluster


def _resample(rows: Floats, seed: int, stream: int) -> Floats:
    """Return resampled sums of the rows, each stream independent of the others; shape (resamples, columns)."""
    apart = int(np.random.SeedSequence([seed, stream]).generate_state(1, np.uint64)[0])
    return np.concatenate([weights @ rows for weights in draw_weights(len(rows), seed=apart)])


def _believe(found: Estimate, own: Estimate) -> tuple[Literal["reweighted", "real queries"] | None, str]:
    """Return the better estimate of the score on real queries, and why it is."""
    weighted, real = _half_width(found), _half_width(own)
    if weighted is None or real is None:
        if weighted is None and real is None:
            return None, ""
        return ("reweighted" if real is None else "real queries"), "it alone has an interval"
    if real <= weighted:
        return "real queries", "its interval is no wider, and it assumes nothing"
    if abs((found.value or 0.0) - (own.value or 0.0)) > (weighted**2 + real**2) ** 0.5:
        return "real queries", "the two differ by more than chance, so overlap is not all that differs"
    return "reweighted", "its interval is narrower, and the two do not differ by more than chance"


def _half_width(estimate: Estimate) -> float | None:
    return None if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2
