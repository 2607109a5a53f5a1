"""The two articles' own figures, under their names.

They read ASCII only, count both figures on whatever gold text they are given, and grow with its length. They
are kept so that anyone can compare with what the articles print; findback's own figures are in `leak.py` and
`overlap.py`.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from findback.text.frequency import list_frequent_words

_LEAK_WORD = re.compile(r"[a-z]{5,}")
_OVERLAP_TOKEN = re.compile(r"[a-z0-9_]+")
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_KEPT_BY_LEAK = bytes(code if code in _LETTERS else 32 for code in range(256))
_KEPT_BY_OVERLAP = bytes(code if code in _LETTERS + b"0123456789_" else 32 for code in range(256))


class ArticleFigures(NamedTuple):
    """Both articles' figures for one query and its gold text."""

    leak: float | None
    """Share of the query's rare words in the gold text; None when it has no rare word."""
    overlap: float | None
    """Share of the query's tokens in the gold text; None when it has no token."""


@lru_cache(maxsize=1)
def load_article_stop_words() -> frozenset[str]:
    """Return the 32 words that the second article leaves out."""
    text = (files("findback.measure") / "data" / "article_stop_words.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


@lru_cache(maxsize=1)
def load_article_common_words() -> frozenset[str]:
    """Return the common words of the first article, which names none: the top 3,000 English."""
    return list_frequent_words("en") or frozenset()


def article_leak(query: str, gold: str) -> float | None:
    """Return the share of the query's rare words that the gold text contains.

    Returns:
        A ratio in [0, 1]: 0 when no rare word is shared, 1 when every one is in the gold text. None when the
        query has no rare word.

    Source:
        Article 1, which divides by max(n, 1) and so scores a query without rare words 0. Rare words are
        `[a-z]{5,}` of the lowercased text that are not common.

    >>> article_leak("exponential backoff policy", "an exponential delay")
    0.5
    >>> article_leak("where is it", "it is here") is None
    True
    """
    common = load_article_common_words()
    rare = set(_LEAK_WORD.findall(query.lower())) - common
    return len(rare.intersection(_LEAK_WORD.findall(gold.lower()))) / len(rare) if rare else None


def article_overlap(query: str, gold: str) -> float | None:
    """Return the share of the query's content words that the gold text contains.

    Returns:
        A ratio in [0, 1]. None when the query has no token that counts; `as_printed_by_article` turns that
        into the article's 0.

    Source:
        Article 2: tokens `[a-z0-9_]+` of the lowercased text, longer than two, not among its 32 stop words.

    >>> article_overlap("why does the job keep hammering the API", "the vendor api")
    0.25
    """
    asked = {
        token
        for token in _OVERLAP_TOKEN.findall(query.lower())
        if len(token) > 2 and token not in load_article_stop_words()
    }
    return len(asked.intersection(_OVERLAP_TOKEN.findall(gold.lower()))) / len(asked) if asked else None


def as_printed_by_article(figures: Iterable[float | None]) -> list[float]:
    """Return the figures with 0 for an undefined one, as both articles count it.

    >>> as_printed_by_article([None, 0.5])
    [0.0, 0.5]
    """
    return [0.0 if figure is None else figure for figure in figures]


def measure_article_figures(queries: Sequence[str], golds: Sequence[str]) -> list[ArticleFigures]:
    """Return both figures of each query with the gold text in the same place.

    They equal those of `article_leak` and `article_overlap`. A gold text is never cut into words: its
    separators become spaces in one pass over its bytes, and each word of the query is looked for in it.

    Raises:
        ValueError: If there are not as many gold texts as queries.
    """
    common, stop = load_article_common_words(), load_article_stop_words()
    figures = []
    for query, gold in zip(queries, golds, strict=True):
        lowered = _lower_ascii(query)
        rare = {w for w in lowered.translate(_KEPT_BY_LEAK).decode().split() if len(w) >= 5 and w not in common}
        asked = {w for w in lowered.translate(_KEPT_BY_OVERLAP).decode().split() if len(w) > 2 and w not in stop}
        figures.append(_measure_pair(rare, asked, _lower_ascii(gold)))
    return figures


def _measure_pair(rare: set[str], asked: set[str], gold: bytes) -> ArticleFigures:
    tokens = f" {gold.translate(_KEPT_BY_OVERLAP).decode()} "
    # Most words of a query are nowhere in the text, not even inside others: one search settles those.
    near = [word for word in rare | asked if word in tokens]
    whole = {word for word in near if f" {word} " in tokens}
    leaked = len(whole & rare)
    # A token of letters is a run of letters too; the other way round, digits or underscores may touch a run.
    inner = [word for word in near if word in rare and word not in whole]
    if inner:
        letters = f" {gold.translate(_KEPT_BY_LEAK).decode()} "
        leaked += sum(f" {word} " in letters for word in inner)
    return ArticleFigures(
        leak=leaked / len(rare) if rare else None,
        overlap=len(whole & asked) / len(asked) if asked else None,
    )


def _lower_ascii(text: str) -> bytes:
    """Return bytes with every ASCII letter that `str.lower` gives; whatever else is in them separates."""
    # The only two other letters whose lower case holds ASCII ones.
    if "\u0130" in text or "\u212a" in text:
        text = text.lower()
    return text.encode("utf-8", "surrogatepass").lower()
