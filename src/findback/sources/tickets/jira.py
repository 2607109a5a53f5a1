"""Jira Service Management: issues in REST shape with comments, changelog and remote links."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from findback.model.thread import ActorKind, Audience, Link, Message, Person, Place, Skipped, StatusChange, Thread
from findback.sources.adf import read_adf
from findback.sources.archive import Archive
from findback.sources.faults import Faults
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.mail import find_quotes
from findback.sources.marked import Marked, drop_quoted
from findback.sources.tickets.body import TOO_LONG, by_time
from findback.sources.tickets.export import Row, find_objects, peek_rows, read_rows
from findback.sources.tickets.fields import MOST_TEXT, Fields
from findback.sources.tickets.ledger import Ledger
from findback.sources.wiki import read_wiki

ENVELOPES = frozenset(("issues", "values", "remotelinks"))
_KEY = re.compile(r"\b([A-Z][A-Z0-9_]{1,30}-\d{1,10})\b")
_CLOSED = frozenset(("done", "resolved", "closed", "completed", "canceled", "cancelled", "declined"))


class Jira:
    """Reader of Jira issues."""

    name = "jira"
    family: Family = "tickets"
    rules = ("ticket-link", "attach", "duplicate", "no-answer")

    def recognise(self, path: Path) -> str | None:
        """Return why the path holds Jira issues, or None."""
        for row in peek_rows(path, envelopes=ENVELOPES):
            fields = row.fields.values.get("fields")
            if isinstance(fields, dict) and "key" in row.fields.values and "summary" in fields:
                return "issues with key and fields.summary"
        return None

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Begin reading: once through for remote links and comments that stand apart, once for the issues.

        Raises:
            DataError: While iterated, at the end, with every fault, unless bad records are skipped.
            RefusedError: If it is larger than may be read.
        """
        reading = Reading()
        reading.threads = _Export(path, options, reading).threads()
        return reading


