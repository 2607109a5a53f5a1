"""Signs that queries were written by a model or tidied up, each with its numbers.

No sign proves anything: careful people write whole sentences, and models can be told to make mistakes. So there
is no score and no verdict, only what was counted, beside what it was compared with.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from statistics import fmean, pstdev
from typing import NamedTuple

from findback.text.frequency import list_known_words
from findback.text.languages import guess_language
from findback.text.words import words

FEWEST_QUERIES = 20
"""Queries from which a share says anything."""
_TIDY, _OPENED, _CAPITAL, _POINTING, _SAME = 0.9, 0.75, 0.97, 0.02, 0.25
"""Shares from which a habit is a sign. 348 chat questions showed .51, .17, .32, .003 and .04; 472 questions that a
model wrote from its answers 1.0, .99, 1.0, .057 and .19."""
_UNIFORM = 0.35
"""Spread of lengths over their mean below which a set is uniform: .73 and .27 there."""
_UNKNOWN, _CASUAL, _CHECKED = 0.01, 0.01, 100
"""Shares of unknown words and casual queries up to which a set has no typos, and words that must be looked up."""
_SHORT = 4
"""Mean number of words below which all queries are about as long."""
_OPENINGS = "begin with what, how, which or the like"
_POINTS = 'point at a text the asker has not seen ("according to the", "in the context of")'
_QUESTION_MARKS = ("?", "？", "؟")


class Hint(NamedTuple):
    """One sign, with its evidence; it proves nothing by itself."""

    sign: str
    """What it looks like, in a few words."""
    evidence: str
    """The counts behind it."""
    share: float
    """Share of queries that show it, in [0, 1]; for `uniform length` the spread over the mean."""
    counted: int
    """Queries it was looked for in."""


class Habits(NamedTuple):
    """How a set of queries is written, as shares of its queries unless said otherwise."""

    queries: int
    """Queries that hold a word."""
    question_mark: float
    """End with a question mark."""
    question_word: float
    """Begin with `what`, `how`, `which` or another opening of the list."""
    capital_start: float
    """Begin with a capital letter, among those that begin with a letter that has one."""
    cased: int
    """Queries that begin with a letter that has a capital form."""
    pointing: float
    """Point at a text the asker has not seen ("according to the")."""
    casual: float
    """Hold a spelling or greeting of people in a hurry."""
    mean_words: float
    """Words in a query."""
    spread: float
    """Standard deviation of the number of words over its mean."""
    unknown_words: float | None
    """Share of letter-only words that the language's word list does not know; None without a list."""
    checked_words: int
    """Words looked up for that."""
    same_opening: float
    """Share of queries that begin with the most frequent pair of first words."""
    opening: str
    """That pair."""


def describe_habits(queries: Sequence[str], language: str | None = None) -> Habits | None:
    """Return how a set of queries is written; None without a query that holds a word.

    Args:
        queries: The queries.
        language: Of all of them, where known; else each is looked up in the language it reads as.

    >>> habits = describe_habits(["What is a berth?", "wheres the form"], "en")
    >>> habits.question_mark, habits.casual, habits.mean_words
    (0.5, 0.5, 3.5)
    """
    cut = [(query.strip(), tokens) for query in queries if (tokens := words(query))]
    if not cut:
        return None
    lists = _load_lists()
    lengths = [len(tokens) for _, tokens in cut]
    cased = [query[0].isupper() for query, _ in cut if query[0].lower() != query[0].upper()]
    openings = [" ".join(tokens[:2]) for _, tokens in cut]
    ((opening, opened),) = Counter(openings).most_common(1)
    unknown, checked = _count_unknown(cut, language)
    return Habits(
        queries=len(cut),
        question_mark=_share(cut, lambda query, _: query.endswith(_QUESTION_MARKS)),
        question_word=_share(cut, lambda _, tokens: _opens(tokens, lists["openings"])),
        capital_start=fmean(cased) if cased else 0.0,
        cased=len(cased),
        pointing=_share(cut, lambda _, tokens: _points(tokens, lists["pointing"])),
        casual=_share(cut, lambda _, tokens: not lists["casual"].isdisjoint(tokens)),
        mean_words=fmean(lengths),
        spread=pstdev(lengths) / fmean(lengths),
        unknown_words=unknown / checked if checked else None,
        checked_words=checked,
        same_opening=opened / len(openings),
        opening=opening,
    )


