"""Channels of Slack exports to threads, one channel at a time."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from functools import partial
from typing import Any

import orjson

from findback.errors import DataError, FindbackError, RefusedError
from findback.model.thread import Thread
from findback.sources.archive import Archive, explain_json
from findback.sources.chat.slack_entries import TS, Entries, Entry
from findback.sources.chat.slack_index import SLACKBOT, Channel, Index
from findback.sources.chat.slack_message import Conversation, build_message, is_by_bot, join_conversations, seconds
from findback.sources.chat.slack_record import make_records, read_day
from findback.sources.collector import paused_collector
from findback.sources.faults import Faults
from findback.sources.format import Reading, SourceOptions
from findback.sources.scope import Scope, since_timestamp
from findback.sources.shelf import Shelf

SOURCE = "slack"
_AUDIENCES = {"channel": "public", "group": "private", "mpim": "direct", "im": "direct"}


class SlackReader:
    """What both shapes have in common: conversations of one channel become threads."""

    def __init__(self, archive: Archive, options: SourceOptions, reading: Reading, faults: Faults) -> None:
        self.archive = archive
        self.options = options
        self.reading = reading
        self.faults = faults
        self.scope = Scope(options)
        self.since = since_timestamp(options.since)
        self.known: set[str] = set()

    def settle(self) -> None:
        """Say what was wrong with the export.

        Raises:
            DataError: If records were broken and nobody asked to skip them.
        """
        self.faults.settle(
            str(self.archive.path), self.reading.skipped, self.reading.notes, skip_bad=self.options.skip_bad
        )

    def new_entries(self, channel: Channel) -> Entries:
        """Begin a channel."""
        screen = None if self.scope.is_help(channel.name) else self.options.screen
        return Entries(self.reading.skipped, self.faults, self.reading.people, self.known, screen=screen)

    def join(self, entries: Entries) -> Iterator[Conversation]:
        """Return the conversations of a channel that are wanted."""
        entries.finish()
        return join_conversations(entries, partial(self.refuse, self.bots()), self.reading.skipped)

    def build(self, channel: Channel, conversations: Iterable[Conversation], files: Sequence[str]) -> Iterator[Thread]:
        """Yield conversations of a channel as threads."""
        bots, helps = self.bots(), self.scope.is_help(channel.name)
        audience = channel.audience or "private"
        for key, kind, entries in conversations:
            messages = tuple(build_message(entry, files, bots, audience) for entry in entries)
            yield Thread(
                id=f"{channel.id}:{key}",
                source=SOURCE,
                container=channel.id,
                container_name=channel.name,
                kind=kind,
                audience=audience,
                messages=messages,
                help_channel=helps,
                parent_missing=kind == "thread" and messages[0].id != key,
            )

    def bots(self) -> frozenset[str]:
        """Return the users known to be programs."""
        return frozenset({SLACKBOT, *(person.id for person in self.reading.people if person.bot)})

    def refuse(self, bots: AbstractSet[str], group: list[Entry]) -> str | None:
        """Return why messages that belong together are not wanted, or None if they are."""
        if self.since > 0 and max(seconds(entry[TS]) for entry in group) < self.since:
            return "threads before the time asked for"
        if len(group) == 1 and is_by_bot(group[0], bots):
            return "messages of programs that nobody answered"
        return None


class ExportReader(SlackReader):
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

    def choose(self) -> list[Channel]:
        """Return the channels that are read, and count the others."""
        channels = [channel for channel in self.index.channels if self.wants(channel)]
        if not self.index.people_listed:
            self.learn_people(channels)
        return channels

    def scan(self, channel: Channel) -> Iterator[Thread]:
        """Yield the threads of one channel that are wanted; the whole channel is held meanwhile."""
        conversations, files = self.take(channel)
        yield from self.build(channel, conversations, files)

    def take(self, channel: Channel) -> tuple[Iterator[Conversation], list[str]]:
        """Return the conversations of one channel that are wanted, and the files their messages lie in."""
        entries = self.new_entries(channel)
        # Until most messages are let go of again, or the collector would look at each of them.
        with paused_collector():
            for day in channel.days:
                self.add_day(day, entries)
            return self.join(entries), entries.files

    def wants(self, channel: Channel) -> bool:
        """Return whether a channel is read; counted where not."""
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
        """Take the messages of one day file; what cannot be read becomes a fault."""
        try:
            entries.add_day(self.archive.where(day), read_day(self.archive.read(day)))
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
                    quiet.add_day("", read_day(self.archive.read(day)))
                except (orjson.JSONDecodeError, FindbackError):
                    continue
                quiet.threads.clear()


class LinesReader(SlackReader):
    """Message objects, one a line, with their channel inside."""

    def threads(self) -> Iterator[Thread]:
        """Yield the threads of every channel that is read; messages come in any order, and are put aside by channel."""
        with self.archive:
            shelf = Shelf(str(self.archive.path), self.options.scratch)
            channels: dict[str, Channel] = {}
            refused: dict[str, str | None] = {}
            where = self.archive.where(self.archive.names[0])
            for number, offset, messages, channel in self.read_lines(self.archive.names[0], where):
                known = channels.setdefault(channel.id, channel)
                if channel.id not in refused:
                    refused[channel.id] = self.scope.refuse(known.names, known.audience)
                reason = refused[channel.id]
                if reason is not None:
                    self.reading.skipped.add(f"messages in {reason}", len(messages))
                else:
                    shelf.put(channel.id, (number, offset, messages))
            if any(reason and "audience" in reason for reason in refused.values()):
                self.reading.notes.append(
                    "JSON Lines do not say who could read a channel: it counts as private; name it to read it"
                )
            for identity, records in shelf.take():
                conversations, files = self.take(channels[identity], where, records)
                yield from self.build(channels[identity], conversations, files)
            self.settle()

    def take(
        self, channel: Channel, where: str, records: Iterable[tuple[int, int, list[Any]]]
    ) -> tuple[Iterator[Conversation], list[str]]:
        """Return the conversations of one channel that are wanted, and the file their messages lie in."""
        entries = self.new_entries(channel)
        file = entries.add_file(where)
        with paused_collector():
            for number, offset, messages in records:
                entries.line = number
                # Offsets of 4 GiB and more do not fit; they are told by line instead.
                entries.add_messages(file, make_records(messages), offset if offset < 1 << 32 else number)
            return self.join(entries), entries.files

    def read_lines(self, member: str, where: str) -> Iterator[tuple[int, int, list[Any], Channel]]:
        """Yield line, offset, messages and channel of each record."""
        for line in self.archive.lines(member):
            if not line.whole:
                self.reading.skipped.add("lines longer than may be read")
                continue
            if not line.raw.strip():
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
                messages = messages_of(entry)
                yield line.number, line.offset, messages, _channel_of(entry, messages)


def messages_of(entry: dict[str, Any]) -> list[Any]:
    """Return the messages a record of JSON Lines holds: a page of them, or itself."""
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


def _start_of(day: str) -> datetime | None:
    try:
        return datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
