"""Zendesk, read by its incremental export: what changed since the last run, a page of tickets at a time."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import orjson

from findback.model.thread import Person, Skipped
from findback.sources.connectors.batch import Batch, Memory, Position
from findback.sources.connectors.pages import Pages
from findback.sources.connectors.zendesk_api import Row, TicketPage, ZendeskApi
from findback.sources.format import Reading, SourceOptions
from findback.sources.tickets.fields import read_moment
from findback.sources.tickets.zendesk import read_pages

PLACE = "tickets"
"""What the cursor is of."""
MEMBER = "pages.jsonl"
UNSOLVED = "tickets not solved yet, which come again when they are"
DELETED = "deleted tickets"
KEPT_OUT = "tickets of groups that were excluded or erased"
_SOLVED = frozenset(("solved", "closed"))
_USER = ("id", "name", "alias", "email", "phone", "role", "active", "suspended")


class ZendeskConnector:
    """Reads one account."""

    def __init__(self, name: str, api: ZendeskApi, *, first: datetime, now: datetime) -> None:
        """Prepare; nothing is asked yet.

        Args:
            name: How messages call it.
            api: Answers.
            first: Where the export begins that was never read.
            now: When this run began.
        """
        self._name, self._api, self._first, self._now = name, api, first, now
        self._users: dict[str, Row] = {}
        self._groups: dict[str, Row] = {}
        self._people: dict[str, Person] = {}
        self._notes: list[str] = []
        self._skipped = Skipped()
        self._last: Reading | None = None

    @property
    def people(self) -> list[Person]:
        """Return everybody met so far."""
        if self._last is not None:
            self._people.update({person.id: person for person in self._last.people})
        return list(self._people.values())

    def batches(self, memory: Memory) -> Iterator[Batch]:
        """Yield a batch for each page of the export.

        Raises:
            EngineError: If Zendesk fails or refuses.
        """
        mark = memory.position(PLACE)
        cursor, reached = (mark.cursor, mark.at) if mark is not None else (None, None)
        staff = self._api.staff()
        if staff is None:
            self._notes.append("the token may not list agents: those are known who appear in a ticket")
        fresh = {str(row.get("id")) for row in staff or ()}
        self._meet(staff or ())
        while True:
            page = self._api.export(cursor=cursor, start=reached or self._first)
            if page is None:
                self._notes.append(
                    "the export had forgotten where the last run came to: it was read again from its time"
                )
                cursor = None
                continue
            reached = _newest(page, reached, self._now)
            raw, deleted = self._gather(page, memory, fresh)
            fresh = set()
            yield Batch(
                place=PLACE,
                position=Position(reached, page.cursor or None),
                read=self._reader(raw),
                gone={},
                deleted=deleted,
            )
            if page.last:
                return
            cursor = page.cursor

    def _gather(self, page: TicketPage, memory: Memory, concerned: set[str]) -> tuple[bytes, list[str]]:
        """Return the page with what was said in its solved tickets, and the ids of the deleted ones."""
        self._meet(page.users)
        self._groups.update({str(row["id"]): row for row in page.groups if "id" in row})
        lines: list[Row] = []
        deleted: list[str] = []
        for ticket in page.tickets:
            number = _number(ticket.get("id"))
            if number is None:
                continue
            reason = _refuse(ticket, memory)
            if reason == DELETED:
                deleted.append(number)
            if reason is not None:
                self._skipped.add(reason)
                continue
            audits = self._api.audits(number)
            if audits is None:
                self._skipped.add(DELETED)
                deleted.append(number)
                continue
            lines += [{"tickets": [ticket]}, {"audits": audits}]
            concerned |= _people_of(ticket, audits)
        self._meet(self._api.users(sorted(number for number in concerned if number not in self._users)))
        users = [self._users[number] for number in sorted(concerned) if number in self._users]
        lines = [{"users": users}, {"groups": list(self._groups.values())}, *lines]
        return b"".join(orjson.dumps(line) + b"\n" for line in lines), deleted

    def _meet(self, users: Iterable[Row]) -> None:
        for user in users:
            number = _number(user.get("id"))
            if number is not None:
                self._users[number] = {key: user[key] for key in _USER if key in user}

    def _reader(self, raw: bytes) -> Callable[[SourceOptions], Reading]:
        def read(options: SourceOptions) -> Reading:
            self._people = {person.id: person for person in self.people}
            self._last = read_pages(Pages(self._name, {MEMBER: raw}), options, skipped=self._skipped, notes=self._notes)
            return self._last

        return read


def _refuse(ticket: Row, memory: Memory) -> str | None:
    if ticket.get("status") == "deleted":
        return DELETED
    container = _number(ticket.get("group_id")) or _number(ticket.get("brand_id")) or "tickets"
    if memory.is_kept_out(container):
        return KEPT_OUT
    return None if ticket.get("status") in _SOLVED else UNSOLVED


def _people_of(ticket: Row, audits: list[Row]) -> set[str]:
    named: list[Any] = [ticket.get(key) for key in ("requester_id", "submitter_id", "assignee_id")]
    for audit in audits:
        named.append(audit.get("author_id"))
        events = audit.get("events")
        named += [one.get("author_id") for one in events if isinstance(one, dict)] if isinstance(events, list) else []
    return {number for one in named if (number := _number(one)) is not None and number.isdecimal()}


def _newest(page: TicketPage, reached: datetime | None, now: datetime) -> datetime | None:
    moments = [read_moment(ticket.get("updated_at")) for ticket in page.tickets]
    known = [_in_utc(moment) for moment in moments if moment is not None]
    return max([*(moment for moment in known if moment <= now), *([reached] if reached else [])], default=None)


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _number(value: object) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None
