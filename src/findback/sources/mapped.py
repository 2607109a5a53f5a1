"""Messages of any program, read by a mapping that says which field is which."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from findback.errors import DataError, FindbackError, SettingsError
from findback.model.hits import Span
from findback.model.thread import (
    ActorKind,
    Audience,
    Link,
    Mark,
    Message,
    Person,
    Place,
    Reaction,
    StatusChange,
    Thread,
)
from findback.sources.archive import Archive, open_archive
from findback.sources.chat.gaps import split_at_gaps, uses_threads
from findback.sources.chat.slack_text import read_slack_text
from findback.sources.faults import Faults
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.markdown import read_markdown
from findback.sources.marked import Marked, read_plain, settle_marks
from findback.sources.markup import read_html
from findback.sources.paths import Row
from findback.sources.rows import ROOT, list_files, read_rows
from findback.sources.scope import Scope, since_timestamp
from findback.sources.searchlog.times import read_time

SHIPPED = ("discord", "mattermost", "zulip")
MOST_CHARACTERS = 1_000_000
_DISCORD = re.compile(r"<(@!?|@&|#)(\d{1,25})>")
_DISCORD_KINDS = {"@": "user", "@!": "user", "@&": "group", "#": "channel"}
_REQUIRED = ("author", "at", "text", "container")
_PEEKED_FILES = 5


@dataclass(frozen=True, slots=True)
class MessageMapping:
    """Which field is which."""

    what: str
    files: str
    arrays: frozenset[str]
    contains: tuple[str, ...]
    beside: tuple[str, ...]
    message: Mapping[str, str]
    people: Mapping[str, str]
    containers: Mapping[str, str]
    direct: Mapping[str, str]
    audiences: Mapping[str, Audience]


class _Place(NamedTuple):
    """A channel as a list of the export has it."""

    name: str | None
    audience: Audience | None


@dataclass(slots=True)
class _Held:
    """A message before threads are known."""

    message: Message
    thread: str | None
    reply_to: str | None
    title: str | None
    whole: bool


@dataclass(slots=True)
class _Channel:
    name: str | None
    audience: Audience | None
    messages: dict[str, _Held] = field(default_factory=dict)


@lru_cache
def load_mapping(name: str) -> MessageMapping:
    """Return a shipped mapping of messages.

    Raises:
        SettingsError: If there is none of that name.
    """
    path = files("findback.sources") / "mappings" / f"{name}.toml"
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"no mapping named {name!r}", hint=f"shipped: {', '.join(SHIPPED)}") from None
    return _mapping_of(listed)


def _mapping_of(listed: Mapping[str, Any]) -> MessageMapping:
    recognised = listed.get("recognise", {})
    return MessageMapping(
        what=listed.get("what", "messages"),
        files=listed.get("files", "*"),
        arrays=frozenset(listed.get("arrays", ())),
        contains=tuple(recognised.get("contains", ())),
        beside=tuple(recognised.get("beside", ())),
        message=listed.get("message", {}),
        people=listed.get("people", {}),
        containers=listed.get("containers", {}),
        direct=listed.get("direct", {}),
        audiences=listed.get("audiences", {}),
    )


def change_mapping(mapping: MessageMapping, given: Mapping[str, str] | None) -> MessageMapping:
    """Return a mapping with a user's own paths in the place of some of its own.

    Args:
        mapping: The one to start from.
        given: `text = "body.plain"` for a message's fields, `people.id = "…"`, `containers.name = "…"` and
            `audiences.open = "public"` for the rest, `files` and `arrays` (separated by commas).

    Raises:
        SettingsError: If a key is none of these.
    """
    if not given:
        return mapping
    parts: dict[str, dict[str, Any]] = {
        "message": dict(mapping.message),
        "people": dict(mapping.people),
        "containers": dict(mapping.containers),
        "direct": dict(mapping.direct),
        "audiences": dict(mapping.audiences),
    }
    names, arrays = mapping.files, mapping.arrays
    for key, value in given.items():
        part, dot, rest = key.partition(".")
        if key == "files":
            names = value
        elif key == "arrays":
            arrays = frozenset(name.strip() for name in value.split(","))
        elif dot and part in parts:
            parts[part][rest] = value
        elif not dot:
            parts["message"][key] = value
        else:
            raise SettingsError(f"a mapping of messages has no {key!r}", hint=f"parts: {', '.join(parts)}")
    strange = [
        value for value in parts["audiences"].values() if value not in ("public", "internal", "private", "direct")
    ]
    if strange:
        raise SettingsError(f"{strange[0]!r} is no audience", hint="public, internal, private or direct")
    return MessageMapping(mapping.what, names, arrays, mapping.contains, mapping.beside, **parts)


class MappedMessages:
    """A reader of messages by one mapping."""

    family: Family = "chat"
    rules = ("link-thanks", "link", "help-thread", "cue", "no-answer")

    def __init__(self, name: str) -> None:
        self.name = name

    def recognise(self, path: Path) -> str | None:
        """Return why a path is an export that the mapping was made for, or None."""
        try:
            mapping = load_mapping(self.name)
            with open_archive(path) as archive:
                names = [name.rpartition("/")[2] for name in archive.names]
                if mapping.beside and all(any(fnmatchcase(name, glob) for name in names) for glob in mapping.beside):
                    return mapping.what
                if not mapping.contains:
                    return None
                for member in [name for name in list_files(archive) if _is_file(name, mapping.files)][:_PEEKED_FILES]:
                    head = b"".join(archive.peek(member).split())
                    if all(literal.encode() in head for literal in mapping.contains):
                        return mapping.what
        except FindbackError:
            return None
        return None

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Begin reading messages; all of them are held until their threads are known.

        Raises:
            SettingsError: If the mapping lacks a field without which there are no threads.
            DataError: If it cannot be opened, or, at the end of reading, if records in it are broken.
            RefusedError: If it is larger than may be read.
        """
        mapping = change_mapping(load_mapping(self.name), options.mapping)
        missing = [key for key in _REQUIRED if not mapping.message.get(key)]
        if missing:
            raise SettingsError(f"the mapping does not say which field is {', '.join(missing)}")
        archive = open_archive(path)
        reading = Reading()
        for reason, count in archive.left_out.items():
            reading.skipped.add(reason, count)
        reader = _Mapped(self.name, mapping, archive, options, reading)
        reader.load()
        reading.threads = reader.threads()
        return reading


