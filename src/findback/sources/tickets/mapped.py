"""Tickets of any system by a mapping of fields, from JSON, JSON Lines, CSV, Parquet or a query."""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from findback.errors import FindbackError, SettingsError
from findback.sources.answer import Answer
from findback.sources.columns import split_places
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.opening import open_archive
from findback.sources.tickets.assembly import MappedExport
from findback.sources.tickets.export import list_members, peek_rows
from findback.sources.tickets.mapping import build_mapping, load_mapping, matches, unwrap
from findback.sources.tickets.tables import SUFFIXES
from findback.text.delimited import delimited_rows, guess_delimiter

_NO_PLACES = frozenset(
    (
        *("ticket.closed", "ticket.layouts", "opening.or_title"),
        *("messages.internal_kinds", "messages.closing_kinds", "messages.reopening_kinds"),
    )
)
"""Keys of a mapping that name values, not fields."""
_TIMES = ("created", "closed_at")


class Mapped:
    """Reader of one ticket system by its mapping; without a shipped one, by the user's own."""

    family: Family = "tickets"

    def __init__(self, name: str, rules: tuple[str, ...], shipped: str | None) -> None:
        self.name = name
        self.rules = rules
        self._shipped = shipped

    def recognise(self, path: Path) -> str | None:
        """Return why the path is an export of this system; None without a shipped mapping."""
        if self._shipped is None:
            return None
        mapping = load_mapping(self._shipped)
        for values in _peek(path, mapping):
            if matches(values, mapping["recognise"]):
                return str(mapping["what"])
        return None

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Begin reading; messages and attachments in rows of their own are held packed, the tickets streamed.

        Raises:
            DataError: While iterated, at the end, with every fault, unless bad records are skipped.
            RefusedError: If it is larger than may be read.
            SettingsError: If there is no shipped mapping and none is given, or the one given makes no sense.
        """
        return self._begin(path, options)

    def expect(self, answer: Answer, options: SourceOptions) -> None:
        """Check that the query has the columns that the mapping names.

        Raises:
            SettingsError: If it has not, or there is no mapping.
            EngineError: If the database does not answer.
        """
        mapping, given = self._mapping(options), options.mapping or {}
        sections = [mapping["ticket"], *mapping.get("messages", ())]
        times = [place for section in sections for key in _TIMES for place in section.get(key, ())]
        answer.expect(
            {key: split_places(places) for key, places in given.items() if key not in _NO_PLACES},
            {"ticket.id": mapping["ticket"]["id"]},
            times,
        )

    def read_answer(self, answer: Answer, options: SourceOptions) -> Reading:
        """Begin reading tickets from the rows of a query, which is asked twice within one transaction.

        Raises:
            SettingsError: If the query has not the columns that the mapping names.
            DataError: While iterated, at the end, with every fault, unless bad rows are skipped.
            RefusedError: If there are more than may be read.
            EngineError: If the database fails.
        """
        self.expect(answer, options)
        return self._begin(answer, options)

    def _begin(self, place: Path | Answer, options: SourceOptions) -> Reading:
        reading = Reading()
        reading.threads = MappedExport(self.name, self._mapping(options), place, options, reading).threads()
        return reading

    def _mapping(self, options: SourceOptions) -> Mapping[str, Any]:
        if options.mapping:
            return build_mapping(options.mapping)
        if self._shipped is not None:
            return load_mapping(self._shipped)
        raise SettingsError(
            "tickets of an unknown system need a mapping of their fields",
            hint='give at least "ticket.id" and "opening.text"',
        )


INTERCOM = Mapped("intercom", ("ticket-link", "attach", "no-answer"), "intercom")
FRESHDESK = Mapped("freshdesk", ("ticket-link", "no-answer"), "freshdesk")
SERVICENOW = Mapped("servicenow", ("ticket-link", "attach", "no-answer"), "servicenow")
TICKETS = Mapped("tickets", ("ticket-link", "duplicate", "no-answer"), None)


def _peek(path: Path, mapping: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for row in peek_rows(path, envelopes=frozenset(mapping["arrays"]), suffixes=SUFFIXES):
        yield unwrap(row.fields.values, mapping)
    try:
        with open_archive(path) as archive:
            for name in list_members(archive, (".csv", ".tsv"))[:20]:
                head = archive.peek(name, 65_536)
                if head[:1] not in (b"{", b"["):
                    yield dict.fromkeys(_header(head))
    except (FindbackError, OSError, ValueError, KeyError):
        return


def _header(head: bytes) -> tuple[str, ...]:
    line = head.partition(b"\n")[0].decode("utf-8", "replace")
    rows = delimited_rows(io.StringIO(line), delimiter=guess_delimiter(line))
    return next((tuple(cell.strip() for cell in row.cells) for row in rows), ())
