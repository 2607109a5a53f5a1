"""GitHub: issues, comments and events in REST shape, discussions in GraphQL shape."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from findback.model.thread import ActorKind, Audience, Message, Person, Place, Skipped, StatusChange, Thread
from findback.sources.archive import Archive
from findback.sources.faults import Faults
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.tickets.body import TOO_LONG, by_time, read_post
from findback.sources.tickets.discussions import STAFF, find_discussions, read_discussion
from findback.sources.tickets.export import Row, find_objects, peek_rows, read_rows
from findback.sources.tickets.fields import MOST_TEXT, Fields
from findback.sources.tickets.ledger import Ledger

ENVELOPES = frozenset(("issues", "items", "issue_comments", "comments", "discussions"))
_ISSUE_URL = re.compile(r"([\w.-]{1,100}/[\w.-]{1,100})/(?:issues|pull|pulls)/(\d{1,10})(?:[#/?]|$)")
_REPOSITORY = re.compile(r"([\w.-]{1,100}/[\w.-]{1,100})/?$")
_DUPLICATE = re.compile(
    r"\bduplicate\s{1,3}of\s{1,3}(?:#(\d{1,10})\b|(https?://[\w.-]{1,100}/[\w.-]{1,100}/[\w.-]{1,100}/(?:issues|discussions)/\d{1,10}))",
    re.IGNORECASE,
)


class GitHub:
    """Reader of GitHub issues and discussions."""

    name = "github"
    family: Family = "tickets"
    rules = ("ticket-link", "accepted", "duplicate", "no-answer")

    def recognise(self, path: Path) -> str | None:
        """Return why the path holds GitHub issues, or None."""
        for row in peek_rows(path, envelopes=ENVELOPES):
            values = row.fields.values
            if "author_association" in values and ("issue_url" in values or "number" in values):
                return "issues or comments with author_association"
            if next(find_discussions(row.fields), None) is not None:
                return "discussions with answerChosenAt or category"
        return None

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Begin reading: once through for comments and events, which are held packed, once for the issues.

        Raises:
            DataError: While iterated, at the end, with every fault, unless bad records are skipped.
            RefusedError: If it is larger than may be read.
        """
        reading = Reading()
        reading.threads = _Export(path, options, reading).threads()
        return reading


