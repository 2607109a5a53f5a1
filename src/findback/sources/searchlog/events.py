"""One search event as every log reader gives it, and the columns of the table of them."""

import hashlib
from datetime import datetime
from typing import Literal, NamedTuple, get_args

EventKind = Literal["search", "impression", "click", "ask", "other"]
"""What happened. `ask` is a question to people, `other` keeps a session together and means nothing more."""

KINDS: tuple[EventKind, ...] = get_args(EventKind)

COLUMNS: dict[str, str] = {
    "time": "timestamp(6)",
    "kind": "string",
    "event_id": "string",
    "session": "string",
    "client": "string",
    "person": "string",
    "asker": "string",
    "application": "string",
    "query_id": "string",
    "query": "string",
    "n_results": "int64",
    "size_zero": "boolean",
    "document": "string",
    "position": "int64",
    "asked": "int64",
    "clicks": "int64",
    "file": "string",
    "offset": "int64",
}
"""Columns and their Ibis types. A column that a source does not record is left out of its table."""

DIGEST = 32
"""Hexadecimal digits kept of a person's, client's or session's digest."""

REQUIRED = ("time", "kind", "event_id", "query")


class Event(NamedTuple):
    """One row; fields in the order of `COLUMNS`."""

    time: datetime | None
    """UTC without zone."""
    kind: EventKind
    event_id: str
    """Unique within the source and the same in every export of it."""
    session: str | None = None
    """Digest of the session id."""
    client: str | None = None
    """Digest of the browser or program."""
    person: str | None = None
    """Digest of the user id."""
    asker: str | None = None
    """Digest of whoever asked, where person, client and session are not digests themselves."""
    application: str | None = None
    """Search system or application, as the log names it."""
    query_id: str | None = None
    query: str | None = None
    """As typed."""
    n_results: int | None = None
    """None where the log does not say, which is not 0."""
    size_zero: bool = False
    """True for a request that asked for no results: facets, suggestions, counts."""
    document: str | None = None
    """What was clicked or shown."""
    position: int | None = None
    """As the source counts; some from 0, some from 1."""
    asked: int | None = None
    """How many searches a row stands for; None for one."""
    clicks: int | None = None
    """Clicks on a row that stands for many searches; None when unknown."""
    file: str | None = None
    offset: int | None = None


def digest_of(value: str | None) -> str | None:
    """Return the first half of an id's SHA-256 in hexadecimal, as the warehouses compute it too; None of nothing.

    >>> digest_of("anna"), digest_of(""), digest_of(None)
    ('55579b557896d0ce1764c47fed644f9b', None, None)
    """
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST] if value else None
