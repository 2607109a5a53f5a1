"""Scripts: which one a text is in, and how it is cut into words."""

from bisect import bisect_right
from collections import Counter
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from findback.errors import FindbackError

SAMPLED = 20_000
"""Characters of a text that are looked at; longer texts are judged by their beginning."""

_BIGRAM_LANGUAGES = frozenset({"ja", "zh", "yue", "ko", "th", "lo", "km", "my"})


class ScriptRange(NamedTuple):
    """A stretch of code points of one script."""

    first: int
    last: int
    script: str
    """ISO 15924 code; `Zyyy` for digits, which every script shares."""
    kind: str
    """`words`, or `bigrams` for scripts written without spaces."""


@lru_cache(maxsize=1)
def load_ranges() -> tuple[ScriptRange, ...]:
    """Return the known ranges in code point order."""
    lines = (files("findback.text") / "data" / "scripts.tsv").read_text(encoding="utf-8").splitlines()
    ranges = []
    for line in lines:
        if line and not line.startswith("#"):
            first, last, script, kind = line.split("\t")
            ranges.append(ScriptRange(int(first, 16), int(last, 16), script, kind))
    ranges.sort()
    if any(left.last >= right.first for left, right in pairwise(ranges)):
        raise FindbackError("text/data/scripts.tsv: ranges overlap")
    return tuple(ranges)


@lru_cache(maxsize=8192)
def find_script(character: str) -> str | None:
    """Return the script of one character, `Zyyy` for a digit, None where findback cannot tell words.

    >>> find_script("é"), find_script("か"), find_script("7"), find_script("ᚠ")
    ('Latn', 'Kana', 'Zyyy', None)
    """
    ranges = load_ranges()
    place = bisect_right(ranges, ord(character), key=lambda entry: entry.first) - 1
    if place < 0 or ranges[place].last < ord(character):
        return None
    return ranges[place].script


def count_scripts(text: str) -> Counter[str]:
    """Return how many letters of each script a text's beginning has; `?` counts those of unknown ones."""
    counts: Counter[str] = Counter()
    for character, times in Counter(text[:SAMPLED]).items():
        if character.isalpha():
            counts[find_script(character) or "?"] += times
    return counts


def join_japanese(counts: Counter[str]) -> Counter[str]:
    """Return the counts with Han and Kana added up as `Jpan`: one text may hold both."""
    joined = counts.copy()
    letters = joined.pop("Hani", 0) + joined.pop("Kana", 0)
    if letters:
        joined["Jpan"] = letters
    return joined


def find_dominant_script(text: str) -> str | None:
    """Return the script most letters of a text are in.

    Han and Kana together are `Jpan`. None where no letter is in a script that findback can cut into words,
    or where most letters are in none of them.

    >>> find_dominant_script("Passwort vergessen"), find_dominant_script("返金ですか API")
    ('Latn', 'Jpan')
    """
    counts = join_japanese(count_scripts(text))
    if not counts:
        return None
    # Sorted first, so that equal counts do not depend on which letter came first.
    script = max(sorted(counts), key=counts.__getitem__)
    return None if script == "?" else script


def is_written_as_bigrams(language: str | None) -> bool:
    """Say whether a language is counted as pairs of characters.

    >>> is_written_as_bigrams("ja"), is_written_as_bigrams("de"), is_written_as_bigrams(None)
    (True, False, False)
    """
    return language is not None and primary_language(language) in _BIGRAM_LANGUAGES


def primary_language(language: str) -> str:
    """Return the language without region or script.

    >>> primary_language("pt-BR"), primary_language("zh_Hant")
    ('pt', 'zh')
    """
    return language.replace("_", "-").split("-", 1)[0].lower()