def _key(fields: Fields) -> str | None:
    """Return `owner/name#number` of the issue that a comment or event belongs to, or that an issue is."""
    for name in ("issue_url", "html_url", "url"):
        address = fields.values.get(name)
        if isinstance(address, str) and (found := _ISSUE_URL.search(address)) is not None:
            return f"{found[1].removeprefix('repos/')}#{found[2]}"
    issue = fields.values.get("issue")
    if isinstance(issue, dict):
        return _key(Fields(issue, fields.shown, fields.line, Faults()))
    return None


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
        ledger.settle("comments and events whose issue is not in the export")

    def _gather(self, row: Row) -> None:
        values = row.fields.values
        self._take_people(values)
        if "number" in values and "title" in values:
            self._with_issues.add(row.member)
            return
        if next(find_discussions(row.fields), None) is not None:
            self._with_issues.add(row.member)
            return
        key = _key(row.fields)
        if key is not None and ("body" in values or "event" in values):
            self._ledger.held.keep(key, values, row.fields.line, row.place)
        elif "body" in values and "user" in values:
            row.fields.fault("a comment without issue_url")
        elif row.array is not None or len(values) > 5:
            self._ledger.skipped.add("records of other kinds")

    def _emit(self, archive: Archive, name: str) -> Iterator[Thread]:
        # What is wrong with the file itself was noted the first time through.
        for row in read_rows(archive, name, Faults(), Skipped(), envelopes=ENVELOPES):
            values = row.fields.values
            fields = Fields(values, row.fields.shown, row.fields.line, self._ledger.faults)
            found: list[Thread | None]
            if "number" in values and "title" in values and "user" in values:
                found = [self._issue(fields, row.place)]
            else:
                found = [read_discussion(part, row.place, self._ledger) for part in find_discussions(fields)]
            for thread in found:
                if thread is not None and not self._ledger.is_further(thread.id, "older copies of the same issue"):
                    yield from self._ledger.admit(thread)

    def _issue(self, fields: Fields, place: Place) -> Thread | None:
        number = fields.identity("number", needed=True)
        repository = _repository(fields)
        key = f"{repository}#{number}"
        held = self._ledger.held.take(key)
        if "pull_request" in fields:
            self._ledger.skipped.add("pull requests")
            if held:
                self._ledger.skipped.add("comments and events on pull requests", len(held))
            return None
        title, opener = fields.text("title"), self._author(fields)
        messages = [self._message(fields, f"{key}.body", place)]
        changes: list[StatusChange] = []
        for record in held:
            part = Fields(record.values, record.place.file, record.line, self._ledger.faults)
            if "event" in part.values and "body" not in part.values:
                changes += self._change(part)
            else:
                messages.append(self._message(part, part.identity("id", needed=True), record.place))
        if isinstance(fields.values.get("comments"), list):
            parts = fields.parts("comments")
            messages += [self._message(part, part.identity("id", needed=True), place) for part in parts]
        closed, reason = fields.moment("closed_at"), fields.text("state_reason")
        state, labels = fields.text("state"), fields.words("labels")
        if fields.bad:
            return None
        if not changes and (closed is not None or state == "closed"):
            closer = self._author(fields, "closed_by")
            changes.append(
                StatusChange(
                    at=closed, status=reason or "closed", closed=True, author=closer[0], actor=closer[1] or "unknown"
                )
            )
        ordered = by_time([message for message in messages if message is not None])
        repeated = reason == "duplicate" or any(label.casefold() == "duplicate" for label in labels)
        return Thread(
            id=key,
            source="github",
            container=repository,
            container_name=repository,
            kind="question",
            title=title,
            asker=opener[0],
            tags=labels,
            messages=ordered,
            changes=tuple(sorted(changes, key=lambda change: change.at.timestamp() if change.at else 0.0)),
            duplicate_of=_duplicate_of(ordered, fields, repository, repeated=repeated),
            help_channel=None,
        )

    def _author(self, fields: Fields, name: str = "user") -> tuple[str | None, ActorKind]:
        user = fields.part(name)
        login = user.text("login") if user is not None else None
        if user is None or login is None:
            return None, "unknown"
        return login, "bot" if _is_bot(user.values) else "human"

    def _take_people(self, values: Mapping[str, Any]) -> None:
        for user in find_objects(values, "login"):
            login, called = user["login"], user.get("name")
            if isinstance(login, str) and login:
                names = (called, login) if isinstance(called, str) and called else (login,)
                self._ledger.meet(Person(login, names, bot=_is_bot(user)))

    def _message(self, fields: Fields, number: str | None, place: Place) -> Message | None:
        body, at, (author, actor) = fields.text("body"), fields.moment("created_at"), self._author(fields)
        if fields.bad or number is None:
            return None
        if body is not None and len(body) > MOST_TEXT:
            self._ledger.skipped.add(TOO_LONG)
            return None
        marked = read_post(body or "")
        association = fields.values.get("author_association")
        audience: Audience = "public"
        return Message(
            id=number,
            author=author,
            actor=actor,
            at=at,
            text=marked.text,
            marks=marked.marks,
            links=marked.links,
            audience=audience,
            staff=association in STAFF if isinstance(association, str) else None,
            place=place,
        )

    def _change(self, fields: Fields) -> list[StatusChange]:
        event, at, (author, actor) = fields.text("event"), fields.moment("created_at"), self._author(fields, "actor")
        if fields.bad or event not in ("closed", "reopened"):
            return []
        return [StatusChange(at=at, status=event, closed=event == "closed", author=author, actor=actor)]


def _is_bot(user: Mapping[str, Any]) -> bool:
    return user.get("type") == "Bot" or str(user.get("login")).endswith("[bot]")


def _repository(fields: Fields) -> str:
    for name in ("repository_url", "html_url", "url"):
        address: Any = fields.values.get(name)
        if not isinstance(address, str):
            continue
        if (issue := _ISSUE_URL.search(address)) is not None:
            return issue[1]
        if (found := _REPOSITORY.search(address)) is not None:
            return found[1]
    return "issues"


def _duplicate_of(messages: tuple[Message, ...], fields: Fields, repository: str, *, repeated: bool) -> str | None:
    """Return the issue this one repeats: named by who belongs to the project, or by anyone where it is labelled so."""
    for message in reversed(messages):
        if message.actor == "human" and not message.staff and not repeated:
            continue
        if (found := _DUPLICATE.search(message.text)) is not None:
            if found[2]:
                return found[2]
            address = fields.values.get("html_url")
            if isinstance(address, str) and "/issues/" in address:
                return f"{address.rpartition('/')[0]}/{found[1]}"
            return f"{repository}#{found[1]}"
    return None
