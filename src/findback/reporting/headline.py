"""What an evaluation shows, in a few sentences that claim no order its intervals do not carry."""

from collections.abc import Sequence
from math import isclose
from typing import NamedTuple

from findback.model.estimate import Estimate
from findback.model.evaluation import Evaluation, RetrieverScores, Score
from findback.reporting.figures import basis, estimate_cell, figure, plural, score_cell, spoken, whole
from findback.reporting.scored import metric_label, primary_score

_NAMED = 3
"""Most retrievers a part of the sentence names."""
_PAIRED = "only a paired comparison can tell them apart"


class Entrant(NamedTuple):
    """A retriever with its mean."""

    name: str
    value: float
    estimate: Estimate

    @property
    def said(self) -> str:
        """Return name and figure as they stand in a sentence."""
        return f"{self.name} {self.shown}"

    @property
    def shown(self) -> str:
        """Return the figure as it stands in a sentence."""
        return spoken(estimate_cell(self.estimate))


def headline(evaluation: Evaluation) -> str:
    """Say in a few sentences what the primary metric shows, and no more than it shows."""
    label = metric_label(evaluation, evaluation.primary)
    entrants: list[Entrant] = []
    dead: list[str] = []
    bounded: list[str] = []
    for retriever in evaluation.retrievers:
        score = primary_score(retriever, evaluation.primary)
        if score is not None and score.estimate.value is not None:
            entrants.append(Entrant(retriever.name, score.estimate.value, score.estimate))
        elif retriever.failed and retriever.failed >= (retriever.asked or evaluation.set.questions):
            dead.append(_say_dead(label, retriever))
        else:
            bounded.append(_say_bounded(label, retriever, score))
    entrants.sort(key=lambda entrant: -entrant.value)
    ranked = [_say_order(label, entrants, alone=not (dead or bounded))] if entrants else []
    return " ".join((*dead, *ranked, *bounded)) or "Nothing was scored."


def _say_dead(label: str, retriever: RetrieverScores) -> str:
    kind = f": {retriever.errors[0].kind}" if retriever.errors else ""
    return f"Every search of {retriever.name} failed ({whole(retriever.failed)}{kind}), so it has no {label}."


def _say_bounded(label: str, retriever: RetrieverScores, score: Score | None) -> str:
    cell = score_cell(score, errors=retriever.failed)
    if cell.reach is None:
        return f"{retriever.name} has no {label}: {cell.note}."
    return (
        f"{retriever.name} failed on {plural(retriever.failed, 'question')}; its {label} lies within "
        f"{cell.text} if those are counted as missed or as found."
    )


def _say_order(label: str, entrants: Sequence[Entrant], *, alone: bool) -> str:
    """Say who stands where.

    Args:
        label: How the metric is called.
        entrants: Those with a mean, the highest first.
        alone: Whether nobody else took part, of whom only bounds are known.
    """
    best = entrants[0]
    rests = basis(best.estimate)
    if len(entrants) == 1:
        return f"{label} of {best.name}: {best.shown}, {rests}."
    if isclose(best.value, entrants[-1].value, abs_tol=1e-9):
        return _say_tie(label, entrants, alone=alone)
    among = "" if alone else f"Of the {len(entrants)} retrievers with a mean, "
    if any(entrant.estimate.low is None or entrant.estimate.high is None for entrant in entrants):
        worst = entrants[-1]
        return (
            f"{among}{label} runs from {worst.shown} ({worst.name}) to {best.shown} ({best.name}), {rests}: "
            "without an interval for each of them no order can be told."
        )
    first = [entrant for entrant in entrants if isclose(entrant.value, best.value, abs_tol=1e-9)]
    rivals = [other for other in entrants[len(first) :] if _overlap(first, other)]
    rest = [other for other in entrants[len(first) :] if other not in rivals]
    parts = [among + _say_first(label, first)]
    if rivals:
        parts.append(f"{_say_rivals(first, rivals)}: {_PAIRED}")
    elif len(first) > 1:
        parts[0] += f": {_PAIRED}"
    if rest:
        parts.append(_say_rest(entrants, rest))
    return f"{'; '.join(parts)} ({rests})."


def _say_tie(label: str, entrants: Sequence[Entrant], *, alone: bool) -> str:
    who = "Both" if len(entrants) == 2 else f"All {len(entrants)}"
    kept = " retrievers" if alone else " retrievers with a mean"
    shown = {entrant.shown for entrant in entrants}
    value = shown.pop() if len(shown) == 1 else figure(entrants[0].value)
    return f"{who}{kept} have the same {label}, {value} ({basis(entrants[0].estimate)})."


def _say_first(label: str, first: Sequence[Entrant]) -> str:
    if len(first) == 1:
        return f"{first[0].name} has the highest {label}, {first[0].shown}"
    return f"{_listed(first)} share the highest {label}"


def _say_rivals(first: Sequence[Entrant], rivals: Sequence[Entrant]) -> str:
    """Say whose figure lies in the best's interval, and whose interval overlaps with it."""
    within = [other for other in rivals if len(first) == 1 and _holds(first[0].estimate, other.value)]
    beside = [other for other in rivals if other not in within]
    parts = [f"{_listed(within)} {'is' if len(within) == 1 else 'are'} within its interval"] if within else []
    if beside:
        theirs = "it" if within else f"that of {first[0].name}" if len(first) == 1 else "theirs"
        verb = "the interval of {} overlaps with {}" if len(beside) == 1 else "the intervals of {} overlap with {}"
        parts.append(verb.format(_listed(beside), theirs))
    return " and ".join(parts)


def _say_rest(entrants: Sequence[Entrant], rest: Sequence[Entrant]) -> str:
    """Say who lies surely lower; only one whose interval lies below every other is called the lowest."""
    last = rest[-1]
    if not any(_overlap([other], last) for other in entrants if other is not last):
        return f"{last.name} is lowest, {last.shown}"
    return f"{_listed(rest)} {'lies' if len(rest) == 1 else 'lie'} lower"


def _overlap(upper: Sequence[Entrant], lower: Entrant) -> bool:
    """Return whether an interval reaches into one of those above, as far as printed figures tell."""
    return any(_printed(lower.estimate.high, 1.0) >= _printed(one.estimate.low, 0.0) for one in upper)


def _holds(estimate: Estimate, value: float) -> bool:
    return _printed(estimate.low, 0.0) <= value <= _printed(estimate.high, 1.0)


def _printed(end: float | None, without: float) -> float:
    return without if end is None else round(end, 2)


def _listed(entrants: Sequence[Entrant]) -> str:
    said = [entrant.said for entrant in entrants[:_NAMED]]
    if len(entrants) > _NAMED:
        said.append(f"{len(entrants) - _NAMED} more")
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
