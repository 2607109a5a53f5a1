"""Does a retriever know when it has no answer?"""

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from findback.measure.bootstrap import DEFAULT_SEED, RESAMPLES, bca_interval, leave_out, resample
from findback.measure.clusters import Codes, Floats, Values, as_column, code_clusters, ratio
from findback.measure.gap import rate_superiority
from findback.measure.intervals import estimate_mean, too_few
from findback.model.estimate import Estimate
from findback.model.record import Record

FEWEST_OF_EACH = 10
"""Clusters needed of answerable and of no-answer cases."""
FOLDS = 5
LARGE = 2_000
"""Above this many clusters the risk area is resampled a fifth as often and without acceleration."""

Flags = npt.NDArray[np.bool_]


class Abstention(Record):
    """How well a retriever's top scores tell answerable from no-answer cases."""

    auroc: Estimate
    """Probability in [0, 1] that an answerable case has the better top score, ties counting half."""
    false_answer: Estimate
    """Share of no-answer cases that are answered at a threshold chosen on other folds."""
    false_abstain: Estimate
    """Share of answerable cases that are not answered at that threshold."""
    threshold: float | None
    """Median of the folds' thresholds, in the engine's own scores; None without one."""
    own_false_answer: Estimate
    """Share of no-answer cases for which the engine returned something by its own decision."""
    own_false_abstain: Estimate
    """Share of answerable cases for which the engine returned nothing or abstained by its own decision."""
    curve: tuple[tuple[float, float], ...] = ()
    """Coverage and risk in [0, 1] after each distinct score, best first."""
    risk_area: Estimate
    """Mean risk over the coverages reached, in [0, 1]; lower is better."""
    answerable: int
    """Answerable cases."""
    no_answer: int
    """No-answer cases."""


def measure_abstention(
    top_scores: Values | None,
    answerable: Sequence[bool] | Flags,
    returned: Sequence[bool] | Flags,
    clusters: Sequence[Hashable] | Codes | None = None,
    *,
    correct: Sequence[bool] | Flags | None = None,
    higher_is_better: bool = True,
    fused: bool = False,
    folds: int = FOLDS,
    level: float = 0.95,
    seed: int = DEFAULT_SEED,
) -> Abstention:
    """Measure whether the top score separates cases with an answer from those without.

    Every cluster counts once. A case without result or with an explicit abstention ranks below every score,
    all such cases level. A failed case is no abstention: leave it out before.

    Args:
        top_scores: Score of the first result of each case, in the engine's unit; None or NaN where nothing
            was returned; None as a whole when the engine gives no scores.
        answerable: Whether the case has an answer.
        returned: Whether the engine returned a result and did not abstain.
        clusters: One a case; each case its own when left out.
        correct: Whether the answer given is right, for the risk; without it every answer to an answerable
            case counts as right. An answer to a no-answer case is wrong.
        higher_is_better: Direction of the scores; False for distances.
        fused: Whether the scores only restate ranks, as after reciprocal rank fusion.
        folds: Parts of the clusters; each part's threshold is chosen on the others.
        level: Confidence level of every interval, in (0, 1).
        seed: Of folds and resamples; the same seed gives the same figures.

    Returns:
        Figures whose value is None, with the reason, below 10 clusters of either kind, without scores or
        for fused ranks. The engine's own rates need no scores and are given whenever there are cases.

    Raises:
        ValueError: If lengths differ, folds are fewer than two, or a returned case has no score.

    Source:
        Hanley and McNeil 1982 (AUROC); Geifman and El-Yaniv 2017 (risk-coverage area), with ties given
        their expected risk and clusters weighted alike.
    """
    kinds, given = _flags(answerable), _flags(returned)
    codes = code_clusters(clusters, len(kinds))
    if len(given) != len(kinds) or folds < 2:
        raise ValueError(f"{len(given)} returns for {len(kinds)} cases in {folds} folds cannot be measured")
    own = _rates(kinds, given, codes, level=level, seed=seed)
    reason = _refuse(top_scores, kinds, codes, fused=fused)
    if reason is not None or top_scores is None:
        nothing = Estimate(value=None, level=level, left_out=len(kinds), reason=reason)
        return Abstention(
            auroc=nothing,
            false_answer=nothing,
            false_abstain=nothing,
            threshold=None,
            own_false_answer=own.false_answer,
            own_false_abstain=own.false_abstain,
            risk_area=nothing,
            answerable=int(kinds.sum()),
            no_answer=int((~kinds).sum()),
        )
    scores = _rankable(as_column(top_scores), given, higher_is_better=higher_is_better)
    places = np.unique(scores, return_inverse=True)[1].astype(np.float64)
    crossed, threshold = _cross_fit(scores, kinds, codes, folds=folds, seed=seed)
    rates = _rates(kinds, crossed, codes, level=level, seed=seed)
    wrong = ~kinds if correct is None else ~(kinds & _flags(correct))
    risk = _Risk(scores, wrong, codes)
    return Abstention(
        auroc=rate_superiority(places[kinds], places[~kinds], codes[kinds], codes[~kinds], level=level),
        false_answer=rates.false_answer,
        false_abstain=rates.false_abstain,
        threshold=None if threshold is None else (threshold if higher_is_better else -threshold),
        own_false_answer=own.false_answer,
        own_false_abstain=own.false_abstain,
        curve=risk.curve(),
        risk_area=_estimate_area(risk, len(kinds), level=level, seed=seed),
        answerable=int(kinds.sum()),
        no_answer=int((~kinds).sum()),
    )


