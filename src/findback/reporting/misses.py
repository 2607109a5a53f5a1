"""Missed questions, one entry for each question whoever missed it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from findback.model.evaluation import Evaluation, Miss, RetrieverScores
from findback.reporting.blocks import Block, Missed, Prose
from findback.reporting.figures import plural
from findback.reporting.scored import primary_score

_CUT_OFF = re.compile(r"@([1-9]\d{0,6})\Z")


class _Missing(NamedTuple):
    """A question with those that missed it, in the order of the report."""

    retrievers: tuple[RetrieverScores, ...]
    misses: tuple[Miss, ...]


def cut_off(evaluation: Evaluation) -> int:
    """Return how many documents the primary metric looks at; the depth of the search where it names no number."""
    found = _CUT_OFF.search(evaluation.primary)
    return int(found[1]) if found else evaluation.depth


def miss_blocks(evaluation: Evaluation, *, each: int | None, most: int | None) -> tuple[Block, ...]:
    """Return missed questions, those first that most retrievers missed, and how many are left out.

    Args:
        evaluation: What scoring gave.
        each: Take only so many of each retriever's misses; None takes all.
        most: Show at most so many questions; None shows all that were taken.
    """
    found = _by_question(evaluation)
    taken = {miss.question for retriever in evaluation.retrievers for miss in retriever.miss_examples[:each]}
    ordered = _most_missed_first([missing for question, missing in found.items() if question in taken])
    shown = [_entry(missing, evaluation) for missing in ordered[:most]]
    hidden = len(found) - len(shown)
    if not shown or not hidden:
        return tuple(shown)
    return (*shown, Prose(_say_hidden(evaluation, hidden), "aside"))


def _by_question(evaluation: Evaluation) -> dict[str, _Missing]:
    found: dict[str, _Missing] = {}
    for retriever in evaluation.retrievers:
        for miss in retriever.miss_examples:
            held = found.get(miss.question, _Missing((), ()))
            found[miss.question] = _Missing((*held.retrievers, retriever), (*held.misses, miss))
    return found


def _most_missed_first(missed: Sequence[_Missing]) -> list[_Missing]:
    groups: dict[tuple[str, ...], list[_Missing]] = {}
    for missing in missed:
        groups.setdefault(tuple(retriever.name for retriever in missing.retrievers), []).append(missing)
    return [missing for names in sorted(groups, key=len, reverse=True) for missing in groups[names]]


def _entry(missing: _Missing, evaluation: Evaluation) -> Missed:
    """Return an entry that shows what the best of those that missed the question returned instead."""
    values = [_value(retriever, evaluation.primary) for retriever in missing.retrievers]
    at = values.index(max(values))
    best = missing.misses[at]
    others = tuple(
        (retriever.name, miss.kind)
        for retriever, miss in zip(missing.retrievers, missing.misses, strict=True)
        if miss.kind != best.kind
    )
    names = tuple(retriever.name for retriever in missing.retrievers)
    return Missed(names, missing.retrievers[at].name, best, others, evaluation.set.place)


def _value(retriever: RetrieverScores, metric: str) -> float:
    score = primary_score(retriever, metric)
    estimates = () if score is None else (score.estimate, score.lowest)
    return next((one.value for one in estimates if one is not None and one.value is not None), -1.0)


def _say_hidden(evaluation: Evaluation, hidden: int) -> str:
    clipped = any(sum(count.count for count in r.misses) > len(r.miss_examples) for r in evaluation.retrievers)
    if not clipped:
        return f"{plural(hidden, 'more missed question')} not shown here; JSON (-o FILE.json) holds all of them."
    most = max(len(retriever.miss_examples) for retriever in evaluation.retrievers)
    return (
        f"At least {plural(hidden, 'more missed question')} not shown here; JSON (-o FILE.json) holds up to {most} of "
        "each retriever."
    )
