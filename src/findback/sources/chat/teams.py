"""Microsoft Teams: chat messages as Microsoft Graph gives them, in JSON pages or JSON Lines."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from findback.errors import DataError, FindbackError
from findback.model.thread import ActorKind, Audience, Link, Message, Person, Place, Reaction, Thread
from findback.sources.archive import Archive
from findback.sources.chat.gaps import split_at_gaps
from findback.sources.faults import Faults
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.marked import Marked, read_plain
from findback.sources.markup import read_html
from findback.sources.opening import open_archive
from findback.sources.rows import list_files, peek_rows, read_rows
from findback.sources.scope import Scope, since_timestamp
from findback.sources.shelf import Shelf
from findback.text.wrappers import unwrap_link

name = "teams"
family: Family = "chat"
rules = ("link-thanks", "link", "help-thread", "cue", "no-answer")

MOST_CHARACTERS = 1_000_000
"""Longest body of a message that is read."""
_ARRAYS = frozenset(("value", "messages"))
_PEEKED_FILES = 10
_MEMBERSHIPS: dict[str, Audience] = {"standard": "public", "private": "private", "shared": "private"}
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)

_Record = tuple[dict[str, Any], Place]
"""A message as Graph gives it, and where it lies."""


def recognise(path: Path) -> str | None:
    """Return why a path holds Teams messages, or None."""
    try:
        with open_archive(path) as archive:
            for member in list_files(archive)[:_PEEKED_FILES]:
                if any(_is_message(row.value) for row in peek_rows(archive, member, _ARRAYS)):
                    return "messages with messageType, body.contentType and createdDateTime"
    except FindbackError:
        return None
    return None


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading Teams messages, with lists of channels and people where they lie beside.

    The messages say nothing about who could read a channel: without a list of channels it counts as private.
    Messages come in any order, so that all of them are read and put aside by channel before the first thread.

    Raises:
        DataError: If it cannot be opened, or, at the end of reading, if records in it are broken.
        RefusedError: If it is larger than may be read.
    """
    archive = open_archive(path)
    reading = Reading()
    for reason, count in archive.left_out.items():
        reading.skipped.add(reason, count)
    reader = _Teams(archive, options, reading)
    reader.load()
    reading.threads = reader.threads()
    return reading


