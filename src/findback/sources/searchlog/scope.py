"""What of a search log is read: applications, time, programs and evaluation traffic are told apart and counted."""

from collections.abc import Iterable, Iterator
from datetime import UTC
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from findback.model.thread import Skipped
from findback.sources.format import SourceOptions
from findback.sources.searchlog.events import Event

MARKER = "x-findback"
"""Request header, log field or query attribute that marks traffic of an evaluation."""

OURSELVES = "findback (evaluation)"
"""Our own user agent."""


class Raw(NamedTuple):
    """An event before scope: beside it what only decides whether it is read."""

    event: Event
    program: str | None
    """Client name or user agent."""
    marked: bool = False
    """Whether it is evaluation traffic."""


@cache
def program_parts() -> tuple[str, ...]:
    """Return parts of names that belong to programs."""
    text = files("findback.sources.searchlog").joinpath("bots.txt").read_text("utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


def is_program(name: str | None) -> bool:
    """Return whether a client name or user agent belongs to a program.

    >>> is_program("quepid-nightly-bot"), is_program("BugsBunny::Firefox@0967084"), is_program(None)
    (True, False, False)
    """
    lowered = name.lower() if name else ""
    return any(part in lowered for part in program_parts()) if lowered else False


def is_marked(fields: Any) -> bool:
    """Return whether a record carries the evaluation marker, at its top or among its attributes."""
    if not isinstance(fields, dict):
        return False
    return any(isinstance(name, str) and name.lower() == MARKER for name in fields)


def in_scope(raws: Iterable[Raw], options: SourceOptions, skipped: Skipped) -> Iterator[Event]:
    """Yield the events that may be read; the rest is counted by reason."""
    since = options.since
    if since is not None and since.tzinfo is not None:
        since = since.astimezone(UTC).replace(tzinfo=None)
    for event, program, marked in raws:
        application = event.application or ""
        if marked or (program is not None and OURSELVES in program.lower()):
            skipped.add("evaluation traffic")
        elif is_program(program):
            skipped.add("programs, not people")
        elif options.channels and not matches(application, options.channels):
            skipped.add("applications not asked for")
        elif matches(application, options.exclude):
            skipped.add("excluded applications")
        elif since is not None and event.time is not None and event.time < since:
            skipped.add("before the time asked for")
        else:
            yield event


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name fits one of several glob patterns, case aside."""
    return any(fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)
