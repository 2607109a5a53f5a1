"""Acceptance by quota: the overlap of what a model wrote follows that of real queries."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import floor

from findback.errors import UsageError
from findback.measure.buckets import NAMES, bucket_of
from findback.measure.effective import effective_size
from findback.model.matched import MatchedBucket, Matching
from findback.model.written import Rejection

OFF = 0.05
"""How far a bucket's share of the accepted texts may be from its share of the real sample."""
HEAVY = 0.05
"""Share of the real sample from which a bucket must rest on enough real queries."""
FEWEST_REAL = 10
"""Real queries, by their effective number, that such a bucket needs."""
FULL = "bucket full"
UNMEASURABLE = "overlap not measurable"
"""Doubt about a text of which nobody can tell which bucket it belongs to."""

_CLOSER = "Stay closer to the usual words for the matter."
_FARTHER = "Move further away from the usual words for the matter."
_BETWEEN = "Choose other words for the matter, some of them more usual, some less."


class Quotas:
    """How many texts of each bucket are wanted, and how many there are.

    >>> quotas = read_quotas("chat", [0.0] * 10 + [0.9] * 10, 2)
    >>> for overlap in (0.95, 0.8):
    ...     quotas.note(overlap)
    >>> quotas.offer(0.95) is None, quotas.offer(0.8).reason, quotas.settle().refusal
    (True, 'bucket full', 'bucket 0 got 0 of 1 (0 of 2 texts fell into it)')
    """

    def __init__(self, plan: Matching) -> None:
        """Begin with nothing accepted; see `read_quotas`."""
        self._plan = plan
        self._quota = {bucket.bucket: bucket.quota for bucket in plan.buckets}
        self._accepted: Counter[str] = Counter()
        self._tried: Counter[str] = Counter()
        self._unmeasured = 0

    def note(self, overlap: float | None) -> None:
        """Count a text that was written, whatever becomes of it."""
        if overlap is not None:
            self._tried[bucket_of(overlap)] += 1

    def has_room(self, overlap: float | None) -> bool:
        """Say whether a text of this overlap is still wanted; one that cannot be measured takes no place."""
        return overlap is None or self._accepted[bucket_of(overlap)] < self._quota[bucket_of(overlap)]

    def refuse(self, overlap: float | None) -> Rejection | None:
        """Return why a text of this overlap is not wanted any more, or None; nothing is taken."""
        if self.has_room(overlap):
            return None
        return Rejection(by="match", reason=FULL, told=self._advise(bucket_of(overlap or 0.0)))

    def offer(self, overlap: float | None) -> Rejection | None:
        """Take a place for a text that passed everything else, or return why there is none."""
        refused = self.refuse(overlap)
        if refused is None and overlap is None:
            self._unmeasured += 1
        elif refused is None and overlap is not None:
            self._accepted[bucket_of(overlap)] += 1
        return refused

    @property
    def left(self) -> int:
        """Return how many places are still free."""
        return sum(self._quota.values()) - self._accepted.total()

    def settle(self) -> Matching:
        """Return what came of it, with the reason where the texts cannot stand for the real sample.

        They cannot where a bucket's share differs by more than 5 points from the real one.
        """
        total = self._accepted.total()
        buckets = tuple(
            bucket.model_copy(update={"accepted": self._accepted[bucket.bucket], "tried": self._tried[bucket.bucket]})
            for bucket in self._plan.buckets
        )
        off = [bucket for bucket in buckets if not total or abs(bucket.accepted / total - bucket.share) > OFF]
        # Where one bucket stays empty the shares of all the others rise: only those that lack texts are to blame.
        lacking = [bucket for bucket in buckets if bucket.accepted < bucket.quota]
        refusal = "; ".join(map(self._blame, lacking)) if off else None
        return self._plan.model_copy(
            update={"buckets": buckets, "unmeasured": self._unmeasured, "refusal": refusal or None}
        )

    def _blame(self, bucket: MatchedBucket) -> str:
        return (
            f"bucket {bucket.bucket} got {bucket.accepted} of {bucket.quota} "
            f"({bucket.tried} of {self._tried.total()} texts fell into it)"
        )

    def _advise(self, bucket: str) -> str:
        place = NAMES.index(bucket)
        wanted = [at for at, name in enumerate(NAMES) if self._accepted[name] < self._quota[name]]
        if wanted and all(at > place for at in wanted):
            return _CLOSER
        return _FARTHER if wanted and all(at < place for at in wanted) else _BETWEEN


def read_quotas(
    name: str, overlaps: Sequence[float | None], n: int, *, weights: Sequence[float] | None = None
) -> Quotas:
    """Return how many of `n` texts each bucket gets, so that they follow a real sample.

    Args:
        name: Of the real sample.
        overlaps: Of each real query with its answer, on the window on which texts will be measured; None where it
            cannot be measured, which is left out and counted.
        n: Texts wanted, at least 1.
        weights: Of each real query, such as one over the size of its cluster; all the same when left out.

    Raises:
        UsageError: If no overlap is known, or a bucket with over 5 % of the real sample rests on fewer than ten
            real queries: its share would be little more than chance.
    """
    weighed = [1.0] * len(overlaps) if weights is None else list(weights)
    held: defaultdict[str, list[float]] = defaultdict(list)
    for overlap, weight in zip(overlaps, weighed, strict=True):
        if overlap is not None:
            held[bucket_of(overlap)].append(weight)
    total = sum(map(sum, held.values()))
    if not total:
        raise UsageError(f"no overlap is known of the sample {name!r}", hint="it needs queries with answers")
    shares = {bucket: sum(held[bucket]) / total for bucket in NAMES}
    effective = {bucket: effective_size(held[bucket]) for bucket in NAMES}
    thin = [bucket for bucket in NAMES if shares[bucket] > HEAVY and effective[bucket] < FEWEST_REAL]
    if thin:
        shown = "; ".join(
            f"bucket {bucket}: {shares[bucket]:.0%} from {effective[bucket]:.1f} queries" for bucket in thin
        )
        raise UsageError(
            f"the sample {name!r} is too small to be followed ({shown})",
            hint=f"a bucket with over {HEAVY:.0%} of a sample needs {FEWEST_REAL} real queries: use a larger sample, "
            "or leave out --match",
        )
    quota = apportion(shares, n)
    buckets = tuple(
        MatchedBucket(
            bucket=bucket,
            real=len(held[bucket]),
            effective=effective[bucket],
            share=shares[bucket],
            quota=quota[bucket],
        )
        for bucket in NAMES
    )
    known = [weight for bucket in NAMES for weight in held[bucket]]
    left_out = sum(overlap is None for overlap in overlaps)
    return Quotas(Matching(sample=name, wanted=n, buckets=buckets, effective=effective_size(known), left_out=left_out))


def apportion(shares: Mapping[str, float], n: int) -> dict[str, int]:
    """Return whole numbers that add up to `n`, in proportion to shares, by the largest remainder.

    >>> apportion({"a": 0.5, "b": 0.3, "c": 0.2}, 4)
    {'a': 2, 'b': 1, 'c': 1}
    """
    exact = {name: share * n for name, share in shares.items()}
    whole = {name: floor(value + 1e-9) for name, value in exact.items()}
    missing = n - sum(whole.values())
    # Of equal remainders the first one gets it.
    for name in sorted(exact, key=lambda name: whole[name] - exact[name])[:missing]:
        whole[name] += 1
    return whole
