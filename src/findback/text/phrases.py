"""Phrases: a few words in a row that carry content."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from findback.text.frequency import list_function_words
from findback.text.stems import stem
from findback.text.words import Word, is_bigram, locate_words

LONGEST = 3
"""Most words of a phrase."""
_JOINED = re.compile(r"[ \t\u00a0]{0,3}(?:-[ \t\u00a0]?)?")
"""What may stand between two words of a phrase: blanks or a hyphen, never a placeholder or the end of a sentence."""


class Phrase(NamedTuple):
    """A phrase where it stands in a text."""

    stems: str
    """Its stems, with blanks between them: what phrases are compared by."""
    words: Sequence[Word]


def find_phrases(text: str, language: str | None, *, longest: int = LONGEST) -> dict[str, str]:
    """Return the distinct phrases of a text as stems, each with the words it is first written with.

    >>> find_phrases("Printer jams, out of paper!", "en")
    {'printer': 'printer', 'printer jam': 'printer jams', 'jam': 'jams', 'paper': 'paper'}
    """
    found: dict[str, str] = {}
    for phrase in list_phrases(text, language, longest=longest):
        if phrase.stems not in found:
            found[phrase.stems] = write_words(text, phrase.words)
    return found


def list_phrases(text: str, language: str | None, *, longest: int = LONGEST) -> Iterator[Phrase]:
    """Yield the phrases of a text in order, repeats included.

    A phrase neither begins nor ends with a function word or a single letter, and holds no placeholder, line end or
    sentence mark. A number of one or two digits alone is none.
    """
    function_words = list_function_words(language)
    for run in list_runs(text):
        stems = [stem(one.word, language) for one in run]
        telling = [one.word not in function_words and _is_content(one.word) for one in run]
        for first in range(len(run)):
            if not telling[first]:
                continue
            for last in range(first, min(first + longest, len(run))):
                if telling[last] and not (first == last and _is_small_number(run[first].word)):
                    yield Phrase(" ".join(stems[first : last + 1]), run[first : last + 1])


def list_runs(text: str) -> Iterator[list[Word]]:
    """Yield the words of a text in runs: within one only blanks and hyphens stand between words.

    >>> [[word.word for word in run] for run in list_runs("set-up fails; ask ⟦USER_1⟧ now")]
    [['set', 'up', 'fails'], ['ask'], ['now']]
    """
    located = locate_words(text)
    starts = [0, *(at for at, (one, other) in enumerate(pairwise(located), 1) if not _is_beside(text, one, other))]
    for start, end in zip(starts, [*starts[1:], len(located)], strict=True):
        if start < end:
            yield located[start:end]


def write_words(text: str, run: Sequence[Word]) -> str:
    """Return a stretch of a text from its first word to its last, in lower case, with single blanks.

    >>> write_words("Wi-Fi  Card", locate_words("Wi-Fi  Card"))
    'wi-fi card'
    """
    return " ".join(unicodedata.normalize("NFC", text[run[0].start : run[-1].end]).lower().split())


def _is_beside(text: str, one: Word, other: Word) -> bool:
    return other.start <= one.end or _JOINED.fullmatch(text, one.end, other.start) is not None


def _is_content(word: str) -> bool:
    return len(word) > 1 or word.isdigit() or is_bigram(word)


def _is_small_number(word: str) -> bool:
    return word.isdigit() and len(word) < 3