def choose_threshold(scores: Floats, answerable: Flags, weights: Floats | None = None) -> float:
    """Return the score from which on to answer: the sum of false-answer and false-abstain rate is least.

    Args:
        scores: Higher is better; minus infinity for cases that are never answered.
        answerable: Whether the case has an answer.
        weights: What each case counts; all alike when left out.

    Returns:
        The middle between two neighbouring scores, or infinity when it is best never to answer and minus
        infinity when always. The lowest of equally good thresholds, so that ties lean towards answering.

    >>> choose_threshold(np.array([0.9, 0.8, 0.3, 0.1]), np.array([True, True, False, False]))
    0.55
    """
    heavy = np.ones(len(scores)) if weights is None else weights
    distinct, places = np.unique(scores, return_inverse=True)
    wanted = np.bincount(places, heavy * answerable, len(distinct))
    unwanted = np.bincount(places, heavy * ~answerable, len(distinct))
    # Position i answers every score from distinct[i] on; the last position answers none.
    abstained = np.concatenate([[0.0], np.cumsum(wanted)]) / max(wanted.sum(), 1e-12)
    answered = 1 - np.concatenate([[0.0], np.cumsum(unwanted)]) / max(unwanted.sum(), 1e-12)
    best = int(np.argmin(np.round(abstained + answered, 12)))
    if best == 0:
        return -np.inf
    if best == len(distinct):
        return np.inf
    below, above = distinct[best - 1], distinct[best]
    return float(above if np.isneginf(below) else below / 2 + above / 2)


class _Rates(NamedTuple):
    false_answer: Estimate
    false_abstain: Estimate


def _rates(kinds: Flags, answered: Flags, codes: Codes, *, level: float, seed: int) -> _Rates:
    return _Rates(
        estimate_mean(answered[~kinds].astype(np.float64), codes[~kinds], level=level, seed=seed),
        estimate_mean((~answered[kinds]).astype(np.float64), codes[kinds], level=level, seed=seed),
    )


def _refuse(top_scores: Values | None, kinds: Flags, codes: Codes, *, fused: bool) -> str | None:
    """Return why scores cannot be measured, or None."""
    if fused:
        return "fused ranks are no scores"
    if top_scores is None:
        return "the retriever gives no scores"
    if len(top_scores) != len(kinds):
        raise ValueError(f"{len(top_scores)} scores were given for {len(kinds)} cases")
    for name, chosen in (("answerable", kinds), ("no-answer", ~kinds)):
        count = len(np.unique(codes[chosen]))
        if count < FEWEST_OF_EACH:
            return too_few(count, f"{name} clusters", needed=FEWEST_OF_EACH)
    return None


def _rankable(scores: Floats, returned: Flags, *, higher_is_better: bool) -> Floats:
    """Return scores in which higher is better and what was not returned is minus infinity."""
    if np.isnan(scores[returned]).any():
        missing = int(np.count_nonzero(np.isnan(scores[returned])))
        raise ValueError(f"{missing} cases have a result without a score")
    return np.where(returned, scores if higher_is_better else -scores, -np.inf)