class _Teams:
    def __init__(self, archive: Archive, options: SourceOptions, reading: Reading) -> None:
        self.archive = archive
        self.options = options
        self.reading = reading
        self.faults = Faults()
        self.scope = Scope(options)
        self.since = since_timestamp(options.since)
        self.shelf = Shelf(str(archive.path), options.scratch)
        self.chats: dict[str, str | None] = {}
        self.channels: dict[str, tuple[str | None, Audience | None]] = {}
        self.people: dict[str, dict[str, None]] = {}
        self.mails: dict[str, tuple[str, ...]] = {}

    def load(self) -> None:
        """Read everything there is, without building messages."""
        members = list_files(self.archive)
        others = len(self.archive.names) - len(members)
        if others:
            self.reading.skipped.add("files of other kinds", others)
        strange = 0
        with self.archive:
            for member in members:
                for row in read_rows(self.archive, member, _ARRAYS, self.faults, self.reading.skipped):
                    if row.value.get("messageType") is not None or "body" in row.value:
                        self.add_message(row.value, row.place)
                    elif not (self.add_channel(row.value) or self.add_person(row.value)):
                        strange += 1
        if strange:
            self.reading.skipped.add("records that are no messages", strange)
        if not (len(self.shelf) or self.chats or self.faults.count):
            raise DataError(f"{self.archive.path} holds no Teams message", hint="expected Graph chatMessage objects")
        self.reading.people += [
            Person(identity, tuple(names), mails=self.mails.get(identity, ()))
            for identity, names in self.people.items()
        ]

    def add_message(self, value: dict[str, Any], place: Place) -> None:
        identity = value.get("id")
        chat = value.get("chatId")
        channel = value.get("channelIdentity")
        where = channel.get("channelId") if isinstance(channel, dict) else chat
        if not isinstance(identity, str) or not isinstance(where, str):
            self.faults.add(place.file, None, f"the message at {place.offset} has no id, or no channel and no chat")
            return
        self.learn(value)
        if isinstance(chat, str):
            if where not in self.chats:
                self.chats[where] = self.scope.refuse([where], "direct")
            reason = self.chats[where]
            if reason is not None:
                self.reading.skipped.add(f"messages in {reason}")
                return
        self.shelf.put(where, (value, place))

    def add_channel(self, value: Mapping[str, Any]) -> bool:
        membership = value.get("membershipType")
        if not isinstance(value.get("id"), str) or not isinstance(membership, str):
            return False
        title = value.get("displayName")
        self.channels[value["id"]] = (
            title if isinstance(title, str) else None,
            _MEMBERSHIPS.get(membership, "private"),
        )
        return True

    def add_person(self, value: Mapping[str, Any]) -> bool:
        if not isinstance(value.get("id"), str) or not isinstance(value.get("displayName"), str):
            return False
        self.name_person(value["id"], *(value.get(key) for key in ("displayName", "givenName", "surname")))
        mails = [value.get(key) for key in ("mail", "userPrincipalName")]
        self.mails[value["id"]] = tuple(dict.fromkeys(mail for mail in mails if isinstance(mail, str) and "@" in mail))
        return True

    def name_person(self, identity: Any, *names: Any) -> None:
        if isinstance(identity, str):
            held = self.people.setdefault(identity, {})
            held.update(dict.fromkeys(text for text in names if isinstance(text, str) and text.strip()))

    def learn(self, value: Mapping[str, Any]) -> None:
        """Take the names a message carries into the roster."""
        user = _user_of(value.get("from"))
        self.name_person(user.get("id"), user.get("displayName"))
        for mention in _objects(value.get("mentions")):
            user = _user_of(mention.get("mentioned"))
            self.name_person(user.get("id"), user.get("displayName"), mention.get("mentionText"))

    def threads(self) -> Iterator[Thread]:
        unknown = False
        for identity, records in self.shelf.take():
            title, audience = self.channels.get(identity, (None, None))
            if identity in self.chats:
                audience = "direct"
            reason = self.scope.refuse([identity, *([title] if title else [])], audience)
            if reason is not None:
                unknown = unknown or audience is None
                self.reading.skipped.add(f"messages in {reason}", len({value["id"] for value, _ in records}))
                continue
            yield from self.threads_of(identity, self.newest(records), title, audience or "private")
        if unknown:
            self.reading.notes.append(
                "Teams messages do not say who could read a channel: it counts as private; name it, or put Graph's "
                "list of channels (with membershipType) beside"
            )
        self.faults.settle(
            str(self.archive.path), self.reading.skipped, self.reading.notes, skip_bad=self.options.skip_bad
        )

    def newest(self, records: Iterable[_Record]) -> list[_Record]:
        """Return each message once: exports by person hold it once for each member of the conversation."""
        held: dict[str, _Record] = {}
        for record in records:
            known = held.setdefault(record[0]["id"], record)
            if known is record:
                continue
            self.reading.skipped.add("further copies of the same message")
            if str(record[0].get("lastModifiedDateTime") or "") > str(known[0].get("lastModifiedDateTime") or ""):
                held[record[0]["id"]] = record
        return list(held.values())

    def threads_of(
        self, identity: str, records: list[_Record], title: str | None, audience: Audience
    ) -> Iterator[Thread]:
        built: list[tuple[str, Message, str | None]] = []
        for value, where in records:
            message = self.build(value, where, audience)
            if message is not None:
                parent = value.get("replyToId")
                subject = value.get("subject")
                built.append((str(parent or message.id), message, subject if isinstance(subject, str) else None))
        built.sort(key=lambda entry: (entry[1].at or _NO_TIME, entry[1].id))
        groups: dict[str, list[tuple[str, Message, str | None]]] = {}
        if audience == "direct":
            for run in split_at_gaps(built, lambda entry: _seconds(entry[1])):
                groups[run[0][1].id] = run
        else:
            for entry in built:
                groups.setdefault(entry[0], []).append(entry)
        for root, group in groups.items():
            if max(_seconds(entry[1]) for entry in group) < self.since:
                self.reading.skipped.add("threads before the time asked for")
                continue
            gap = audience == "direct" and len(group) > 1
            yield Thread(
                id=f"{identity}:{root}",
                source=name,
                container=identity,
                container_name=title,
                kind="gap" if gap else "thread",
                audience=audience,
                title=next((subject for _, message, subject in group if message.id == root and subject), None),
                messages=tuple(message for _, message, _ in group),
                help_channel=None if title is None else self.scope.is_help(title),
                parent_missing=not gap and group[0][1].id != root,
            )

    def build(self, value: Mapping[str, Any], place: Place, audience: Audience) -> Message | None:
        """Return a message as a record; None, counted, where nobody wrote it or it is gone."""
        kind = value.get("messageType", "message")
        if kind != "message":
            self.reading.skipped.add("notices of the system")
            return None
        if value.get("deletedDateTime") is not None:
            self.reading.skipped.add("deleted messages")
            return None
        body = value.get("body")
        content = body.get("content") if isinstance(body, dict) else None
        text = content if isinstance(content, str) else ""
        if len(text) > MOST_CHARACTERS:
            self.reading.skipped.add(f"messages longer than {MOST_CHARACTERS:,} characters")
            return None
        html = isinstance(body, dict) and str(body.get("contentType", "")).casefold() == "html"
        marked = read_html(text, mentions=_mentions(value)) if html else read_plain(text)
        author, actor = _author(value.get("from"))
        return Message(
            id=str(value["id"]),
            author=author,
            actor=actor,
            at=self.time_of(value, place),
            text=marked.text,
            marks=marked.marks,
            links=_links(marked, value),
            extras=(*marked.extras, *_attachment_names(value)),
            reactions=tuple(_reactions(value)),
            audience=audience,
            # lastModifiedDateTime moves with reactions too, and is no edit.
            edited=value.get("lastEditedDateTime") is not None,
            place=place,
        )

    def time_of(self, value: Mapping[str, Any], place: Place) -> datetime | None:
        try:
            at = datetime.fromisoformat(str(value.get("createdDateTime")))
        except ValueError:
            self.faults.add(place.file, None, f"the message at {place.offset} has no createdDateTime")
            return None
        at = at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)
        self.reading.until = at if self.reading.until is None else max(at, self.reading.until)
        return at


