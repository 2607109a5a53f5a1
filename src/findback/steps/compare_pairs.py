"""From scores side by side to a verdict on each pair."""

from collections.abc import Collection, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from findback.measure.bootstrap import RESAMPLES
from findback.measure.clusters import FEWEST_CLUSTERS, Floats
from findback.measure.intervals import too_few
from findback.measure.paired import PairDifference, adjust_holm, compare_pair
from findback.measure.power import count_units_to_tell, count_units_to_tie, detectable_difference
from findback.measure.selection import count_selected, qualify
from findback.measure.verdicts import Judged, join_extremes, judge_difference
from findback.model.case import Stratum
from findback.model.compared import ComparedPair, Needed, Outcome, StratumDifference, Verdict
from findback.model.estimate import Estimate
from findback.steps.paired_scores import Pair, PairedScores
from findback.steps.scores import silence

STRATA: tuple[Stratum, ...] = ("failure", "control")
_NEAR = 1e-9


class Terms(NamedTuple):
    """What verdicts are given by."""

    margin: float
    baseline: int | None = None
    """Column all others are compared with; None where every pair is."""
    known: Collection[str] = ()
    """Names of retrievers that are none of those compared."""
    production: str | None = None
    """Name of the system people use."""
    resamples: int = RESAMPLES


class Bounds(NamedTuple):
    """A pair's difference at its least and at its most: one and the same without failed searches."""

    lowest: PairDifference
    highest: PairDifference
    p: float | None
    """Adjusted probability: the larger of both, 1 where they point in different directions."""
    errors: int

    @property
    def low(self) -> float | None:
        """Return the lower end of the simultaneous interval."""
        return self.lowest.low

    @property
    def high(self) -> float | None:
        """Return the upper end of the simultaneous interval."""
        return self.highest.high

    def estimate(self) -> Estimate:
        """Return the difference; without a value where a search failed."""
        return silence(self.lowest.estimate, self.errors) if self.errors else self.lowest.estimate

    def judge(self, margin: float) -> Judged:
        """Return the verdict, that of both bounds where a search failed."""
        lowest = judge_difference(self.lowest, self.p, margin=margin)
        if not self.errors:
            return lowest
        return join_extremes(lowest, judge_difference(self.highest, self.p, margin=margin), self.errors)


def order_systems(paired: PairedScores) -> list[int]:
    """Return the columns, the highest mean first; with failed searches by the middle of the bounds."""
    middles = (_mean(paired.low) + _mean(paired.high)) / 2
    return sorted(range(len(paired.names)), key=lambda at: (-middles[at], at))


def _mean(values: Floats) -> Floats:
    defined = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    return np.asarray(np.nansum(values, axis=0) / defined, dtype=np.float64)


def list_pairs(paired: PairedScores, baseline: int | None) -> list[Pair]:
    """Return the pairs to compare: each with the baseline, or every two, the higher one first."""
    order = order_systems(paired)
    if baseline is not None:
        return [(at, baseline) for at in order if at != baseline]
    return [(one, other) for place, one in enumerate(order) for other in order[place + 1 :]]


def bound_pairs(paired: PairedScores, pairs: Sequence[Pair], terms: Terms) -> list[Bounds]:
    """Return each pair's difference with interval and probability adjusted for how many pairs there are."""
    found = paired.bound_pairs(pairs, resamples=terms.resamples)
    errors = [paired.count_failed(pair) for pair in pairs]
    if terms.baseline is None:
        chances = [_join(low, high, low.p, high.p) for low, high in found]
    else:
        alone = [_flip(paired, pair, low, high, terms) for pair, (low, high) in zip(pairs, found, strict=True)]
        known = [p for p in alone if p is not None]
        adjusted = iter(adjust_holm(known))
        chances = [None if p is None else next(adjusted) for p in alone]
    return [Bounds(low, high, p, failed) for (low, high), p, failed in zip(found, chances, errors, strict=True)]


def _join(low: PairDifference, high: PairDifference, p_low: float | None, p_high: float | None) -> float | None:
    if p_low is None or p_high is None or low.estimate.value is None or high.estimate.value is None:
        return None
    agree = low.estimate.value * high.estimate.value > 0 or low is high
    return max(p_low, p_high) if agree else 1.0


def _flip(paired: PairedScores, pair: Pair, low: PairDifference, high: PairDifference, terms: Terms) -> float | None:
    """Return the probability of one pair by itself."""
    first, second = pair

    def chance(one: Floats, other: Floats) -> float | None:
        return compare_pair(
            one[:, first],
            other[:, second],
            paired.clusters,
            paired.golds,
            seed=paired.seed,
            resamples=terms.resamples,
        ).p

    least = chance(paired.low, paired.high)
    return _join(low, high, least, least if low is high else chance(paired.high, paired.low))


