"""Whether a table has the columns that a mapping names."""

import re
from collections.abc import Iterable, Mapping

Wanted = Iterable[str]
"""Places of one field, in the notation of its mapping; the first that is there counts."""

_JOINED = re.compile(r" \+ |&")
_DEEPER = re.compile(r"[.\[#?^=]")


def find_missing(columns: Iterable[str], given: Mapping[str, Wanted], needed: Mapping[str, Wanted]) -> list[str]:
    """Return the fields of which no place is there, in words: every given one, then what is needed besides.

    >>> find_missing(["id", "body"], {"text": ["message"]}, {"at": ["time", "ts"], "id": ["id"]})
    ['text (message)', 'at (time or ts)']
    """
    there = frozenset(columns)
    wanted = {field: tuple(places) for field, places in ({**needed, **given}).items()}
    return [
        f"{field} ({' or '.join(wanted[field])})"
        for field in dict.fromkeys((*given, *needed))
        if not any(has_place(place, there) for place in wanted[field])
    ]


def split_places(places: str) -> tuple[str, ...]:
    """Return the places of a field that are named one after the other.

    >>> split_places("text|body | message")
    ('text', 'body', 'message')
    """
    return tuple(place.strip() for place in places.split("|"))


def has_place(place: str, columns: frozenset[str]) -> bool:
    """Return whether the columns are there that a place of a mapping begins at; `=text` needs none.

    >>> has_place("author.name", frozenset({"author"})), has_place("!active", frozenset({"active"}))
    (True, True)
    >>> has_place("user + session", frozenset({"user"})), has_place("Ticket ID", frozenset({"Ticket ID"}))
    (False, True)
    """
    if place in columns or place.startswith("="):
        return True
    parts = [part.strip().lstrip("!/") for part in _JOINED.split(place)]
    return all(part in columns or _DEEPER.split(part, maxsplit=1)[0] in columns for part in parts)