def _cross_fit(scores: Floats, kinds: Flags, codes: Codes, *, folds: int, seed: int) -> tuple[Flags, float | None]:
    """Return which cases are answered, each by a threshold from other folds, and the median threshold."""
    fold = _deal_folds(kinds, codes, folds=folds, seed=seed)
    weights = 1 / np.bincount(codes)[codes]
    answered = np.zeros(len(scores), dtype=np.bool_)
    thresholds = []
    for part in range(folds):
        held = fold == part
        threshold = choose_threshold(scores[~held], kinds[~held], weights[~held])
        thresholds.append(threshold)
        answered[held] = (scores[held] >= threshold) & ~np.isneginf(scores[held])
    middle = sorted(thresholds)[folds // 2]
    return answered, float(middle) if np.isfinite(middle) else None


def _deal_folds(kinds: Flags, codes: Codes, *, folds: int, seed: int) -> Codes:
    """Return a fold for each case: clusters whole, both kinds spread evenly."""
    count = int(codes.max()) + 1
    mixed = np.bincount(codes, kinds, count) > 0
    order = np.argsort(np.random.PCG64(seed).random_raw(count), kind="stable")
    dealt = np.concatenate([order[mixed[order]], order[~mixed[order]]])
    of_cluster = np.empty(count, dtype=np.int64)
    of_cluster[dealt] = np.arange(count) % folds
    return of_cluster[codes]


class _Risk:
    """Risk against coverage, for any weights of the clusters."""

    def __init__(self, scores: Floats, wrong: Flags, codes: Codes) -> None:
        self.clusters = int(codes.max()) + 1
        self._share = 1 / np.bincount(codes)[codes]
        order = np.argsort(-scores, kind="stable")
        order = order[~np.isneginf(scores[order])]
        self._order = order
        self._codes = codes[order]
        self._wrong = wrong[order].astype(np.float64)
        self._starts = np.flatnonzero(np.diff(scores[order], prepend=np.inf) != 0)
        self._sizes = np.diff(self._starts, append=len(order))
        self.cases = len(order)

    def curve(self) -> tuple[tuple[float, float], ...]:
        """Return coverage and risk after each block of equal scores."""
        if not self.cases:
            return ()
        weights = self._share[self._order]
        mass = np.cumsum(np.add.reduceat(weights, self._starts))
        faults = np.cumsum(np.add.reduceat(weights * self._wrong, self._starts))
        whole = self._share.sum()
        return tuple(zip((mass / whole).tolist(), (faults / mass).tolist(), strict=True))

    def area(self, cluster_weights: Floats) -> Floats:
        """Return the mean risk over the coverages reached; one a row of weights, NaN where nothing weighs.

        Within a block of equal scores the wrong answers are spread evenly: their expected place.
        """
        weights = cluster_weights[:, self._codes] * self._share[self._order]
        mass = np.cumsum(weights, axis=1)
        block = np.add.reduceat(weights, self._starts, axis=1)
        faults = np.add.reduceat(weights * self._wrong, self._starts, axis=1)
        rate = np.nan_to_num(ratio(faults, block))
        heaped = np.cumsum(weights * np.repeat(rate, self._sizes, axis=1), axis=1)
        risk = np.nan_to_num(ratio(heaped, mass))
        total = mass[:, -1]
        return ratio((risk * weights).sum(axis=1), total)


def _estimate_area(risk: _Risk, cases: int, *, level: float, seed: int) -> Estimate:
    if not risk.cases:
        return Estimate(value=None, level=level, left_out=cases, reason="nothing was ever answered")
    area: Callable[[Floats], Floats] = risk.area
    value = float(area(np.ones((1, risk.clusters)))[0])
    large = risk.clusters > LARGE
    replicates = resample(area, risk.clusters, seed=seed, resamples=RESAMPLES // 5 if large else RESAMPLES)
    figure = Estimate(
        value=value,
        level=level,
        n=risk.cases,
        clusters=risk.clusters,
        left_out=cases - risk.cases,
    )
    if not np.nanmax(replicates) - np.nanmin(replicates) > 1e-12:
        return figure.model_copy(update={"reason": "every resample has the same area"})
    influence = np.zeros(1) if large else np.nan_to_num(leave_out(area, risk.clusters))
    low, high = bca_interval(value, replicates, influence, level=level)
    return figure.model_copy(update={"low": max(low, 0.0), "high": min(high, 1.0), "method": "bca", "seed": seed})


def _flags(values: Sequence[bool] | Flags) -> Flags:
    return np.asarray(values, dtype=np.bool_)
