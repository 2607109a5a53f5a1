"""The searches of one visit that are about the same need."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from findback.text.frequency import list_function_words
from findback.text.languages import guess_language
from findback.text.stems import stem_all
from findback.text.words import fold, words

_ALIKE = 0.5
"""Share of letter pairs, by Dice, from which two searches are spellings of one."""


class Step(NamedTuple):
    """One finished search of a visit and what was clicked for it."""

    event_id: str
    query: str
    clicked: tuple[str, ...] = ()


def group_by_need(steps: Iterable[Step]) -> list[list[Step]]:
    """Return the steps in runs that are each about one need, in order.

    A search belongs to the run before it when it shares a content word with any search of it or is spelled much
    like one. What a multi-part question searches for has nothing in common and falls apart.

    >>> [len(run) for run in group_by_need(map(Step, "abc", ["vpn setup", "set up vpn mac", "lunch menu"]))]
    [2, 1]
    """
    runs: list[list[Step]] = []
    seen: list[tuple[frozenset[str], frozenset[str]]] = []
    for step in steps:
        looks = (content_stems(step.query), letter_pairs(step.query))
        if not runs or not any(_belong(looks, other) for other in seen):
            runs.append([])
            seen = []
        runs[-1].append(step)
        seen.append(looks)
    return runs


def count_distinct(steps: Sequence[Step]) -> int:
    """Return how many different texts the steps have, case and spacing aside."""
    return len({" ".join(fold(step.query).split()) for step in steps})


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words that carry content; of all its words where none does."""
    language = guess_language(text) or "en"
    tokens = words(text)
    content = [word for word in tokens if word not in list_function_words(language)]
    return frozenset(stem_all(content or tokens, language))


def letter_pairs(text: str) -> frozenset[str]:
    """Return the pairs of neighbouring letters, spaces left out.

    >>> sorted(letter_pairs("Vp n"))
    ['pn', 'vp']
    """
    letters = "".join(words(text))
    return frozenset(letters[at : at + 2] for at in range(len(letters) - 1))


def _belong(one: tuple[frozenset[str], frozenset[str]], other: tuple[frozenset[str], frozenset[str]]) -> bool:
    if one[0] & other[0]:
        return True
    total = len(one[1]) + len(other[1])
    return total > 0 and 2 * len(one[1] & other[1]) / total >= _ALIKE
