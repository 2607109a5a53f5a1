"""Word stems by language."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import snowballstemmer

from findback.text.scripts import primary_language

_ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
_LONGEST = 100
"""Longer tokens are no words of a language, and some stemmers take quadratic time over them."""


@lru_cache(maxsize=1 << 16)
def stem(word: str, language: str | None) -> str:
    """Return the stem of a folded word; the word itself for a language without a stemmer.

    Source: the Snowball stemmers; tokens over 100 characters are left as they are.

    >>> stem("policies", "en"), stem("policy", "en"), stem("policies", None)
    ('polici', 'polici', 'policies')
    """
    if language is None or len(word) > _LONGEST:
        return word
    stemmer = _stemmer(primary_language(language))
    if stemmer is None:
        return word
    stemmed: str = stemmer.stemWord(word)
    return stemmed


def stem_all(words: Sequence[str], language: str | None) -> list[str]:
    """Return the stem of each word, in order; much quicker than one by one for a vocabulary."""
    stemmer = None if language is None else _stemmer(primary_language(language))
    if stemmer is None:
        return list(words)
    stems: list[str] = stemmer.stemWords([word if len(word) <= _LONGEST else "" for word in words])
    return [stemmed if len(word) <= _LONGEST else word for word, stemmed in zip(words, stems, strict=True)]


def has_stemmer(language: str) -> bool:
    """Return whether there is a stemmer for a language.

    >>> has_stemmer("de"), has_stemmer("zz")
    (True, False)
    """
    return _stemmer(primary_language(language)) is not None


@lru_cache(maxsize=64)
def _stemmer(language: str) -> Any:
    name = _ALGORITHMS.get(language)
    # An older library may lack a newer language.
    if name is None or name not in snowballstemmer.algorithms():
        return None
    return snowballstemmer.stemmer(name)
