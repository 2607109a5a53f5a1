"""Languages: guessed from script and function words, never from less."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import repeat
from typing import Any, TypeAlias

from findback.text.scripts import count_scripts, find_dominant_script
from findback.text.words import words

Counts: TypeAlias = Any
"""Whole numbers, or arrays of them."""

_LANGUAGE_OF_SCRIPT = {
    "Hang": "ko", "Thai": "th", "Laoo": "lo", "Khmr": "km", "Mymr": "my", "Grek": "el", "Hebr": "he",
    "Armn": "hy", "Geor": "ka", "Beng": "bn", "Guru": "pa", "Gujr": "gu", "Orya": "or", "Taml": "ta",
    "Telu": "te", "Knda": "kn", "Mlym": "ml", "Sinh": "si", "Ethi": "am",
}  # fmt: skip
_MIN_HAN = 30
_MIN_STOP_WORDS = 2
SAMPLED = 400
"""Characters of a text whose words and letters are looked at; scripts are counted in more."""
_NO_EVIDENCE = frozenset({"com"})
"""Web addresses hold it, in texts of every language."""


@lru_cache(maxsize=1)
def load_stop_words() -> dict[str, frozenset[str]]:
    """Return the function words of the seven languages findback ships them for."""
    path = files("findback.text") / "data" / "stop_words.toml"
    lists: dict[str, str] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {language: frozenset(text.split()) for language, text in lists.items()}


def guess_language(text: str) -> str | None:
    """Return the language of a text where script or function words make it plain.

    Returns:
        An ISO 639-1 code, or None. Few function words, or nearly as many of another language, are no
        evidence: a short query is often None, and that is the honest answer.

    >>> guess_language("how do I reset the password when it is expired")
    'en'
    >>> guess_language("パスワードを忘れました"), guess_language("vpn timeout")
    ('ja', None)
    """
    script = "Latn" if text.isascii() else find_dominant_script(text)
    if script == "Jpan":
        return _tell_japanese_from_chinese(text)
    if script == "Cyrl":
        return _tell_cyrillic(text)
    if script != "Latn":
        return None if script is None else _LANGUAGE_OF_SCRIPT.get(script)
    return guess_latin_language(words(text[:SAMPLED]))


def main_language(languages: Iterable[str | None], default: str = "en") -> str:
    """Return the language that most texts are in, the first by its code of equals; a default where none is known.

    >>> main_language(["de", None, "en", "de"]), main_language([None])
    ('de', 'en')
    """
    counted = Counter(language for language in languages if language)
    return min(counted, key=lambda language: (-counted[language], language), default=default)


def guess_latin_language(tokens: Sequence[str]) -> str | None:
    """Return the Latin-script language whose function words are plainly the most frequent, else None.

    Each distinct word counts once.
    """
    seen = set(tokens)
    total = sum(map(_weigh_stop_words().get, seen, repeat(0)))
    if total == 0:
        return None
    counts = [(total >> (16 * place) & 0xFFFF, language) for place, language in enumerate(load_stop_words())]
    (second, _), (best, language) = sorted(counts)[-2:]
    return language if is_plain(best, second, len(seen)) else None


def is_plain(best: Counts, second: Counts, seen: Counts) -> Counts:
    """Say whether the function words of one language are plainly the most frequent; arrays give an array.

    Args:
        best: Distinct words of the text that are function words of the language with most of them.
        second: The same for the language next to it.
        seen: Distinct words of the text.
    """
    return (best >= _MIN_STOP_WORDS) & (best >= seen / 10) & (best >= 1.5 * second)


@lru_cache(maxsize=1)
def list_evidence() -> dict[str, int]:
    """Return each function word with a bit set for every language that has it, in the order of `load_stop_words`."""
    evidence: dict[str, int] = {}
    for place, listed in enumerate(load_stop_words().values()):
        for word in listed - _NO_EVIDENCE:
            evidence[word] = evidence.get(word, 0) | 1 << place
    return evidence


@lru_cache(maxsize=1)
def _weigh_stop_words() -> dict[str, int]:
    """Return each function word with a one in the 16-bit field of every language that has it.

    Adding these numbers up counts all languages in one pass.
    """
    places = range(len(load_stop_words()))
    return {
        word: sum(1 << (16 * place) for place in places if languages >> place & 1)
        for word, languages in list_evidence().items()
    }


def _tell_japanese_from_chinese(text: str) -> str | None:
    counts = count_scripts(text)
    if counts["Kana"] > 0.05 * counts["Hani"]:
        return "ja"
    # A few Han characters alone may be either.
    return "zh" if counts["Hani"] >= _MIN_HAN else None


def _tell_cyrillic(text: str) -> str | None:
    letters = set(text[:SAMPLED].lower())
    if letters & set("їєґ"):
        return "uk"
    if letters & set("ыэё"):
        return "ru" if not letters & set("іў") else None
    return None
