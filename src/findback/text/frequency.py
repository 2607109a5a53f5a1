"""How common words are in a language."""

from functools import lru_cache

from findback.text.languages import load_stop_words
from findback.text.scripts import is_written_as_bigrams, primary_language
from findback.text.words import fold

FREQUENT = 3000
"""How many words of a language count as common."""
FUNCTION_WORDS = 100
"""How many of the most frequent words stand in for function words where no list of them is shipped."""


@lru_cache(maxsize=32)
def list_frequent_words(language: str | None, count: int = FREQUENT) -> frozenset[str] | None:
    """Return the most frequent words of a language, folded.

    Returns:
        None for an unknown language, one without a list, and one written as bigrams: the list's words are
        then other units than ours.

    Source: wordfreq (its best list for the language).
    """
    ranked = _rank_words(language, count)
    return None if ranked is None else frozenset(ranked)


@lru_cache(maxsize=32)
def list_function_words(language: str | None) -> frozenset[str]:
    """Return the words of a language that carry no content; empty where nothing is known about it."""
    if language is None:
        return frozenset()
    listed = load_stop_words().get(primary_language(language))
    if listed is not None:
        return listed
    return frozenset(_rank_words(language, FUNCTION_WORDS) or ())


@lru_cache(maxsize=8)
def list_known_words(language: str | None) -> frozenset[str] | None:
    """Return every word wordfreq knows of a language, folded; None as in `list_frequent_words`."""
    ranked = _rank_words(language, 1_000_000)
    return None if ranked is None else frozenset(ranked)


def _rank_words(language: str | None, count: int) -> tuple[str, ...] | None:
    if language is None or is_written_as_bigrams(language):
        return None
    # 0.2 s to import: only commands that measure wording pay for it.
    import wordfreq  # noqa: PLC0415

    primary = primary_language(language)
    known = {"no": "nb", "nn": "nb", "sr": "sh", "hr": "sh", "bs": "sh", "tl": "fil"}.get(primary, primary)
    if known not in wordfreq.available_languages():
        return None
    return tuple(fold(word) for word in wordfreq.top_n_list(known, count))
