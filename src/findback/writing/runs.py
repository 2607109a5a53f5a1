"""Runs of words that two texts share."""

from collections.abc import Iterable, Sequence

from findback.text.words import is_bigram, words

BIGRAMS_TO_A_WORD = 2
"""Pairs of characters that weigh as much as a word in a text written without spaces."""


class Runs:
    """Every run of a number of words that stands in some texts.

    >>> runs = Runs(["Print the gate pass before the driver arrives."], 4)
    >>> runs.find("please print the gate pass"), runs.find("print a gate pass")
    ('print the gate pass', None)
    """

    def __init__(self, texts: Iterable[str], size: int) -> None:
        """Collect the runs.

        Args:
            texts: Where they stand.
            size: Words of a run; a run of character pairs is twice as long.
        """
        self._size = size
        self._runs: frozenset[tuple[str, ...]] = frozenset(run for text in texts for run in _list_runs(text, size))

    def find(self, text: str) -> str | None:
        """Return the first run of a text that stands in the others, or None."""
        return next((" ".join(run) for run in _list_runs(text, self._size) if run in self._runs), None)


def _list_runs(text: str, size: int) -> Iterable[tuple[str, ...]]:
    tokens = words(text)
    weights = [1 if is_bigram(token) else BIGRAMS_TO_A_WORD for token in tokens]
    end, weight = 0, 0
    for start in range(len(tokens)):
        while end < len(tokens) and weight < size * BIGRAMS_TO_A_WORD:
            weight += weights[end]
            end += 1
        if weight < size * BIGRAMS_TO_A_WORD:
            return
        yield tuple(tokens[start:end])
        weight -= weights[start]


def longest_in_order(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many words of the first stand in the second in the same order, with others between.

    >>> longest_in_order(["retry", "wait", "stop"], ["wait", "then", "retry", "stop"])
    2
    """
    row = [0] * (len(second) + 1)
    for word in first:
        before = 0
        for place, other in enumerate(second, 1):
            here = row[place]
            row[place] = before + 1 if word == other else max(here, row[place - 1])
            before = here
    return row[-1]
