"""Zendesk: tickets with their audits or comments, as the incremental export, the API or an export tool gives them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from findback.model.thread import ActorKind, Audience, Link, Message, Person, Place, Skipped, StatusChange, Thread
from findback.sources.archive import Archive
from findback.sources.faults import Faults
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.tickets.body import TOO_LONG, by_time, read_mail
from findback.sources.tickets.export import Row, peek_rows, read_rows
from findback.sources.tickets.fields import MOST_TEXT, Fields
from findback.sources.tickets.ledger import Ledger

ENVELOPES = frozenset(("tickets", "users", "audits", "comments", "groups", "brands", "ticket_audits"))
_CLOSED = frozenset(("solved", "closed"))
_NUMBER = re.compile(r"\d+")
_MACHINES = frozenset(("rule", "system", "automation", "trigger"))
_MERGED = "closed_by_merge"
_STAFF = frozenset(("agent", "admin"))


class Zendesk:
    """Reader of Zendesk exports."""

    name = "zendesk"
    family: Family = "tickets"
    rules = ("ticket-link", "attach", "duplicate", "no-answer")

    def recognise(self, path: Path) -> str | None:
        """Return why the path is a Zendesk export, or None."""
        for row in peek_rows(path, envelopes=ENVELOPES):
            kind = _kind(row)
            if kind == "ticket" and ("raw_subject" in row.fields.values or "submitter_id" in row.fields.values):
                return "tickets with requester_id and submitter_id"
            if kind == "audit":
                return "ticket audits with events"
        return None

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Begin reading the export: once through for users, comments and audits, once for the tickets.

        Comments and audits that stand apart from their tickets are held in memory, packed.

        Raises:
            DataError: While iterated, at the end, with every fault, unless bad records are skipped.
            RefusedError: If it is larger than may be read.
        """
        reading = Reading()
        reading.threads = _Export(path, options, reading).threads()
        return reading


def read_pages(pages: Archive, options: SourceOptions, *, skipped: Skipped, notes: list[str]) -> Reading:
    """Begin reading pages that the API gave; what is left out is counted beside what was left out before.

    Raises:
        DataError: While iterated, at the end, with every fault, unless bad records are skipped.
    """
    reading = Reading(skipped=skipped, notes=notes)
    reading.threads = _Export(pages, options, reading).threads()
    return reading


def _kind(row: Row) -> str | None:
    values = row.fields.values
    if isinstance(values.get("events"), list) and "ticket_id" in values:
        return "audit"
    if "requester_id" in values and ("subject" in values or "raw_subject" in values or "description" in values):
        return "ticket"
    if row.array in ("users", "groups", "brands"):
        return row.array[:-1]
    if "author_id" in values and ("body" in values or "html_body" in values or "plain_body" in values):
        return "comment"
    if "role" in values and ("email" in values or "name" in values):
        return "user"
    return None


@dataclass(slots=True)
class _Ticket:
    """One ticket while it is put together."""

    messages: list[Message] = field(default_factory=list)
    changes: list[StatusChange] = field(default_factory=list)
    attached: list[Link] = field(default_factory=list)
    macros: set[str] = field(default_factory=set)
    privacy: dict[str, bool] = field(default_factory=dict)


