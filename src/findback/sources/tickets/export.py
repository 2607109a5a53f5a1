"""JSON exports of tickets, opened and told apart."""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from findback.errors import FindbackError
from findback.model.thread import Place, Skipped
from findback.sources.archive import Archive
from findback.sources.faults import Faults
from findback.sources.opening import open_archive
from findback.sources.tickets.fields import Fields
from findback.sources.tickets.items import Item, Items, is_lines, read_lines

SUFFIXES = (".json", ".jsonl", ".ndjson")
_PEEK = 1 << 18
_PEEKED_FILES = 20
_PEEKED_RECORDS = 20


class Row(NamedTuple):
    """A record, the array it stood in, and its place."""

    array: str | None
    fields: Fields
    place: Place
    member: str


def list_members(archive: Archive, suffixes: tuple[str, ...] = SUFFIXES) -> list[str]:
    """Return the members that may hold records, sorted; a single file whatever its name."""
    if len(archive.names) == 1:
        return list(archive.names)
    return [name for name in archive.names if name.lower().endswith(suffixes)]


def count_others(archive: Archive, members: list[str], skipped: Skipped) -> None:
    """Count what lies in an export and is not read."""
    others = len(archive.names) - len(members)
    if others:
        skipped.add("files of other kinds", others)
    for reason, count in archive.left_out.items():
        skipped.add(reason, count)


def read_rows(
    archive: Archive, name: str, faults: Faults, skipped: Skipped, *, envelopes: frozenset[str]
) -> Iterator[Row]:
    """Yield the records of a member in order; what cannot be read becomes a fault with its line.

    Raises:
        DataError: If the member is damaged.
        RefusedError: If it is larger than may be read.
        StorageError: If it may not be read.
    """
    shown = archive.where(name)
    with archive.open(name) as file:
        if is_lines(archive.peek(name), name):
            # A line may itself be one page of an export, with its records in an array.
            for item in read_lines(file, shown, faults, skipped):
                yield from _unfold(item, shown, name, faults, envelopes)
        else:
            for item in Items(file, shown, faults, skipped, envelopes=envelopes):
                fields = Fields(item.value, shown, item.line, faults)
                yield Row(item.array, fields, Place(shown, item.offset), name)


def _unfold(item: Item, shown: str, name: str, faults: Faults, envelopes: frozenset[str]) -> Iterator[Row]:
    place = Place(shown, item.offset)
    pages = [] if "id" in item.value else [key for key in envelopes if isinstance(item.value.get(key), list)]
    for key in sorted(pages):
        for inner in item.value[key]:
            if isinstance(inner, dict):
                yield Row(key, Fields(inner, shown, item.line, faults), place, name)
            else:
                faults.add(shown, item.line, f"{key} holds a JSON {type(inner).__name__} where an object is expected")
    if not pages:
        yield Row(None, Fields(item.value, shown, item.line, faults), place, name)


def peek_rows(path: Path, *, envelopes: frozenset[str], suffixes: tuple[str, ...] = SUFFIXES) -> Iterator[Row]:
    """Yield a few records from the beginnings of an export's files; nothing where there are none to read."""
    try:
        with open_archive(path) as archive:
            for name in list_members(archive, suffixes)[:_PEEKED_FILES]:
                yield from _peek_member(archive, name, envelopes)
    except (FindbackError, OSError, ValueError, KeyError):
        return


def _peek_member(archive: Archive, name: str, envelopes: frozenset[str]) -> Iterator[Row]:
    head = archive.peek(name, _PEEK)
    if head.lstrip()[:1] not in (b"{", b"["):
        return
    faults, skipped, shown = Faults(), Skipped(), archive.where(name)
    file = io.BytesIO(head)
    items: Iterator[Item]
    if is_lines(head, name):
        items = read_lines(file, shown, faults, skipped)
    else:
        items = iter(Items(file, shown, faults, skipped, envelopes=envelopes))
    for count, item in enumerate(items):
        if is_lines(head, name):
            yield from _unfold(item, shown, name, faults, envelopes)
        else:
            yield Row(item.array, Fields(item.value, shown, item.line, faults), Place(shown, item.offset), name)
        if count >= _PEEKED_RECORDS:
            return


def find_objects(values: Mapping[str, Any], key: str) -> Iterator[dict[str, Any]]:
    """Yield every object inside a record that has a key, however deep it lies: the people in it, say.

    >>> list(find_objects({"user": {"login": "ida"}, "labels": [{"by": {"login": "bo"}}]}, "login"))
    [{'login': 'ida'}, {'login': 'bo'}]
    """
    waiting: list[Any] = [values]
    at = 0
    while at < len(waiting):
        value = waiting[at]
        at += 1
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            if key in value:
                yield value
            waiting += (inner for inner in value.values() if isinstance(inner, dict | list))
