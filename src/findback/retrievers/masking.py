"""Messages of other people's code, without the query that caused them."""

import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from findback.model.case import Context
from findback.model.protocols import Query
from findback.text.safe import escape_terminal

MASK = "…"
LONGEST = 300
"""Characters of a foreign message that are kept."""
WHOLE = 4
"""Words of the query shorter than this are masked only where they stand alone."""

_WORD = re.compile(r"\w+")


def list_words(query: Query) -> frozenset[str]:
    """Return the words of a query and its context, folded, in every spelling an engine may quote them in."""
    found: set[str] = set()
    for text in (query.text, *_texts(query.context)):
        for spelling in (
            text,
            json.dumps(text),
            quote(text, errors="replace"),
            quote_plus(text, errors="replace"),
            repr(text),
        ):
            found.update(word.casefold() for word in _WORD.findall(spelling))
    return frozenset(found)


def mask(message: str, words: Iterable[str]) -> str:
    """Return the message on one line, clipped, with each of the words replaced.

    >>> mask("KeyError: 'lost parcel' in parcels", {"lost", "parcel"})
    "KeyError: '… …' in …s"
    """
    line = _clean(message)
    long = sorted((word for word in words if len(word) >= WHOLE), key=len, reverse=True)
    short = {word for word in words if 1 < len(word) < WHOLE}
    folded = line.casefold()
    if long and len(folded) == len(line):
        pieces, at = [], 0
        for match in re.finditer("|".join(map(re.escape, long)), folded):
            pieces += [line[at : match.start()], MASK]
            at = match.end()
        line = "".join(pieces) + line[at:]
    elif long:
        line = _WORD.sub(lambda match: _hide(match[0], long), line)
    line = _WORD.sub(lambda match: MASK if match[0].casefold() in short else match[0], line)
    return line if len(line) <= LONGEST else line[:LONGEST] + MASK


def describe_exception(error: BaseException, query: Query) -> str:
    """Return class and message of an exception without the words of the query."""
    return _describe(error, list_words(query))


def say_exception(error: BaseException) -> str:
    """Return class and message of an exception that no query caused, on one line and clipped."""
    return _describe(error, ())


def _describe(error: BaseException, words: Iterable[str]) -> str:
    name = _clean(type(error).__name__)
    try:
        message = mask(str(error), words)
    except Exception:  # noqa: BLE001 (a foreign exception may fail even at saying what it is)
        message = ""
    return f"{name}: {message}" if message else name


def _clean(text: str) -> str:
    """Return a foreign text on one line, and such that every file and terminal can hold it."""
    return escape_terminal(" ".join(text.split()))


def _hide(word: str, long: list[str]) -> str:
    return MASK if any(part in word.casefold() for part in long) else word


def _texts(context: Context | None) -> tuple[str, ...]:
    if context is None:
        return ()
    single = (context.locale, context.audience, context.as_of)
    filters = (text for pair in (context.filters or {}).items() for text in pair)
    return (*(text for text in single if text), *filters, *(context.turns or ()))
