"""Tickets of one export, put together by a mapping of fields."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from findback.model.thread import ActorKind, Link, LinkKind, Message, Person, Place, Skipped, StatusChange, Thread
from findback.sources.answer import Answer
from findback.sources.archive import Archive
from findback.sources.faults import Faults
from findback.sources.format import Reading, SourceOptions
from findback.sources.marked import Marked
from findback.sources.tickets.body import TOO_LONG, by_time, read_mail
from findback.sources.tickets.dates import Dates
from findback.sources.tickets.export import Row
from findback.sources.tickets.fields import MOST_TEXT, Fields
from findback.sources.tickets.held import HeldRecord
from findback.sources.tickets.ledger import Ledger
from findback.sources.tickets.mapping import find, flag, is_there, listed, matches, named, plain, split_journal, unwrap
from findback.sources.tickets.tables import SUFFIXES, read_table


class _Spot(NamedTuple):
    """A record and where it lies."""

    values: Mapping[str, Any]
    fields: Fields
    place: Place


@dataclass(slots=True)
class _Ticket:
    """One ticket while it is put together."""

    messages: list[Message] = field(default_factory=list)
    changes: list[StatusChange] = field(default_factory=list)
    attached: list[Link] = field(default_factory=list)


class MappedExport:
    """The tickets of one export, put together by a mapping."""

    def __init__(
        self, name: str, mapping: Mapping[str, Any], place: Path | Answer, options: SourceOptions, reading: Reading
    ) -> None:
        self._name = name
        self._mapping = mapping
        self._ticket_at: Mapping[str, Any] = mapping["ticket"]
        self._ledger = Ledger(place, options, reading)
        self._envelopes = frozenset(mapping["arrays"])
        self._patterns = [re.compile(pattern) for pattern in mapping.get("links", {}).get("patterns", ())]
        self._dates = Dates(self._ticket_at.get("layouts", ()))

    def threads(self) -> Iterator[Thread]:
        """Yield the tickets that may be read.

        Raises:
            DataError: At the end, with every fault, unless bad records are skipped.
            RefusedError: If a file is larger than may be read.
        """
        with self._ledger.open_members(SUFFIXES) as (archive, members):
            for name in members:
                self._gather(archive, name)
            if (note := self._dates.settle()) is not None:
                self._ledger.notes.append(note)
            for name in members:
                yield from self._emit(archive, name)
        self._ledger.settle("messages whose ticket is not in the export")

    def _rows(self, archive: Archive, name: str, faults: Faults, skipped: Skipped, notes: list[str]) -> Iterator[Row]:
        yield from read_table(archive, name, faults, skipped, notes, envelopes=self._envelopes)

    def _kind(self, row: Row, values: Mapping[str, Any]) -> tuple[str, str | None]:
        """Return what a row is (ticket, message, joined, person, other) and the ticket it belongs to."""
        for joined in self._mapping.get("joined", ()):
            if matches(values, joined):
                return "joined", plain(find(values, joined["ticket"]))
        for part in self._mapping.get("messages", ()):
            owner = plain(find(values, part.get("ticket")))
            if owner is not None and (
                is_there(find(values, part.get("html"))) or is_there(find(values, part.get("text")))
            ):
                return "message", owner
        if row.array is not None and row.array in self._mapping.get("people", {}).get("at", ()):
            return "person", None
        return ("ticket", None) if is_there(find(values, self._ticket_at["id"])) else ("other", None)

    def _gather(self, archive: Archive, name: str) -> None:
        for row in self._rows(archive, name, self._ledger.faults, self._ledger.skipped, self._ledger.notes):
            values = unwrap(row.fields.values, self._mapping)
            kind, owner = self._kind(row, values)
            if kind in ("message", "joined") and owner is not None:
                self._ledger.held.keep(owner, values, row.fields.line, row.place, kind)
            elif kind == "person":
                self._take_person(values, self._mapping["people"])
            elif kind == "other" and (row.array is not None or len(values) > 5):
                self._ledger.skipped.add("records of other kinds")
            elif kind == "ticket":
                self._take_roster(values)
                if self._dates.are_open:
                    for moment in ("created", "closed_at"):
                        self._dates.learn(plain(find(values, self._ticket_at.get(moment))))

    def _take_roster(self, values: Mapping[str, Any]) -> None:
        """Take the people whom a ticket itself names."""
        for part in self._mapping.get("roster", ()):
            holders = [item for path in part.get("at", ()) for item in listed(find(values, (path,)))]
            for holder in holders if "at" in part else [values]:
                if isinstance(holder, Mapping):
                    self._take_person(holder, part)
        for journal in self._mapping.get("journals", ()):
            for _, author, _, _ in split_journal(plain(find(values, journal["field"])) or ""):
                self._ledger.meet(Person(author, (author,)))

    def _take_person(self, values: Mapping[str, Any], at: Mapping[str, Any]) -> None:
        number = plain(find(values, at["id"]))
        names, mails, phones = (
            tuple(dict.fromkeys(text for path in at.get(part, ()) if (text := plain(find(values, (path,))))))
            for part in ("names", "mails", "phones")
        )
        if number:
            self._ledger.meet(Person(number, names, mails, phones))

    def _emit(self, archive: Archive, name: str) -> Iterator[Thread]:
        # What is wrong with the file itself was noted the first time through.
        for row in self._rows(archive, name, Faults(), Skipped(), []):
            values = unwrap(row.fields.values, self._mapping)
            if self._kind(row, values)[0] != "ticket":
                continue
            fields = Fields(values, row.fields.shown, row.fields.line, self._ledger.faults)
            thread = self._thread(_Spot(values, fields, row.place))
            if thread is not None and not self._ledger.is_further(thread.id, "older copies of the same ticket"):
                yield from self._ledger.admit(thread)

    def _thread(self, spot: _Spot) -> Thread | None:
        at, values, fields = self._ticket_at, spot.values, spot.fields
        number = self._text(spot, at["id"])
        if number is None:
            fields.fault("the ticket has no id")
            return None
        if any(flag(find(values, (path,))) for path in at.get("spam", ())):
            self._ledger.skipped.add("tickets marked as spam or deleted")
            return None
        asker, title = self._text(spot, at.get("asker")), self._text(spot, at.get("title"))
        built = _Ticket()
        self._open(spot, built, number, asker=asker, title=title)
        held = self._ledger.held.take(number)
        for part in self._mapping.get("messages", ()):
            nested = [
                (inner, spot.place, fields.line)
                for path in part.get("at", ())
                for inner in listed(find(values, (path,)))
            ]
            apart = [(record.values, record.place, record.line) for record in held if record.kind == "message"]
            for inner, place, line in [*nested, *apart]:
                if isinstance(inner, Mapping):
                    inside = Fields(inner, spot.place.file, line, self._ledger.faults)
                    self._add(_Spot(inner, inside, place), part, built, asker)
                    fields.bad = fields.bad or inside.bad
                elif not isinstance(inner, list):
                    fields.fault(f"{part['at'][0]} holds a JSON {type(inner).__name__} where messages are expected")
        self._take_journals(spot, built, asker)
        self._close(spot, built, number)
        self._take_attached(values, held, built)
        if fields.bad:
            return None
        container = self._text(spot, at.get("container")) or "tickets"
        return Thread(
            id=number,
            source=self._name,
            container=container,
            container_name=container,
            kind="ticket",
            title=title,
            asker=asker,
            tags=tuple(
                tag for path in at.get("tags", ()) for item in listed(find(values, (path,))) if (tag := named(item))
            ),
            messages=by_time(built.messages),
            changes=tuple(sorted(built.changes, key=lambda c: c.at.timestamp() if c.at else float("inf"))),
            attached=tuple(dict.fromkeys(built.attached)),
            duplicate_of=self._text(spot, at.get("duplicate_of")),
            help_channel=True,
        )

    def _open(self, spot: _Spot, built: _Ticket, number: str, *, asker: str | None, title: str | None) -> None:
        at, created = self._mapping["opening"], self._moment(spot, self._ticket_at.get("created"))
        if flag(find(spot.values, at.get("redacted"))):
            self._ledger.skipped.add("deleted messages")
            return
        body = self._body(spot, at)
        if (body is None or not body.text.strip()) and at.get("or_title") and title:
            body = read_mail(None, title)
        if body is None:
            return
        author = self._text(spot, at.get("author")) or asker
        message = self._message(f"{number}.opening", author, created, body, spot.place)
        built.messages.append(self._with_kind(message, plain(find(spot.values, at.get("author_kind")))))

    def _with_kind(self, message: Message, kind: str | None, *, assistant: bool = False) -> Message:
        kinds = self._mapping.get("author_kinds", {})
        actor: ActorKind = message.actor
        if assistant:
            actor = "agent"
        elif kind is not None and kinds:
            actor = "human" if kind in kinds["human"] else "bot" if kind in kinds["bot"] else "unknown"
        staff = kind in kinds["staff"] if kind is not None and kinds else message.staff
        return replace(message, actor=actor, staff=staff)

    def _add(self, spot: _Spot, at: Mapping[str, Any], built: _Ticket, asker: str | None) -> None:
        values = spot.values
        kind = plain(find(values, at.get("kind")))
        created, author = self._moment(spot, at.get("created")), self._text(spot, at.get("author"))
        author_kind = plain(find(values, at.get("author_kind")))
        machine = author_kind in self._mapping.get("author_kinds", {}).get("bot", ())
        actor: ActorKind = "bot" if machine else "human"
        if kind is not None and kind in (*at.get("closing_kinds", ()), *at.get("reopening_kinds", ())):
            closed = kind in at.get("closing_kinds", ())
            built.changes.append(StatusChange(at=created, status=kind, closed=closed, author=author, actor=actor))
        if flag(find(values, at.get("redacted"))):
            self._ledger.skipped.add("deleted messages")
            return
        body = self._body(spot, at)
        if body is None or not body.text.strip():
            return
        number = self._text(spot, at.get("id")) or str(len(built.messages))
        incoming = find(values, at.get("by_asker"))
        internal = flag(find(values, at.get("internal"))) or (kind is not None and kind in at.get("internal_kinds", ()))
        public = find(values, at.get("public"))
        internal = internal or (is_there(public) and not flag(public))
        names = tuple(
            name
            for path in at.get("files", ())
            for item in listed(find(values, (path,)))
            if (name := named(item)) is not None
        )
        message = self._message(number, author or (asker if flag(incoming) else None), created, body, spot.place)
        staff = not flag(incoming) if is_there(incoming) else None
        message = replace(message, audience="internal" if internal else "public", staff=staff)
        assistant = any(flag(find(values, (path,))) for path in at.get("assistant", ()))
        message = self._with_kind(message, author_kind, assistant=assistant)
        built.messages.append(replace(message, extras=(*names, *message.extras)))

    def _take_journals(self, spot: _Spot, built: _Ticket, asker: str | None) -> None:
        for journal in self._mapping.get("journals", ()):
            text = self._text(spot, journal["field"], stripped=False)
            if not text:
                continue
            for written, author, kind, note in split_journal(text):
                internal = journal.get("internal", False) or kind.casefold() in journal["internal_labels"]
                if not note.strip():
                    continue
                message = self._message(
                    f"{len(built.messages)}.{written}",
                    author,
                    self._dates.read(written),
                    read_mail(None, note),
                    spot.place,
                )
                linked = replace(message, links=(*message.links, *self._find_patterns(note)))
                staff = None if author == asker else True
                built.messages.append(replace(linked, audience="internal" if internal else "public", staff=staff))

    def _close(self, spot: _Spot, built: _Ticket, number: str) -> None:
        at = self._ticket_at
        status = self._text(spot, at.get("status"))
        closed_at, closed_by = self._moment(spot, at.get("closed_at")), self._text(spot, at.get("closed_by"))
        closing = self._mapping.get("closing")
        if closing is not None and (body := self._body(spot, closing)) is not None and body.text.strip():
            message = self._message(f"{number}.closing", closed_by, closed_at, body, spot.place)
            built.messages.append(replace(message, staff=True))
        if status is None or built.changes:
            return
        closed = status in at.get("closed", ())
        reopened = plain(find(spot.values, at.get("reopened")))
        if closed and reopened not in (None, "0"):
            built.changes.append(StatusChange(at=None, status="reopened", closed=False))
        built.changes.append(
            StatusChange(at=closed_at if closed else None, status=status, closed=closed, author=closed_by)
        )

    def _take_attached(self, values: Mapping[str, Any], held: list[HeldRecord], built: _Ticket) -> None:
        for part in self._mapping.get("attached", ()):
            kind: LinkKind = part["kind"]
            for item in (item for path in part["at"] for item in listed(find(values, (path,)))):
                address = plain(find(item, part["url"])) if isinstance(item, Mapping) else plain(item)
                if address:
                    label = plain(find(item, part.get("label"))) if isinstance(item, Mapping) else None
                    built.attached.append(Link(address, kind, label))
        for joined in self._mapping.get("joined", ()):
            for record in held:
                if record.kind == "joined" and (address := plain(find(record.values, joined["url"]))) is not None:
                    built.attached.append(Link(address, "structured-attach"))

    def _body(self, spot: _Spot, at: Mapping[str, Any]) -> Marked | None:
        html, text = self._text(spot, at.get("html"), stripped=False), self._text(spot, at.get("text"), stripped=False)
        if html is None and text is None:
            return None
        if max(len(html or ""), len(text or "")) > MOST_TEXT:
            self._ledger.skipped.add(TOO_LONG)
            return None
        marked = read_mail(html, text)
        found = self._find_patterns(marked.text)
        return marked._replace(links=(*marked.links, *found), starts=(*marked.starts, *(0 for _ in found)))

    def _find_patterns(self, text: str) -> tuple[Link, ...]:
        return tuple(Link(address) for pattern in self._patterns for address in dict.fromkeys(pattern.findall(text)))

    def _message(self, number: str, author: str | None, at: datetime | None, body: Marked, place: Place) -> Message:
        return Message(
            id=number,
            author=author,
            actor="human",
            at=at,
            text=body.text,
            marks=body.marks,
            links=body.links,
            extras=body.extras,
            place=place,
        )

    def _text(self, spot: _Spot, paths: Any, *, stripped: bool = True) -> str | None:
        value = find(spot.values, paths)
        if not is_there(value):
            return None
        text = plain(value)
        if text is None:
            spot.fields.fault(f"{paths[0]} is a JSON {type(value).__name__} where text is expected")
            return None
        if "\0" in text:
            spot.fields.fault(f"{paths[0]} holds a NUL character")
            return None
        return text.strip() or None if stripped else text

    def _moment(self, spot: _Spot, paths: Any) -> datetime | None:
        value = find(spot.values, paths)
        if not is_there(value):
            return None
        moment = self._dates.read(value)
        if moment is None:
            spot.fields.fault(f"{paths[0]} is no time")
        return moment
