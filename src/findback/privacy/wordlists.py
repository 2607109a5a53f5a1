"""The word lists of redaction."""

import hashlib
import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

CUE_REACH = 40
"""Characters before a number in which a cue word counts."""


def read_rules(name: str) -> dict[str, Any]:
    """Return a rule file."""
    return tomllib.loads(files("findback.privacy.rules").joinpath(name).read_text("utf-8"))


@lru_cache(maxsize=1)
def rules_digest() -> str:
    """Return eight digits that change with any rule file."""
    folder = files("findback.privacy.rules")
    joined = b"".join(folder.joinpath(name).read_bytes() for name in ("secrets.toml", "words.toml"))
    return hashlib.sha256(joined).hexdigest()[:8]


@lru_cache(maxsize=1)
def word_lists() -> dict[str, dict[str, list[str]]]:
    """Return all word lists, by topic and name."""
    lists: dict[str, dict[str, list[str]]] = read_rules("words.toml")
    return lists


def words_of(topic: str, name: str) -> frozenset[str]:
    """Return one word list."""
    return frozenset(word_lists()[topic][name])


@cache
def cue_pattern(topic: str, name: str) -> re.Pattern[str]:
    """Return the pattern that finds one of the words of a list as a whole word."""
    ordered = sorted(word_lists()[topic][name], key=len, reverse=True)
    choices = "|".join(re.escape(word).replace(r"\ ", r"\s{1,2}") for word in ordered)
    return re.compile(rf"(?<![^\W_])(?:{choices})(?![^\W_])", re.IGNORECASE)


def has_cue(text: str, start: int, topic: str, name: str, *, reach: int = CUE_REACH) -> bool:
    """Say whether a cue word stands shortly before a place."""
    return cue_pattern(topic, name).search(text, max(start - reach, 0), start) is not None


def ends_with_cue(text: str, start: int, topic: str, name: str) -> bool:
    """Say whether the word just before a place is a cue."""
    before = re.search(r"([^\W\d_]{1,20})[\s:=#.(]{0,3}$", text[max(start - 24, 0) : start])
    return before is not None and before[1].lower() in words_of(topic, name)