class _Export:
    def __init__(self, path: Path, options: SourceOptions, reading: Reading) -> None:
        self._ledger = Ledger(path, options, reading)
        self._with_issues: set[str] = set()

    def threads(self) -> Iterator[Thread]:
        ledger = self._ledger
        with ledger.open_members() as (archive, members):
            for name in members:
                for row in read_rows(archive, name, ledger.faults, ledger.skipped, envelopes=ENVELOPES):
                    self._gather(row)
            for name in members:
                if name in self._with_issues:
                    yield from self._emit(archive, name)
        ledger.settle("links and comments whose issue is not in the export")

    def _gather(self, row: Row) -> None:
        values = row.fields.values
        self._take_people(values)
        if "key" in values and isinstance(values.get("fields"), dict):
            self._with_issues.add(row.member)
        elif "object" in values or ("body" in values and "author" in values):
            key = _key_in(values.get("self")) or _key_in(row.member)
            if key is None:
                row.fields.fault("a link or comment whose issue neither `self` nor the file's name tells")
                return
            self._ledger.held.keep(key, values, row.fields.line, row.place)
        elif row.array is not None or len(values) > 5:
            self._ledger.skipped.add("records of other kinds")

    def _emit(self, archive: Archive, name: str) -> Iterator[Thread]:
        # What is wrong with the file itself was noted the first time through.
        for row in read_rows(archive, name, Faults(), Skipped(), envelopes=ENVELOPES):
            if "key" not in row.fields.values or not isinstance(row.fields.values.get("fields"), dict):
                continue
            issue = Fields(row.fields.values, row.fields.shown, row.fields.line, self._ledger.faults)
            thread = self._issue(issue, row.place)
            if thread is not None and not self._ledger.is_further(thread.id, "older copies of the same ticket"):
                yield from self._ledger.admit(thread)

    def _issue(self, issue: Fields, place: Place) -> Thread | None:
        key, fields = issue.identity("key", needed=True), issue.part("fields")
        if key is None or fields is None:
            return None
        project = fields.part("project")
        name, called = key.rpartition("-")[0], project.text("name") if project is not None else None
        reporter, created = self._person(fields.part("reporter")), fields.moment("created")
        creator = self._person(fields.part("creator"))
        messages: list[Message | None] = []
        if (described := self._body(fields, "description")) is not None:
            author = reporter if reporter[0] else creator
            messages.append(_message(f"{key}.description", author, created, described, place=place))
        apart = [
            (Fields(r.values, r.place.file, r.line, self._ledger.faults), r.place) for r in self._ledger.held.take(key)
        ]
        block = fields.part("comment")
        comments = block.parts("comments") if block is not None else fields.parts("comments")
        messages += [self._comment(comment, place) for comment in [*comments, *issue.parts("comments")]]
        messages += [self._comment(comment, at) for comment, at in apart if "body" in comment]
        links = [*issue.parts("remotelinks"), *(link for link, _ in apart if "object" in link)]
        attached = [self._remote(link) for link in links]
        title, labels, changes = fields.text("summary"), fields.words("labels"), self._changes(issue, fields)
        repeated = _duplicate_of(fields)
        if issue.bad or fields.bad:
            return None
        return Thread(
            id=key,
            source="jira",
            container=name,
            container_name=called,
            kind="ticket",
            title=title,
            asker=reporter[0] or creator[0],
            tags=labels,
            messages=by_time([message for message in messages if message is not None]),
            changes=changes,
            attached=tuple(link for link in attached if link is not None),
            duplicate_of=repeated,
            help_channel=True,
        )

    def _person(self, person: Fields | None) -> tuple[str | None, ActorKind, bool | None]:
        """Return somebody's id, what they are, and whether they belong to those who answer, as far as it is said."""
        if person is None:
            return None, "unknown", None
        number = person.identity("accountId") or person.identity("key") or person.identity("name")
        kind = person.text("accountType")
        return number, "bot" if kind == "app" else "human", False if kind == "customer" else None

    def _take_people(self, values: Mapping[str, Any]) -> None:
        for person in find_objects(values, "displayName"):
            number = person.get("accountId") or person.get("key") or person.get("name")
            names = [person["displayName"], person.get("name")]
            if not isinstance(number, str):
                continue
            mail = person.get("emailAddress")
            self._ledger.meet(
                Person(
                    number,
                    tuple(name for name in names if isinstance(name, str) and name),
                    (mail,) if isinstance(mail, str) else (),
                    bot=person.get("accountType") == "app",
                    gone=person.get("active") is False,
                )
            )

    def _body(self, fields: Fields, name: str) -> Marked | None:
        value: Any = fields.values.get(name)
        if isinstance(value, dict):
            marked = read_adf(value)
        else:
            text = fields.text(name)
            if not text:
                return None
            if len(text) > MOST_TEXT:
                self._ledger.skipped.add(TOO_LONG)
                return None
            marked = read_wiki(text)
        if "\0" in marked.text:
            fields.fault(f"{name} holds a NUL character")
            return None
        return drop_quoted(marked, find_quotes(marked.text))

    def _comment(self, comment: Fields, place: Place) -> Message | None:
        number, at = comment.identity("id", needed=True), comment.moment("created")
        author, body = self._person(comment.part("author")), self._body(comment, "body")
        shown = comment.flag("jsdPublic") if "jsdPublic" in comment else comment.flag("public")
        hidden = shown is False or "visibility" in comment
        if comment.bad or number is None or body is None:
            return None
        edited = comment.values.get("updated") not in (None, comment.values.get("created"))
        audience: Audience = "internal" if hidden else "public"
        return _message(number, author, at, body, audience=audience, place=place, edited=edited)

    def _remote(self, part: Fields) -> Link | None:
        linked = part.part("object")
        address = linked.text("url") if linked is not None else None
        title = linked.text("title") if linked is not None else None
        return Link(address, "structured-attach", title) if address else None

    def _changes(self, issue: Fields, fields: Fields) -> tuple[StatusChange, ...]:
        changes: list[tuple[str, StatusChange]] = []
        log = issue.part("changelog")
        for history in [*(log.parts("histories") if log is not None else []), *(log.parts("values") if log else [])]:
            at, author = history.moment("created"), self._person(history.part("author"))
            for item in history.parts("items"):
                kind, to = item.text("field"), item.text("toString")
                if kind == "resolution":
                    closed = bool(to)
                elif kind == "status" and to:
                    closed = to.casefold() in _CLOSED
                else:
                    continue
                changes.append(
                    (
                        kind,
                        StatusChange(
                            at=at, status=to or "unresolved", closed=closed, author=author[0], actor=author[1]
                        ),
                    )
                )
        # A resolution says it outright; names of states are each project's own.
        decisive = "resolution" if any(kind == "resolution" for kind, _ in changes) else "status"
        found = [change for kind, change in changes if kind == decisive]
        if not found and ("resolutiondate" in fields or self._is_done(fields)):
            found = [StatusChange(at=fields.moment("resolutiondate"), status="resolved", closed=True)]
        return tuple(sorted(found, key=lambda change: change.at.timestamp() if change.at else 0.0))

    def _is_done(self, fields: Fields) -> bool:
        status = fields.part("status")
        category = status.part("statusCategory") if status is not None else None
        return category is not None and category.values.get("key") == "done"


def _message(
    number: str,
    author: tuple[str | None, ActorKind, bool | None],
    at: Any,
    body: Marked,
    *,
    place: Place,
    audience: Audience = "public",
    edited: bool = False,
) -> Message:
    return Message(
        id=number,
        author=author[0],
        actor=author[1],
        staff=author[2],
        at=at,
        text=body.text,
        marks=body.marks,
        links=body.links,
        extras=body.extras,
        audience=audience,
        edited=edited,
        place=place,
    )


def _key_in(text: object) -> str | None:
    """Return the issue that an address or a file's name tells.

    >>> _key_in("https://example.org/rest/api/3/issue/HELP-12/remotelink/1"), _key_in("comments.json")
    ('HELP-12', None)
    """
    found = _KEY.search(text) if isinstance(text, str) else None
    return found[1] if found else None


def _duplicate_of(fields: Fields) -> str | None:
    for link in fields.parts("issuelinks"):
        kind, other = link.part("type"), link.part("outwardIssue")
        if kind is not None and other is not None and "duplicate" in (kind.text("name") or "").casefold():
            return other.identity("key")
    return None
