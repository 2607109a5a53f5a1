"""Questions with the words of documents added: what a glossary does to them."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from findback.text.phrases import list_runs
from findback.text.stems import stem
from findback.text.words import fold, locate_words, words

MOST_WEIGHT = 10
"""Times a question stands in what is searched, at most: more changes nothing and takes longer."""


class Rule(NamedTuple):
    """A question that holds some words is searched with others added; never the other way round."""

    when: str
    add: str


class Expanded(NamedTuple):
    """A question as it is searched."""

    text: str
    """The question itself, then what was added; the question alone where no rule fits."""
    added: tuple[str, ...]
    """What was added, each once, in the order of the rules."""
    rules: tuple[int, ...]
    """Places of the rules that added something."""


class Expander:
    """Adds words to questions.

    A rule fits where its words stand in the question side by side, whatever their inflection. What the question
    holds already is not added, and nothing twice. Rules with other characters than letters, digits, blanks and
    hyphens (`c++`, `.net`) fit where the question holds them just so.
    """

    def __init__(
        self, rules: Iterable[tuple[str, str]], *, language: str | None = None, stems: bool = True, weight: int = 1
    ) -> None:
        """Prepare the rules.

        Args:
            rules: Pairs of the words looked for and those added.
            language: ISO 639-1 code for stems.
            stems: Compare stems instead of words.
            weight: How often the question itself stands in what is searched.
        """
        self._rules = [Rule(*rule) for rule in rules]
        self._language = language if stems else None
        self._weight = weight
        self._added = [frozenset(self._stem(word) for word in words(rule.add)) for rule in self._rules]
        self._by_first: defaultdict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
        self._literal: list[tuple[int, re.Pattern[str]]] = []
        for place, rule in enumerate(self._rules):
            if is_plain(rule.when):
                stemmed = tuple(self._stem(word) for word in words(rule.when))
                self._by_first[stemmed[0]].append((place, stemmed))
            else:
                # Words alone would take `c#` for the letter c.
                self._literal.append((place, re.compile(rf"(?<![\w+#]){re.escape(fold(rule.when))}(?![\w+#])")))

    def expand(self, text: str) -> Expanded:
        """Return a question with what the rules add to it.

        >>> Expander([("hammering", "retry backoff"), ("hammers", "retries")], language="en").expand("it hammers us")
        Expanded(text='it hammers us retry backoff retries', added=('retry backoff', 'retries'), rules=(0, 1))
        """
        held = frozenset(self._stem(word) for word in words(text))
        added: dict[str, int] = {}
        for place in self._fitting(text):
            rule = self._rules[place]
            if not self._added[place] or not self._added[place] <= held:
                added.setdefault(fold(rule.add), place)
        if not added:
            return Expanded(text, (), ())
        chosen = tuple(added.values())
        new = tuple(self._rules[place].add for place in chosen)
        return Expanded(" ".join([text] * self._weight + list(new)), new, chosen)

    def _fitting(self, text: str) -> list[int]:
        """Return the places of the rules that fit, rising."""
        found: set[int] = set()
        for run in list_runs(text):
            stemmed = tuple(self._stem(one.word) for one in run)
            for at, first in enumerate(stemmed):
                for place, wanted in self._by_first.get(first, ()):
                    if stemmed[at : at + len(wanted)] == wanted:
                        found.add(place)
        if self._literal:
            folded = fold(text)
            found.update(place for place, pattern in self._literal if pattern.search(folded))
        return sorted(found)

    def _stem(self, word: str) -> str:
        return stem(word, self._language)


def is_plain(text: str) -> bool:
    """Return whether a text is words alone, with blanks and hyphens between them.

    >>> is_plain("wi-fi card"), is_plain("c++"), is_plain("")
    (True, False, False)
    """
    between, at = "", 0
    located = locate_words(text)
    for one in located:
        between += text[at : one.start]
        at = one.end
    return bool(located) and not (between + text[at:]).strip(" -")
