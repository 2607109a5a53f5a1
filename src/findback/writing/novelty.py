"""The novelty filter: does a case like this one exist already?"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from collections.abc import Set as AbstractSet
from math import ceil
from typing import Literal

from findback.measure.containment import find_content_words
from findback.model.written import Rejection
from findback.text.languages import guess_language
from findback.text.shingles import shingle_hashes
from findback.text.words import is_bigram, words

ALIKE = 0.8
"""Share of distinct character runs two texts have in common, from which they are near-duplicates: from there on
cases count as one in a set too."""
CONTAINED = 0.9
"""Share of a text's content words that another one holds, from which it says nothing new."""
FEWEST_WORDS = 5
"""Content words of the shorter one from which that share says anything; pairs of characters count half."""

Repeat = Literal["repeats another text", "same words as another text"]

_TOLD: dict[Repeat, str] = {
    "repeats another text": "The same was written before. Start from another moment or another wish of the person.",
    "same words as another text": "It uses the same words as a text written before. Start from another moment or "
    "another wish of the person.",
}


class Index:
    """Finds kept sets that share elements with another one."""

    def __init__(self) -> None:
        self._sets: list[AbstractSet[Hashable]] = []
        self._holders: defaultdict[Hashable, list[int]] = defaultdict(list)

    def add(self, elements: AbstractSet[Hashable]) -> None:
        """Keep a set."""
        for element in elements:
            self._holders[element].append(len(self._sets))
        self._sets.append(elements)

    def list_alike(self, elements: AbstractSet[Hashable], least: float) -> list[AbstractSet[Hashable]]:
        """Return every kept set that holds at least a share of these elements, and maybe others.

        Such a set holds one of the rarest few; only those are looked up.
        """
        rarest = sorted(elements, key=lambda element: len(self._holders.get(element, ())))
        prefix = rarest[: len(elements) - ceil(least * len(elements)) + 1]
        return [self._sets[place] for place in {one for element in prefix for one in self._holders.get(element, ())}]

    def count_shared(self, elements: AbstractSet[Hashable]) -> list[tuple[AbstractSet[Hashable], int]]:
        """Return every kept set that shares an element, with how many it shares."""
        shared = Counter(place for element in elements for place in self._holders.get(element, ()))
        return [(self._sets[place], count) for place, count in shared.items()]


class Novelty:
    """Remembers the texts there are, and tells which say nothing new.

    >>> novelty = Novelty(["My badge opens no door since the battery was changed."])
    >>> novelty.reject("my badge opens no door, since the battery was changed").reason
    'repeats another text'
    >>> novelty.reject("The lift stops between floors and nobody answers.") is None
    True
    """

    def __init__(self, known: Iterable[str]) -> None:
        """Remember texts.

        Args:
            known: Queries of the set, of the workbench, and whatever else there is.
        """
        self._shingles, self._words = Index(), Index()
        for text in known:
            self.add(text)

    def add(self, text: str, language: str | None = None) -> None:
        """Remember one more text."""
        shingles = _find_shingles(text)
        if shingles:
            self._shingles.add(shingles)
        content = _find_content(text, language)
        if _weigh(content) >= FEWEST_WORDS:
            self._words.add(content)

    def reject(self, text: str, language: str | None = None) -> Rejection | None:
        """Return why a text is no new one, or None.

        Args:
            text: What was written.
            language: Of the text, where known.
        """
        reason = self._find_repeat(text, language)
        return None if reason is None else Rejection(by="novelty", reason=reason, told=_TOLD[reason])

    def _find_repeat(self, text: str, language: str | None) -> Repeat | None:
        shingles = _find_shingles(text)
        for other in self._shingles.list_alike(shingles, ALIKE) if shingles else ():
            shared = len(shingles & other)
            if shared >= ALIKE * (len(shingles) + len(other) - shared):
                return "repeats another text"
        content = _find_content(text, language)
        if _weigh(content) < FEWEST_WORDS:
            return None
        for other, shared in self._words.count_shared(content):
            if shared >= CONTAINED * min(len(content), len(other)):
                return "same words as another text"
        return None


def _find_shingles(text: str) -> AbstractSet[Hashable]:
    return frozenset(shingle_hashes(" ".join(words(text))).tolist())


def _find_content(text: str, language: str | None) -> AbstractSet[Hashable]:
    return frozenset(find_content_words(text, language or guess_language(text)).values())


def _weigh(content: AbstractSet[Hashable]) -> float:
    return sum(0.5 if is_bigram(str(word)) else 1.0 for word in content)
