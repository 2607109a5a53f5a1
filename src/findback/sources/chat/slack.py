"""Slack: a workspace export as zip or folder, or JSON Lines of messages."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from findback.errors import DataError, FindbackError, RefusedError
from findback.model.thread import Thread
from findback.sources.archive import Archive, explain_json, open_archive
from findback.sources.chat.slack_entries import REST, TEXT, TS, Entries, Entry
from findback.sources.chat.slack_index import LISTS, PEOPLE, SLACKBOT, Channel, Index, find_days, read_index
from findback.sources.chat.slack_message import build_message, is_by_bot, join_conversations, seconds
from findback.sources.collector import paused_collector
from findback.sources.faults import Faults
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.scope import Scope, since_timestamp

name = "slack"
family: Family = "chat"
rules = ("link-thanks", "link", "help-thread", "cue", "no-answer")

_TS = re.compile(r"\d{9,11}\.\d{1,6}")
_LINES = (".jsonl", ".ndjson", ".json")
_AUDIENCES = {"channel": "public", "group": "private", "mpim": "direct", "im": "direct"}
_PEEKED = 20


def recognise(path: Path) -> str | None:
    """Return why a path is a Slack export, or None."""
    try:
        with open_archive(path) as archive:
            days = find_days(archive.names)
            files = {name.rpartition("/")[2] for name in archive.names}
            lists = sorted(files & {*LISTS, *PEOPLE})
            if days and lists:
                return f"{', '.join(lists)} beside folders of day files"
            if len(archive.names) == 1 and _looks_like_lines(archive.peek(archive.names[0])):
                return "messages with Slack's ts, one a line"
    except FindbackError:
        return None
    return None


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading a Slack export, channel by channel.

    People are complete before the first thread, but for those only messages name, who come with their channel.

    Raises:
        DataError: If it cannot be opened, or, at the end of reading, if records in it are broken.
        RefusedError: If it is larger than may be read.
    """
    archive = open_archive(path)
    reading, faults = Reading(), Faults()
    for reason, count in archive.left_out.items():
        reading.skipped.add(reason, count)
    if len(archive.names) == 1 and not find_days(archive.names):
        reading.threads = _Lines(archive, options, reading, faults).threads()
        return reading
    index = read_index(archive, faults)
    if not index.channels:
        archive.close()
        raise DataError(
            f"{path} holds no day of a Slack channel", hint="expected folders of files named YYYY-MM-DD.json"
        )
    reading.threads = _Export(archive, index, options, reading, faults).threads()
    return reading


class _Reader:
    """What both shapes have in common: conversations of one channel become threads."""

    def __init__(self, archive: Archive, options: SourceOptions, reading: Reading, faults: Faults) -> None:
        self.archive = archive
        self.options = options
        self.reading = reading
        self.faults = faults
        self.scope = Scope(options)
        self.since = since_timestamp(options.since)
        self.known: set[str] = set()

    def new_entries(self) -> Entries:
        return Entries(self.reading.skipped, self.faults, self.reading.people, self.known)

    def build(self, channel: Channel, entries: Entries) -> Iterator[Thread]:
        """Yield the threads of a channel that are wanted."""
        bots = {person.id for person in self.reading.people if person.bot} | {SLACKBOT}
        helps = self.scope.is_help(channel.name)
        entries.finish()
        refuse = partial(self.refuse, bots, None if helps else self.options.screen)
        for conversation in join_conversations(entries.threads, bots, refuse, self.reading.skipped):
            audience = channel.audience or "private"
            messages = tuple(build_message(entry, entries.locate, bots, audience) for entry in conversation.entries)
            yield Thread(
                id=f"{channel.id}:{conversation.key}",
                source=name,
                container=channel.id,
                container_name=channel.name,
                kind=conversation.kind,
                audience=audience,
                messages=messages,
                help_channel=helps,
                parent_missing=conversation.kind == "thread" and messages[0].id != conversation.key,
            )

    def refuse(self, bots: set[str], screen: Callable[[str], bool] | None, group: list[Entry]) -> str | None:
        """Return why messages that belong together are not wanted, or None if they are."""
        if self.since > 0 and max(seconds(entry[TS]) for entry in group) < self.since:
            return "threads before the time asked for"
        if len(group) == 1 and is_by_bot(group[0], bots):
            return "messages of programs that nobody answered"
        if screen is None:
            return None
        for entry in group:
            if screen(entry[TEXT]) or (entry[REST] is not None and _may_link(entry)):
                return None
        return "threads with neither a link nor a cue"


