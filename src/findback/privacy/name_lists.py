"""The shipped lists of names, and the words around a name that say that it is one."""

import hashlib
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from findback.privacy.folding import find_unspaced_runs, fold
from findback.privacy.wordlists import read_rules

_FILES = (
    "common_names.txt",
    "strict_names.txt",
    "system_names.txt",
    "person_names.txt",
    "given_names.txt",
    "family_names.txt",
    "names.toml",
)
_REACH = 40
_LONG = 7
_GAP = r"[\s,:;!(\"'“«*_~-]{0,4}"


@cache
def name_list(name: str) -> frozenset[str]:
    """Return one of the lists `common`, `strict`, `system`, `person`, `given` and `family`, folded."""
    text = (files("findback.privacy.rules") / f"{name}_names.txt").read_text("utf-8")
    return frozenset(fold(word) for line in text.splitlines() if not line.startswith("#") for word in line.split())


@lru_cache(maxsize=1)
def names_digest() -> str:
    """Return eight digits that change with any list of names."""
    folder = files("findback.privacy.rules")
    return hashlib.sha256(b"".join(folder.joinpath(name).read_bytes() for name in _FILES)).hexdigest()[:8]


@lru_cache(maxsize=1)
def _rules() -> dict[str, Any]:
    return read_rules("names.toml")


@cache
def name_words(name: str) -> frozenset[str]:
    """Return the particles or the remarks that stand in names."""
    return frozenset(fold(word) for word in _rules()["names"][name])


@cache
def _pattern(name: str, *, before: bool) -> re.Pattern[str]:
    ordered = sorted(_rules()["cues"][name], key=len, reverse=True)
    choices = "|".join(re.escape(cue).replace(r"\ ", r"\s{1,2}") for cue in ordered)
    if before:
        return re.compile(rf"(?<![^\W_])(?:{choices})\.?{_GAP}$", re.IGNORECASE)
    whole = rf"(?:{choices})(?![^\W_])"
    endings = [whole, *(re.escape(cue) for cue in ordered if _is_unspaced(cue))]
    return re.compile(rf"[\s,]{{0,2}}(?:{'|'.join(endings)})", re.IGNORECASE)


def _is_unspaced(cue: str) -> bool:
    return any(True for _ in find_unspaced_runs(cue))


def is_likely_name(word: str) -> bool:
    """Say whether a folded word is on any list of names, or ends like a family name.

    >>> is_likely_name("delphine"), is_likely_name("yefremova"), is_likely_name("gateway")
    (True, True, False)
    """
    return any(word in name_list(name) for name in ("person", "given", "family")) or (
        len(word) >= _LONG and word.endswith(_endings())
    )


@lru_cache(maxsize=1)
def _endings() -> tuple[str, ...]:
    return tuple(_rules()["names"]["endings"])


def find_introduced(text: str) -> Iterator[int]:
    """Yield the places after "my name is" and the like.

    >>> list(find_introduced("hello, my name is rubija"))
    [18]
    """
    for match in _introductions().finditer(text):
        yield match.end()


@lru_cache(maxsize=1)
def _introductions() -> re.Pattern[str]:
    choices = "|".join(re.escape(cue).replace(r"\ ", r"\s{1,2}") for cue in _rules()["cues"]["introductions"])
    return re.compile(rf"(?<![^\W_])(?:{choices})[\s:,\"'“«]{{1,3}}(?=[^\W\d_])", re.IGNORECASE)


def has_cue_before(text: str, start: int, *, further: str | None = None) -> bool:
    """Say whether the words just before a place speak of a person.

    Args:
        text: Any text.
        start: Where the possible name begins.
        further: A further list of cues: `weak_before`, as `from`, or `actor_before`.

    >>> has_cue_before("thanks, mark", 8), has_cue_before("i mark it", 2)
    (True, False)
    """
    before = text[max(start - _REACH, 0) : start]
    return any(_pattern(name, before=True).search(before) for name in ("before", further) if name is not None)


def has_cue_after(text: str, end: int, *, further: str | None = None) -> bool:
    """Say whether the words just after a place speak of a person.

    Args:
        text: Any text.
        end: Where the possible name ends.
        further: A further list of cues: `actor_after`.

    >>> has_cue_after("mark said so", 4), has_cue_after("mark it", 4)
    (True, False)
    """
    names = ("after", further)
    return any(_pattern(name, before=False).match(text, end, end + _REACH) for name in names if name is not None)


def has_title_before(text: str, start: int) -> bool:
    """Say whether a title or an introduction stands just before a place.

    >>> has_title_before("Dr. Fanucci", 4), has_title_before("ask Fanucci", 4)
    (True, False)
    """
    return _pattern("titles", before=True).search(text[max(start - _REACH, 0) : start]) is not None
