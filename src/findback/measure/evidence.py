"""Languages of many texts at once, guessed from their function words."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from findback.text.languages import is_plain, list_evidence, load_stop_words


def guess_languages(
    codes: NDArray[np.int32], counts: NDArray[np.int64], vocabulary: Mapping[str, int]
) -> list[str | None]:
    """Return what `guess_latin_language` says of each text's words.

    Args:
        codes: The words of all texts behind each other, as codes of the vocabulary.
        counts: How many of them each text has.
        vocabulary: The code of every word.

    >>> vocabulary = {"where": 0, "is": 1, "the": 2, "vpn": 3}
    >>> guess_languages(np.array([0, 1, 2, 3, 3]), np.array([4, 1]), vocabulary)
    ['en', None]
    """
    marks = _mark_evidence(vocabulary)
    words = np.sort(np.repeat(np.arange(len(counts)), counts) << 32 | codes)
    distinct = words[np.diff(words, prepend=-1) != 0]
    texts, speaks_for = distinct >> 32, marks.take(distinct & 0xFFFFFFFF)
    languages = list(load_stop_words())
    votes = np.stack(
        [np.bincount(texts[speaks_for >> place & 1 != 0], minlength=len(counts)) for place in range(len(languages))]
    )
    second, best = np.sort(votes, axis=0)[-2:]
    plain = is_plain(best, second, np.bincount(texts, minlength=len(counts)))
    return [
        languages[place] if sure else None
        for place, sure in zip(votes.argmax(axis=0).tolist(), plain.tolist(), strict=True)
    ]


def _mark_evidence(vocabulary: Mapping[str, int]) -> NDArray[np.uint16]:
    """Return by word code which languages a word is evidence of, one bit each."""
    marks = np.zeros(len(vocabulary), dtype=np.uint16)
    for word, languages in list_evidence().items():
        # A vocabulary may give a word that is asked for a number.
        if word in vocabulary:
            marks[vocabulary[word]] = languages
    return marks