class _Export(_Reader):
    """Folders of day files."""

    def __init__(
        self, archive: Archive, index: Index, options: SourceOptions, reading: Reading, faults: Faults
    ) -> None:
        super().__init__(archive, options, reading, faults)
        self.index = index
        reading.people += index.people.values()
        self.known.update(index.people)
        if index.ignored:
            reading.skipped.add("files that are no part of a Slack export", index.ignored)
        if index.last_day is not None:
            reading.until = _start_of(index.last_day)

    def threads(self) -> Iterator[Thread]:
        with self.archive:
            read = [channel for channel in self.index.channels if self.wants(channel)]
            if not self.index.people_listed:
                self.learn_people(read)
            for channel in read:
                entries = self.new_entries()
                for day in channel.days:
                    self.add_day(day, entries)
                yield from self.build(channel, entries)
            self.faults.settle(
                str(self.archive.path), self.reading.skipped, self.reading.notes, skip_bad=self.options.skip_bad
            )

    def wants(self, channel: Channel) -> bool:
        reason = self.scope.refuse(channel.names, channel.audience)
        if reason is None:
            return True
        self.reading.skipped.add(reason)
        if channel.audience is None:
            self.reading.notes.append(
                f"nothing says who could read {channel.name}: it counts as private; name it to read it"
            )
        return False

    def add_day(self, day: str, entries: Entries) -> None:
        try:
            raw = self.archive.read(day)
            with paused_collector():
                entries.add_day(self.archive.where(day), orjson.loads(raw))
        except orjson.JSONDecodeError as error:
            self.faults.add(self.archive.where(day), error.lineno, f"not JSON: {explain_json(error)}")
        except DataError as error:
            self.faults.add(self.archive.where(day), None, error.faults[0].message if error.faults else error.message)
        except RefusedError as error:
            if not self.options.skip_bad:
                raise
            self.faults.add(self.archive.where(day), None, error.message)

    def learn_people(self, channels: list[Channel]) -> None:
        """Read once through everything for the names that messages carry."""
        self.reading.notes.append("users.json is missing: people are known by the names their messages carry")
        quiet = Entries(type(self.reading.skipped)(), Faults(), self.reading.people, self.known)
        for channel in channels:
            for day in channel.days:
                try:
                    quiet.add_day("", orjson.loads(self.archive.read(day)))
                except (orjson.JSONDecodeError, FindbackError):
                    continue
                quiet.threads.clear()


class _Lines(_Reader):
    """Message objects, one a line, with their channel inside."""

    def threads(self) -> Iterator[Thread]:
        with self.archive:
            channels: dict[str, Channel] = {}
            held: dict[str, Entries] = {}
            refused: dict[str, str | None] = {}
            member = self.archive.names[0]
            where = self.archive.where(member)
            for number, offset, messages, channel in self.read_lines(member, where):
                known = channels.setdefault(channel.id, channel)
                if channel.id not in refused:
                    refused[channel.id] = self.scope.refuse(known.names, known.audience)
                reason = refused[channel.id]
                if reason is not None:
                    self.reading.skipped.add(f"messages in {reason}", len(messages))
                    continue
                entries = held.get(channel.id)
                if entries is None:
                    entries = held[channel.id] = self.new_entries()
                    entries.add_file(where)
                # Offsets of 4 GiB and more do not fit; they are told by line instead.
                entries.add_messages(0, messages, offset if offset < 1 << 32 else number)
            if any(reason and "audience" in reason for reason in refused.values()):
                self.reading.notes.append(
                    "JSON Lines do not say who could read a channel: it counts as private; name it to read it"
                )
            for identity in sorted(held):
                yield from self.build(channels[identity], held.pop(identity))
            self.faults.settle(where, self.reading.skipped, self.reading.notes, skip_bad=self.options.skip_bad)

    def read_lines(self, member: str, where: str) -> Iterator[tuple[int, int, list[Any], Channel]]:
        for line in self.archive.lines(member):
            if line.raw is None:
                self.reading.skipped.add("lines longer than may be read")
                continue
            try:
                value = orjson.loads(line.raw)
            except orjson.JSONDecodeError as error:
                self.faults.add(where, line.number, f"not JSON: {explain_json(error)}")
                continue
            for position, entry in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(entry, dict):
                    self.faults.add(where, line.number, f"entry {position + 1} is no object")
                    continue
                messages = _messages_of(entry)
                yield line.number, line.offset, messages, _channel_of(entry, messages)


def _messages_of(entry: dict[str, Any]) -> list[Any]:
    for key in ("messages", "m"):
        if isinstance(entry.get(key), list):
            return list(entry[key])
    return [entry]


def _channel_of(entry: dict[str, Any], messages: list[Any]) -> Channel:
    first = messages[0] if messages and isinstance(messages[0], dict) else {}
    given = entry.get("channel") or first.get("channel") or entry.get("channel_id") or entry.get("id")
    described = given if isinstance(given, dict) else {}
    identity = described.get("id") or given
    kind = entry.get("channel_type") or first.get("channel_type")
    audience: Any = _AUDIENCES.get(kind) if isinstance(kind, str) else None
    if audience is None and isinstance(identity, str) and identity.startswith("D"):
        audience = "direct"
    title = described.get("name") or entry.get("channel_name")
    return Channel(
        identity if isinstance(identity, str) and identity else "unknown",
        title if isinstance(title, str) else None,
        audience,
    )


def _may_link(entry: Entry) -> bool:
    """Return whether a message says something beside its text that a screen of texts does not see."""
    rest = entry[REST]
    return rest is not None and not entry[TEXT] and not rest.keys().isdisjoint(("blocks", "attachments", "files"))


def _start_of(day: str) -> datetime | None:
    try:
        return datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None


def _looks_like_lines(start: bytes) -> bool:
    for line in start.split(b"\n", _PEEKED)[:_PEEKED]:
        if not line.strip():
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            return False
        first = value[0] if isinstance(value, list) and value else value
        if not isinstance(first, dict):
            return False
        inner = _messages_of(first)
        message = inner[0] if inner else None
        return (
            isinstance(message, dict)
            and _TS.fullmatch(str(message.get("ts"))) is not None
            and ("user" in message or "bot_id" in message or message.get("type") == "message")
        )
    return False