def _is_message(value: Mapping[str, Any]) -> bool:
    body = value.get("body")
    return (
        isinstance(body, dict)
        and "contentType" in body
        and isinstance(value.get("createdDateTime"), str)
        and ("messageType" in value or "channelIdentity" in value or "chatId" in value)
    )


def _objects(values: Any) -> Iterator[dict[str, Any]]:
    yield from (value for value in values if isinstance(value, dict)) if isinstance(values, list) else ()


def _user_of(identity: Any) -> Mapping[str, Any]:
    user = identity.get("user") if isinstance(identity, dict) else None
    return user if isinstance(user, dict) else {}


def _author(sender: Any) -> tuple[str | None, ActorKind]:
    if isinstance(sender, dict):
        for key, actor in (("user", "human"), ("application", "bot"), ("device", "unknown")):
            held = sender.get(key)
            if isinstance(held, dict):
                identity = held.get("id") or held.get("displayName")
                return (identity if isinstance(identity, str) else None), actor  # type: ignore[return-value]
    return None, "unknown"


def _mentions(value: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for mention in _objects(value.get("mentions")):
        identity = _user_of(mention.get("mentioned")).get("id")
        if isinstance(identity, str):
            found[str(mention.get("id"))] = identity
    return found


def _links(marked: Marked, value: Mapping[str, Any]) -> tuple[Link, ...]:
    links = [link._replace(url=unwrap_link(link.url)) for link in marked.links]
    for attachment in _objects(value.get("attachments")):
        url, label = attachment.get("contentUrl"), attachment.get("name")
        if isinstance(url, str) and url.startswith(("http://", "https://")):
            links.append(Link(unwrap_link(url), label=label if isinstance(label, str) else None))
    return tuple(links)


def _attachment_names(value: Mapping[str, Any]) -> Iterator[str]:
    for attachment in _objects(value.get("attachments")):
        if isinstance(attachment.get("name"), str) and attachment["name"].strip():
            yield attachment["name"]


def _reactions(value: Mapping[str, Any]) -> Iterator[Reaction]:
    given: dict[str, list[str]] = {}
    for reaction in _objects(value.get("reactions")):
        kind, who = reaction.get("reactionType"), _user_of(reaction.get("user")).get("id")
        if isinstance(kind, str):
            given.setdefault(kind, []).extend([who] if isinstance(who, str) else [])
    yield from (Reaction(kind, tuple(who)) for kind, who in given.items())


def _seconds(message: Message) -> float:
    return message.at.timestamp() if message.at is not None else 0.0
