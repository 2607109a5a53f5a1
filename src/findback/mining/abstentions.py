"""Assistants that say they found nothing."""

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

from findback.mining.folding import fold, own_words

_BEGINNING = 1_200
_FOLLOWING = 160


class _Language(NamedTuple):
    patterns: tuple[re.Pattern[str], ...]
    partly: tuple[re.Pattern[str], ...]


def find_abstention(answer: str) -> Literal["whole", "partly"] | None:
    """Return whether an assistant's answer says that it found nothing, or nothing but something near.

    The same words from a person mean another thing: only an assistant's text may be asked about.

    >>> find_abstention("I couldn't find any documentation on rotating staging certificates.")
    'whole'
    >>> find_abstention("Open Settings."), find_abstention("No results found, but try the VPN guide.")
    (None, 'partly')
    """
    folded = fold(own_words(answer[:_BEGINNING]))
    for language in _load():
        for pattern in language.patterns:
            match = pattern.search(folded)
            if match is not None:
                after = folded[match.end() : match.end() + _FOLLOWING]
                return "partly" if any(word.search(after) for word in language.partly) else "whole"
    return None


@lru_cache(maxsize=1)
def _load() -> tuple[_Language, ...]:
    listed = tomllib.loads((files("findback.mining") / "abstentions.toml").read_text(encoding="utf-8"))
    return tuple(
        _Language(tuple(map(re.compile, entry["patterns"])), tuple(map(re.compile, entry["partly"])))
        for entry in listed.values()
        if isinstance(entry, dict)
    )