discord = MappedMessages("discord")
mattermost = MappedMessages("mattermost")
zulip = MappedMessages("zulip")
messages = MappedMessages("messages")


class _Mapped:
    def __init__(
        self, name: str, mapping: MessageMapping, archive: Archive, options: SourceOptions, reading: Reading
    ) -> None:
        self.name = name
        self.mapping = mapping
        self.archive = archive
        self.options = options
        self.reading = reading
        self.faults = Faults()
        self.scope = Scope(options)
        self.since = since_timestamp(options.since)
        self.people: dict[str, Person] = {}
        self.listed: dict[str, _Place] = {}
        self.channels: dict[str, _Channel] = {}

    def load(self) -> None:
        """Read people, channels and messages."""
        members = list_files(self.archive)
        with self.archive:
            self.load_lists(members)
            used = 0
            for member in members:
                if not _is_file(member, self.mapping.files) and len(members) > 1:
                    continue
                used += 1
                self.load_messages(member)
        left = len(self.archive.names) - used
        if left:
            self.reading.skipped.add("files without messages", left)
        if not self.channels and not self.faults.count:
            raise DataError(f"{self.archive.path} holds no messages of this kind", hint=f"expected {self.mapping.what}")
        self.reading.people += self.people.values()

    def rows(self, member: str, array: str | None) -> Iterator[tuple[Row, Place]]:
        """Yield the rows of a member, with what its document says beside them where a path asks for that."""
        arrays = array.split(",") if array else None
        rooted = any(path.startswith("/") for path in self.mapping.message.values())
        held: list[tuple[dict[str, Any], Place]] = []
        root: dict[str, Any] = {}
        for row in read_rows(self.archive, member, self.mapping.arrays, self.faults, self.reading.skipped):
            if row.array == ROOT:
                root = row.value
            elif arrays is not None and row.array not in arrays:
                continue
            elif rooted:
                held.append((row.value, row.place))
            else:
                yield Row(row.value, {}), row.place
        for value, place in held:
            yield Row(value, root), place

    def load_lists(self, members: list[str]) -> None:
        people, containers = self.mapping.people, self.mapping.containers
        joined: dict[str, Row] = {}
        waiting: list[tuple[str, Row]] = []
        for member in members:
            for row, _ in self.rows(member, people.get("array")) if _lists(member, people, self.mapping) else ():
                self.add_person(row)
            for row, _ in (
                self.rows(member, containers.get("join_array"))
                if containers.get("join") and _lists(member, containers, self.mapping)
                else ()
            ):
                identity = row.text(containers.get("join_id"))
                if identity is not None:
                    joined[identity] = row
            for row, _ in (
                self.rows(member, containers.get("array")) if _lists(member, containers, self.mapping) else ()
            ):
                inner = _record(row, containers)
                if row.meets(containers.get("where")) and inner is not None:
                    identity = inner.text(containers.get("id"))
                    if identity is not None:
                        waiting.append((identity, inner))
        for identity, row in waiting:
            audience, title = self.audience_of(row.text(containers.get("audience"))), row.text(containers.get("name"))
            other = joined.get(row.text(containers.get("join")) or "") if audience is None else None
            if other is not None:
                audience = self.audience_of(other.text(containers.get("join_audience")))
                title = other.text(containers.get("join_name"))
            self.listed[identity] = _Place(title, audience)

    def audience_of(self, said: str | None) -> Audience | None:
        return self.mapping.audiences.get(said) if said is not None else None

    def add_person(self, row: Row) -> None:
        people = self.mapping.people
        inner = _record(row, people)
        if inner is None or not row.meets(people.get("where")):
            return
        identity = inner.text(people.get("id"))
        if identity is not None:
            self.people[identity] = Person(
                identity,
                inner.texts(people.get("names")),
                mails=inner.texts(people.get("mails")),
                phones=inner.texts(people.get("phones")),
                bot=inner.flag(people.get("bot")),
                gone=inner.flag(people.get("gone")),
            )

    def load_messages(self, member: str) -> None:
        paths = self.mapping.message
        for row, place in self.rows(member, paths.get("array")):
            if self.mapping.direct and row.meets(self.mapping.direct.get("where")):
                self.reading.skipped.add("messages in direct messages")
                continue
            if not row.meets(paths.get("where")):
                continue
            inner = _record(row, paths)
            if inner is None:
                self.faults.add(place.file, None, f"the record at {place.offset} has no {paths.get('record')}")
                continue
            if not inner.meets(paths.get("keep")):
                self.reading.skipped.add("notices of the system")
                continue
            self.add_message(inner, place)

    def add_message(self, row: Row, place: Place) -> None:
        paths = self.mapping.message
        whole = bool(paths.get("whole")) and row.meets(paths["whole"])
        own = row.text(paths["container"])
        container = (row.text(paths.get("whole_container")) if whole else None) or own
        if container is None or own is None:
            self.faults.add(place.file, None, f"the message at {place.offset} does not say in which channel it stands")
            return
        channel = self.channel_of(container, row, whole=whole)
        message = self.build(row, place, channel.audience or "private")
        if message is None:
            return
        title = row.text(paths.get("whole_title") if whole else paths.get("title"))
        thread = own if whole else row.text(paths.get("thread"))
        held = _Held(message, thread, row.text(paths.get("reply_to")), title, whole)
        known = channel.messages.get(message.id)
        if known is not None:
            self.reading.skipped.add("further copies of the same message")
            if not message.edited:
                return
        channel.messages[message.id] = held
        for number, reply in enumerate(row.all(paths.get("replies"))):
            if isinstance(reply, Mapping):
                answer = self.build(
                    Row(reply, row.root),
                    Place(place.file, place.offset),
                    channel.audience or "private",
                    f"{message.id}.{number}",
                )
                if answer is not None:
                    channel.messages[answer.id] = _Held(answer, thread, message.id, None, whole)

    def channel_of(self, container: str, row: Row, *, whole: bool) -> _Channel:
        known = self.channels.get(container)
        if known is not None:
            return known
        paths = self.mapping.message
        listed = self.listed.get(container)
        named = row.text(paths.get("whole_container_name") if whole else paths.get("container_name"))
        audience = self.audience_of(row.text(paths.get("audience")))
        found = self.channels[container] = _Channel(
            (listed.name if listed else None) or named, (listed.audience if listed else None) or audience
        )
        return found

    def build(self, row: Row, place: Place, audience: Audience, fallback: str | None = None) -> Message | None:
        """Return a message as a record; None, counted, where it is too long or says nothing."""
        paths = self.mapping.message
        text = row.text(paths["text"]) or ""
        if len(text) > MOST_CHARACTERS:
            self.reading.skipped.add(f"messages longer than {MOST_CHARACTERS:,} characters")
            return None
        if row.flag(paths.get("deleted")):
            self.reading.skipped.add("deleted messages")
            return None
        at = read_time(row.first(paths["at"]))
        author = row.text(paths["author"])
        identity = row.text(paths.get("id")) or (f"{at.timestamp():.3f}-{author}" if at is not None else fallback)
        if identity is None:
            self.faults.add(place.file, None, f"the message at {place.offset} has neither id nor time")
            return None
        self.learn(author, row)
        marked = _read_markup(text, paths.get("markup", "plain"))
        known = self.people.get(author) if author is not None else None
        program = row.flag(paths.get("bot")) or (known is not None and known.bot)
        actor: ActorKind = "bot" if program else "unknown" if author is None else "human"
        if at is not None:
            stamp = at.replace(tzinfo=UTC)
            self.reading.until = stamp if self.reading.until is None else max(stamp, self.reading.until)
        seen = {link.url for link in marked.links}
        return Message(
            id=identity,
            author=author,
            actor=actor,
            at=at.replace(tzinfo=UTC) if at is not None else None,
            text=marked.text,
            marks=marked.marks,
            links=(*marked.links, *(Link(url) for url in row.texts(paths.get("links")) if url not in seen)),
            extras=(*marked.extras, *row.texts(paths.get("extras"))),
            reactions=tuple(_reactions(row, paths)),
            audience=audience,
            edited=row.flag(paths.get("edited")),
            place=place,
        )

    def learn(self, author: str | None, row: Row) -> None:
        names = row.texts(self.mapping.message.get("names"))
        if author is not None and names and author not in self.people:
            self.people[author] = Person(author, names, bot=row.flag(self.mapping.message.get("bot")))

    def threads(self) -> Iterator[Thread]:
        unknown = False
        for identity in sorted(self.channels):
            channel = self.channels.pop(identity)
            reason = self.scope.refuse([identity, *([channel.name] if channel.name else [])], channel.audience)
            if reason is not None:
                unknown = unknown or channel.audience is None
                self.reading.skipped.add(f"messages in {reason}", len(channel.messages))
                continue
            yield from self.threads_of(identity, channel)
        if unknown:
            self.reading.notes.append(
                "some channels do not say who could read them: they count as private; name them to read them"
            )
        self.faults.settle(
            str(self.archive.path), self.reading.skipped, self.reading.notes, skip_bad=self.options.skip_bad
        )

    def threads_of(self, identity: str, channel: _Channel) -> Iterator[Thread]:
        held = sorted(channel.messages.values(), key=_by_time)
        groups: dict[str, list[_Held]] = {}
        for one in held:
            groups.setdefault(self.root_of(one, channel), []).append(one)
        alone = [key for key, group in groups.items() if len(group) == 1 and group[0].thread is None]
        joined: set[str] = set()
        if len(alone) > 1 and not uses_threads(len(held) - len(alone), len(alone)):
            singles = [groups.pop(key)[0] for key in alone]
            for run in split_at_gaps(singles, lambda one: _by_time(one)[0]):
                groups[run[0].message.id] = run
                joined |= {run[0].message.id} if len(run) > 1 else set()
        for key, group in sorted(groups.items(), key=lambda entry: _by_time(entry[1][0])):
            if _by_time(group[-1])[0] < self.since:
                self.reading.skipped.add("threads before the time asked for")
                continue
            yield self.thread_of(identity, channel, key, group, gap=key in joined)

    def root_of(self, held: _Held, channel: _Channel) -> str:
        """Return what names the thread a message belongs to: its topic, or the message at the top of its replies."""
        if held.thread is not None:
            return held.thread.removeprefix(self.mapping.message.get("resolved", ""))
        seen = {held.message.id}
        while held.reply_to is not None:
            parent = channel.messages.get(held.reply_to)
            if parent is None or parent.message.id in seen:
                return held.reply_to
            held = parent
            seen.add(held.message.id)
        return held.message.id

    def thread_of(self, identity: str, channel: _Channel, key: str, group: list[_Held], *, gap: bool) -> Thread:
        resolved = self.mapping.message.get("resolved")
        done = resolved is not None and any((one.thread or "").startswith(resolved) for one in group)
        title = next((one.title for one in group if one.title), None)
        last = group[-1].message.at
        return Thread(
            id=f"{identity}:{key}",
            source=self.name,
            container=identity,
            container_name=channel.name,
            kind="gap" if gap else "thread",
            audience=channel.audience or "private",
            title=title.removeprefix(resolved) if title and resolved else title,
            messages=tuple(one.message for one in group),
            changes=(StatusChange(at=last, status="resolved", closed=True),) if done else (),
            help_channel=None if channel.name is None else self.scope.is_help(channel.name),
            parent_missing=group[0].reply_to is not None
            and group[0].reply_to not in channel.messages
            and group[0].thread is None,
        )