def find_hints(queries: Sequence[str], language: str | None = None) -> tuple[Hint, ...]:
    """Return the signs that queries were written by a model, or edited.

    Returns:
        Nothing below 20 queries. The thresholds are set so that real chat questions show none of the signs
        and questions written from their answers several; each sign carries its count for the reader to judge.
    """
    habits = describe_habits(queries, language)
    if habits is None or habits.queries < FEWEST_QUERIES:
        return ()
    h = habits
    checks = (
        (h.question_mark >= _TIDY, "well-formed questions", "end with a question mark", h.question_mark, h.queries),
        (h.question_word >= _OPENED, "question-word openings", _OPENINGS, h.question_word, h.queries),
        (h.capital_start >= _CAPITAL, "no lower-case starts", "begin with a capital letter", h.capital_start, h.cased),
        (h.pointing >= _POINTING, "points at a text", _POINTS, h.pointing, h.queries),
        (h.same_opening >= _SAME, "same opening", f'begin with "{h.opening}"', h.same_opening, h.queries),
    )
    told = (
        Hint(sign, f"{round(share * counted)} of {counted} queries {what}", share, counted)
        for shown, sign, what, share, counted in checks
        if shown and counted >= FEWEST_QUERIES
    )
    return (*told, *_find_uniform(habits), *_find_flawless(habits))


def _find_uniform(habits: Habits) -> tuple[Hint, ...]:
    if habits.spread >= _UNIFORM or habits.mean_words < _SHORT:
        return ()
    evidence = (
        f"queries have {habits.mean_words:.1f} words on average with a standard deviation of "
        f"{habits.spread * habits.mean_words:.1f} ({habits.spread:.2f} of the mean)"
    )
    return (Hint("uniform length", evidence, habits.spread, habits.queries),)


def _find_flawless(habits: Habits) -> tuple[Hint, ...]:
    if habits.unknown_words is None or habits.checked_words < _CHECKED or habits.casual > _CASUAL:
        return ()
    if habits.unknown_words > _UNKNOWN:
        return ()
    unknown = round(habits.unknown_words * habits.checked_words)
    evidence = (
        f"{unknown} of {habits.checked_words} words are unknown to the word list, and "
        f"{round(habits.casual * habits.queries)} of {habits.queries} queries hold a casual spelling or greeting"
    )
    return (Hint("no typos", evidence, habits.unknown_words, habits.queries),)


def _share(cut: Sequence[tuple[str, list[str]]], holds: Callable[[str, list[str]], bool]) -> float:
    return sum(holds(query, tokens) for query, tokens in cut) / len(cut)


def _opens(tokens: Sequence[str], openings: frozenset[str]) -> bool:
    return tokens[0] in openings or " ".join(tokens[:2]) in openings


def _points(tokens: Sequence[str], phrases: frozenset[str]) -> bool:
    spaced = f" {' '.join(tokens)} "
    return any(f" {phrase} " in spaced for phrase in phrases)


def _count_unknown(cut: Sequence[tuple[str, list[str]]], language: str | None) -> tuple[int, int]:
    unknown = checked = 0
    for query, tokens in cut:
        known = list_known_words(language or guess_language(query))
        if known is None:
            continue
        spelled = [token for token in tokens if token.isalpha()]
        checked += len(spelled)
        unknown += sum(token not in known for token in spelled)
    return unknown, checked


@lru_cache(maxsize=1)
def _load_lists() -> dict[str, frozenset[str]]:
    path = files("findback.measure") / "data" / "imitation.toml"
    return {name: frozenset(listed) for name, listed in tomllib.loads(path.read_text(encoding="utf-8")).items()}
