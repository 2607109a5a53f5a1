"""Do two people say the same about the same items, beyond what chance would give?"""

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np

from findback.measure.bootstrap import DEFAULT_SEED, RESAMPLES, bca_interval, leave_out, resample
from findback.measure.clusters import Floats
from findback.model.record import Record

FEWEST_DOUBLES = 20
"""Items judged twice below which no agreement is given."""

Weights = Literal["none", "linear"]


class RaterAgreement(Record):
    """How alike two opinions are."""

    kappa: float | None
    """Cohen's kappa, in [-1, 1]: 1 for full agreement, 0 for what chance gives; None where it is undefined."""
    low: float | None = None
    """Lower end of the interval; None where there is none."""
    high: float | None = None
    """Upper end."""
    level: float = 0.95
    """Confidence level of the interval, in (0, 1)."""
    agreed: float | None = None
    """Share of pairs that are equal, in [0, 1]; None below 20 items."""
    prevalence: float | None = None
    """Share of the more frequent category among both opinions, in [0, 1]: near 1 kappa says little."""
    doubles: int
    """Items judged twice."""
    pairs: int
    """Pairs of opinions on them."""
    seed: int = DEFAULT_SEED
    """Seed of the resampling."""
    reason: str | None = None
    """Why there is no kappa, or no interval."""


def rate_agreement(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    items: Sequence[Hashable] | None = None,
    *,
    weights: Weights = "none",
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
) -> RaterAgreement:
    """Return Cohen's kappa of two opinions with an interval that resamples whole items.

    Args:
        first: The first opinion on each thing.
        second: The second opinion on the same things.
        items: The item each thing belongs to, such as the question of a graded document; each its own when None.
        weights: linear counts neighbouring grades as near misses and wants whole numbers.
        level: Confidence level, in (0, 1).
        seed: Seed of the resampling.
        resamples: How many resamples.

    Returns:
        kappa is None below 20 items, and where both opinions always say one and the same thing: then chance
        alone would agree fully, and 0/0 is no agreement.

    Raises:
        ValueError: If lengths differ, or linear weights meet what is no whole number.

    Source:
        Cohen 1960, and 1968 for weights; the interval is the bias-corrected bootstrap over items.

    >>> twice = ["yes"] * 10 + ["no"] * 10
    >>> rate_agreement(twice, ["yes"] * 10 + ["no"] * 5 + ["yes"] * 5, resamples=200).kappa
    0.5
    >>> rate_agreement(["yes"], ["yes"]).reason
    'fewer than 20 items were judged twice: 1'
    """
    names = list(range(len(first))) if items is None else list(items)
    if not len(first) == len(second) == len(names):
        raise ValueError(f"{len(first)} first opinions, {len(second)} second ones and {len(names)} items")
    doubles = len(set(names))
    result = RaterAgreement(kappa=None, doubles=doubles, pairs=len(first), level=level, seed=seed)
    if doubles < FEWEST_DOUBLES:
        return result.model_copy(update={"reason": f"fewer than {FEWEST_DOUBLES} items were judged twice: {doubles}"})
    table = _Table(first, second, names, weights)
    shares = table.shares()
    result = result.model_copy(update={"agreed": table.agreed(), "prevalence": float(shares.max())})
    whole = float(table.kappas(np.ones((1, doubles)))[0])
    if np.isnan(whole):
        return result.model_copy(update={"reason": "both opinions always say the same one thing"})
    replicates = resample(table.kappas, doubles, seed=seed, resamples=resamples)
    update: dict[str, object] = {"kappa": whole}
    if np.nanmax(replicates) - np.nanmin(replicates) < 1e-12:
        update["reason"] = "every resample gives the same figure: no interval"
    else:
        # Without its only deviating item a table may be undefined; that item then pulls on nothing.
        influence = np.nan_to_num(leave_out(table.kappas, doubles))
        low, high = bca_interval(whole, replicates, influence, level=level)
        update |= {"low": low, "high": high}
    return result.model_copy(update=update)


class _Table:
    """Disagreements seen and to be expected, item by item."""

    def __init__(
        self, first: Sequence[Hashable], second: Sequence[Hashable], items: Sequence[Hashable], weights: Weights
    ) -> None:
        if weights == "linear" and not all(type(one) is int for one in (*first, *second)):
            raise ValueError("linear weights are for whole numbers")
        known = sorted({*first, *second}) if weights == "linear" else dict.fromkeys([*first, *second])  # type: ignore[type-var]
        categories = {category: at for at, category in enumerate(known)}
        rows = {item: at for at, item in enumerate(dict.fromkeys(items))}
        self._seen = np.zeros(len(rows))
        self._equal = np.zeros(len(rows))
        self._pairs = np.zeros(len(rows))
        self._first = np.zeros((len(rows), len(categories)))
        self._second = np.zeros((len(rows), len(categories)))
        self._costs = _costs(list(categories), weights)
        for one, other, item in zip(first, second, items, strict=True):
            row, a, b = rows[item], categories[one], categories[other]
            self._seen[row] += self._costs[a, b]
            self._equal[row] += a == b
            self._pairs[row] += 1
            self._first[row, a] += 1
            self._second[row, b] += 1

    def agreed(self) -> float:
        return float(self._equal.sum() / self._pairs.sum())

    def shares(self) -> Floats:
        both = self._first.sum(axis=0) + self._second.sum(axis=0)
        return np.asarray(both / both.sum(), dtype=np.float64)

    def kappas(self, weights: Floats) -> Floats:
        """Return kappa under weights of the items, shape (resamples,); NaN where chance would agree fully."""
        pairs = weights @ self._pairs
        seen = weights @ self._seen
        one, two = weights @ self._first, weights @ self._second
        expected = np.einsum("ri,ij,rj->r", one, self._costs, two, optimize=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(expected > 0, 1 - seen * pairs / expected, np.nan), dtype=np.float64)


def _costs(categories: Sequence[Hashable], weights: Weights) -> Floats:
    if weights == "none":
        return np.ones((len(categories), len(categories))) - np.eye(len(categories))
    grades = np.asarray(categories, dtype=np.float64)
    return np.asarray(np.abs(grades[:, None] - grades[None, :]), dtype=np.float64)