def _is_file(name: str, globs: str) -> bool:
    return any(fnmatchcase(name.rpartition("/")[2], glob.strip()) for glob in globs.split(","))


def _lists(member: str, part: Mapping[str, str], mapping: MessageMapping) -> bool:
    """Return whether a member may hold the rows of a list."""
    return bool(part.get("id")) and _is_file(member, part.get("files", mapping.files))


def _record(row: Row, part: Mapping[str, str]) -> Row | None:
    """Return the record inside a row, or the row itself where nothing says it lies deeper."""
    path = part.get("record")
    if not path:
        return row
    inner = row.first(path)
    return Row(inner, row.root) if isinstance(inner, Mapping) else None


def _read_markup(text: str, markup: str) -> Marked:
    if markup == "slack":
        return read_slack_text(text)
    if markup == "html":
        return read_html(text)
    if markup == "plain":
        return read_plain(text)
    marked = read_markdown(text)
    if markup != "discord" or "<" not in text:
        return marked
    named = [Mark(Span(*match.span()), _DISCORD_KINDS[match[1]], match[2]) for match in _DISCORD.finditer(text)]  # type: ignore[arg-type]
    return marked._replace(marks=settle_marks([*marked.marks, *named]))


def _reactions(row: Row, paths: Mapping[str, str]) -> Iterator[Reaction]:
    given: dict[str, list[str]] = {}
    for value in row.all(paths.get("reactions")):
        if isinstance(value, Mapping):
            inner = Row(value, row.root)
            kind = inner.text(paths.get("reaction"))
            if kind is not None:
                given.setdefault(kind, []).extend(inner.texts(paths.get("reacting")))
    yield from (Reaction(kind, tuple(who)) for kind, who in given.items())


def _by_time(held: _Held) -> tuple[float, str]:
    at: datetime | None = held.message.at
    return (at.timestamp() if at is not None else 0.0), held.message.id