class _Export:
    def __init__(self, path: Path | Archive, options: SourceOptions, reading: Reading) -> None:
        self._ledger = Ledger(path, options, reading)
        self._newest: dict[str, tuple[str, int]] = {}
        self._with_tickets: set[str] = set()
        self._position = 0
        self._names: dict[str, str] = {}
        self._staff: dict[str, bool] = {}

    def threads(self) -> Iterator[Thread]:
        with self._ledger.open_members() as (archive, members):
            self._gather(archive, members)
            for name in members:
                if name in self._with_tickets:
                    yield from self._emit(archive, name)
        self._ledger.settle("comments and audits whose ticket is not in the export")

    def _gather(self, archive: Archive, members: list[str]) -> None:
        position = 0
        for name in members:
            for row in read_rows(archive, name, self._ledger.faults, self._ledger.skipped, envelopes=ENVELOPES):
                kind = _kind(row)
                if kind == "ticket":
                    position += 1
                    self._with_tickets.add(name)
                    ticket = _plain_id(row.fields.values.get("id"))
                    if ticket is not None:
                        seen = (str(row.fields.values.get("updated_at") or ""), position)
                        self._newest[ticket] = max(self._newest.get(ticket, ("", 0)), seen)
                elif kind in ("audit", "comment"):
                    self._hold(row)
                elif kind == "user":
                    self._take_user(row.fields)
                elif kind in ("group", "brand"):
                    number, called = _plain_id(row.fields.values.get("id")), row.fields.text("name")
                    if number and called:
                        self._names[number] = called
                elif row.array is not None or len(row.fields.values) > 5:
                    self._ledger.skipped.add("records of other kinds")

    def _hold(self, row: Row) -> None:
        ticket = _plain_id(row.fields.values.get("ticket_id")) or _ticket_of(row.member)
        if ticket is None:
            row.fields.fault("a comment without ticket_id, in a file not named after its ticket")
            return
        self._ledger.held.keep(ticket, row.fields.values, row.fields.line, row.place)

    def _take_user(self, user: Fields) -> None:
        number = user.identity("id", needed=True)
        names = tuple(name for name in (user.text("name"), user.text("alias")) if name)
        mail, phone, role = user.text("email"), user.text("phone"), user.text("role")
        if number is None or user.bad:
            return
        if role:
            self._staff[number] = role in _STAFF
        self._ledger.meet(
            Person(
                number,
                names,
                (mail,) if mail else (),
                (phone,) if phone else (),
                gone=user.values.get("active") is False or user.values.get("suspended") is True,
            )
        )

    def _emit(self, archive: Archive, name: str) -> Iterator[Thread]:
        # What is wrong with the file itself was noted the first time through.
        for row in read_rows(archive, name, Faults(), Skipped(), envelopes=ENVELOPES):
            if _kind(row) != "ticket":
                continue
            self._position += 1
            fields = Fields(row.fields.values, row.fields.shown, row.fields.line, self._ledger.faults)
            ticket = fields.identity("id", needed=True)
            if ticket is None:
                continue
            if self._newest.get(ticket, ("", 0))[1] != self._position:
                self._ledger.skipped.add("older copies of the same ticket")
                continue
            yield from self._ledger.admit(self._thread(ticket, fields, row.place))

    def _thread(self, ticket: str, fields: Fields, place: Place) -> Thread | None:
        held = [
            (Fields(r.values, r.place.file, r.line, self._ledger.faults), r.place)
            for r in self._ledger.held.take(ticket)
        ]
        status, tags = fields.text("status"), fields.words("tags")
        asker, created = fields.identity("requester_id"), fields.moment("created_at")
        subject = fields.text("subject") or fields.text("raw_subject")
        container = fields.identity("group_id") or fields.identity("brand_id") or "tickets"
        if status == "deleted":
            self._ledger.skipped.add("deleted tickets")
            return None
        if _MERGED in tags:
            self._ledger.skipped.add("tickets merged into another")
            return None
        built = _Ticket()
        audits = [part for part in held if "events" in part[0].values]
        comments = [part for part in held if "events" not in part[0].values]
        for audit, at in [*audits, *((audit, place) for audit in fields.parts("audits"))]:
            self._take_audit(built, audit, at)
        if not built.messages:
            for comment, at in [*comments, *((comment, place) for comment in fields.parts("comments"))]:
                self._take_comment(built, comment, at, comment, None)
        if not built.messages and (description := fields.text("description")):
            marked = read_mail(None, description[:MOST_TEXT])
            built.messages.append(
                Message(
                    id=f"{ticket}.description",
                    author=fields.identity("submitter_id") or asker,
                    actor="human",
                    at=created,
                    text=marked.text,
                    marks=marked.marks,
                    links=marked.links,
                    audience="internal" if fields.flag("is_public") is False else "public",
                    place=place,
                )
            )
            self._ledger.skipped.add("tickets that come with their description only")
        if fields.bad:
            return None
        if not built.changes and status:
            solved = self._solved_at(fields)
            built.changes.append(StatusChange(at=solved, status=status, closed=status in _CLOSED))
        messages = tuple(
            replace(m, audience="public" if built.privacy[m.id] else "internal") if m.id in built.privacy else m
            for m in by_time(built.messages)
        )
        return Thread(
            id=ticket,
            source="zendesk",
            container=container,
            container_name=self._names.get(container),
            kind="ticket",
            title=subject,
            asker=asker,
            tags=tags,
            messages=messages,
            changes=tuple(built.changes),
            attached=tuple(built.attached),
            duplicate_of=None,
            macros=frozenset(built.macros),
            help_channel=True,
        )

    def _solved_at(self, fields: Fields) -> Any:
        metrics = fields.part("metric_set")
        return metrics.moment("solved_at") if metrics is not None else None

    def _take_audit(self, built: _Ticket, audit: Fields, place: Place) -> None:
        author, at = audit.identity("author_id"), audit.moment("created_at")
        via = audit.part("via")
        channel = via.text("channel") if via is not None else None
        machine = author in ("-1", None) or channel in _MACHINES
        for event in audit.parts("events"):
            kind = event.text("type")
            if kind == "Comment":
                self._take_comment(built, event, place, audit, author)
            elif kind in ("Create", "Change") and event.values.get("field_name") == "status":
                actor: ActorKind = "system" if machine else "human"
                status = event.text("value") or ""
                built.changes.append(
                    StatusChange(at=at, status=status, closed=status in _CLOSED, author=author, actor=actor)
                )
            elif kind == "CommentPrivacyChange":
                comment, public = event.identity("comment_id"), event.flag("public")
                if comment is not None and public is not None:
                    built.privacy[comment] = public
            elif kind == "AgentMacroReference":
                built.macros |= {macro} if (macro := event.identity("macro_id")) else set()
            elif kind is not None and kind.startswith("Knowledge") and "Flag" not in kind:
                address = _article(event.values)
                built.attached += [Link(address, "structured-attach")] if address else []

    def _take_comment(
        self, built: _Ticket, comment: Fields, place: Place, dated: Fields, audit_author: str | None
    ) -> None:
        number = comment.identity("id") or f"{len(built.messages)}"
        author = comment.identity("author_id") or audit_author
        html, plain = comment.text("html_body"), comment.text("plain_body") or comment.text("body")
        at, public = dated.moment("created_at"), comment.flag("public")
        files = tuple(
            name for part in comment.parts("attachments") if (name := part.text("file_name") or part.text("filename"))
        )
        if comment.bad or dated.bad:
            return
        if max(len(html or ""), len(plain or "")) > MOST_TEXT:
            self._ledger.skipped.add(TOO_LONG)
            return
        marked = read_mail(html, plain)
        audience: Audience = "public" if public is True else "internal"
        built.messages.append(
            Message(
                id=number,
                author=author,
                actor="system" if author == "-1" else "human",
                at=at,
                text=marked.text,
                marks=marked.marks,
                links=marked.links,
                extras=(*files, *marked.extras),
                audience=audience,
                staff=self._staff.get(author) if author else None,
                place=place,
            )
        )


def _plain_id(value: object) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


def _ticket_of(member: str) -> str | None:
    """Return the ticket a file of comments is named after.

    >>> _ticket_of("tickets/4711/comments.json"), _ticket_of("comments.json")
    ('4711', None)
    """
    for part in reversed(member.split("/")):
        if (found := _NUMBER.search(part)) is not None:
            return found[0]
    return None


def _article(event: Mapping[str, Any]) -> str | None:
    """Return the address of the article that a knowledge event names, however deep it lies."""
    waiting: list[tuple[object, int]] = [(event, 0)]
    while waiting:
        value, depth = waiting.pop(0)
        if not isinstance(value, dict) or depth > 4:
            continue
        for key in ("html_url", "article_url", "url"):
            address = value.get(key)
            if isinstance(address, str) and address.startswith("http") and not address.endswith(".json"):
                return address
        waiting += [(inner, depth + 1) for inner in value.values()]
    return None