def judge_pairs(paired: PairedScores, terms: Terms) -> tuple[ComparedPair, ...]:
    """Return every pair with its verdict.

    Args:
        paired: The primary metric.
        terms: What verdicts are given by.
    """
    pairs = list_pairs(paired, terms.baseline)
    bounds = bound_pairs(paired, pairs, terms)
    strata = _judge_strata(paired, pairs, bounds, terms)
    selected = count_against(paired, terms)
    judged = []
    for pair, bound, parts in zip(pairs, bounds, strata, strict=True):
        names = paired.names[pair[0]], paired.names[pair[1]]
        plain, why = bound.judge(terms.margin)
        control = next((part for part in parts if part.record.stratum == "control"), None)
        alone = None if control is None else control.record.verdict
        verdict = qualify(plain, (selected[names[0]], selected[names[1]]), alone)
        needed = count_needed(bound, verdict, terms.margin)
        if verdict != plain:
            needed = _count_controls(control, terms.margin)
        gaps = paired.subtract(pair)
        judged.append(
            ComparedPair(
                first=names[0],
                second=names[1],
                difference=bound.estimate(),
                lowest=bound.lowest.estimate if bound.errors else None,
                highest=bound.highest.estimate if bound.errors else None,
                low=bound.low,
                high=bound.high,
                p=bound.p,
                verdict=verdict,
                why=why,
                detectable=find_detectable(bound),
                wins=int((gaps > _NEAR).sum()),
                ties=int((np.abs(gaps) <= _NEAR).sum()),
                losses=int((gaps < -_NEAR).sum()),
                needed=needed,
                strata=tuple(part.record for part in parts),
            )
        )
    return tuple(judged)


def count_against(paired: PairedScores, terms: Terms) -> dict[str, int]:
    """Return for each system how many of the cases were selected on its failure, or may have been."""
    cases = [(question.stratum, question.selected_on) for question in paired.questions]
    return count_selected(cases, paired.names, known=terms.known, production=terms.production)


def count_nameless(paired: PairedScores, terms: Terms) -> int:
    """Return how many failure cases name no system that is known: they count against the production system."""
    known = {*paired.names, *terms.known}
    return sum(one.stratum == "failure" and one.selected_on not in known for one in paired.questions)


class _Stratum(NamedTuple):
    """A pair on one stratum."""

    record: StratumDifference
    bound: Bounds


def _judge_strata(
    paired: PairedScores, pairs: Sequence[Pair], whole: Sequence[Bounds], terms: Terms
) -> list[tuple[_Stratum, ...]]:
    """Return each pair's difference on failure and on control cases; nothing where the set names no stratum."""
    rows = paired.group_rows(lambda question: question.stratum)
    columns = []
    for stratum in STRATA:
        if stratum not in rows:
            continue
        part = paired.take(rows[stratum])
        bounds = whole if len(rows) == 1 else bound_pairs(part, pairs, terms)
        columns.append([_Stratum(_describe(stratum, part, bound, terms.margin), bound) for bound in bounds])
    return [tuple(column[at] for column in columns) for at in range(len(pairs))]


def _describe(stratum: Stratum, part: PairedScores, bound: Bounds, margin: float) -> StratumDifference:
    return StratumDifference(
        stratum=stratum,
        cases=len(part.questions),
        difference=bound.estimate(),
        low=bound.low,
        high=bound.high,
        verdict=bound.judge(margin).verdict,
    )


def _count_controls(control: _Stratum | None, margin: float) -> Needed:
    """Return how many more control cases would show whether an advantage on past failures is an everyday one."""
    if control is None:
        return Needed(cases=None, control=True, reason="control cases: the set has none")
    needed = count_needed(control.bound, control.record.verdict, margin)
    if needed is None:
        return Needed(cases=None, control=True, reason=f"the control cases alone say: {control.record.verdict}")
    return needed.model_copy(update={"control": True})


def find_detectable(bound: Bounds) -> float | None:
    """Return the difference that this many cases would find in 8 of 10 sets; None where none in range would be.

    With failed searches it is the larger one of both bounds.
    """
    sizes = []
    for found in (bound.lowest, bound.highest):
        if found.error is None or found.critical is None or found.units < FEWEST_CLUSTERS:
            return None
        sizes.append(detectable_difference(found.error, found.critical, found.units - 1))
    return max(sizes) if max(sizes) <= 1 else None


def count_needed(bound: Bounds, verdict: Verdict, margin: float) -> Needed | None:
    """Return how many more cases would settle an open pair; None where it is settled."""
    if verdict not in ("cannot tell", "too few"):
        return None
    found, estimate = bound.lowest, bound.lowest.estimate
    if bound.errors:
        return Needed(cases=None, reason="failed searches first: ask again")
    if verdict == "too few":
        return Needed(cases=None, reason=too_few(found.units, "clusters"))
    if estimate.value is None or found.error is None or found.critical is None:
        return Needed(cases=None, reason=estimate.reason or "the spread of the differences is not known")
    given = estimate.value, found.error, found.units, found.critical
    tell, tie = count_units_to_tell(*given), count_units_to_tie(*given, margin)
    wanted = min((count for count in (tell, tie) if count is not None), default=None)
    if wanted is None:
        return Needed(cases=None, reason="more than ten million")
    outcome: Outcome = "tied" if wanted == tie else "better" if estimate.value > 0 else "worse"
    # A spread seen on fewer than eight differing units is none to go by before eight differ.
    wanted = max(wanted, found.units + 1, ceil(found.units * FEWEST_CLUSTERS / max(found.differing, 1)))
    return Needed(cases=ceil((wanted - found.units) * estimate.n / found.units), outcome=outcome)
