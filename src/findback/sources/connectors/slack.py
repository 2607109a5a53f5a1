"""Slack, read by its Web API: the channels a bot was invited to, from where the last run came to."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from findback.model.thread import Audience, Person
from findback.sources.chat.slack_index import Channel, read_person
from findback.sources.chat.slack_message import seconds
from findback.sources.connectors.batch import Batch, Memory, Position
from findback.sources.connectors.pages import Pages
from findback.sources.connectors.slack_api import SlackApi, SlackRefusalError, Window
from findback.sources.connectors.slack_gone import find_gone
from findback.sources.connectors.slack_reader import SliceReader
from findback.sources.connectors.slack_slice import Slice, drop_edges, sort_messages, write_stamp
from findback.sources.format import Reading, SourceOptions
from findback.sources.scope import Scope

SLICE = timedelta(days=30)
"""Stretch of a channel's time that is read, redacted and stored before the next."""
_CLOSED = frozenset(("not_in_channel", "channel_not_found", "no_permission", "access_denied"))
NOT_INVITED = "channels the bot was not invited to"
KEPT_OUT = "channels that were excluded or erased"


class SlackConnector:
    """Reads one workspace."""

    def __init__(
        self, name: str, api: SlackApi, options: SourceOptions, *, first: datetime, again: timedelta, now: datetime
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            name: How messages call it.
            api: Answers.
            options: Which channels are read.
            first: Where a channel begins that was never read.
            again: How far before its mark a channel is read again.
            now: When this run began.
        """
        self._api, self._options = api, options
        self._pages = Pages(name, {})
        self._scope = Scope(options)
        self._first, self._again, self._now = first, again, now
        self._known: set[str] = set()
        self.people: list[Person] = []
        self._reading = Reading(people=self.people, until=now)

    def batches(self, memory: Memory) -> Iterator[Batch]:
        """Yield each channel's news, oldest first.

        Raises:
            EngineError: If Slack fails or refuses.
        """
        for entry in self._api.list_people():
            if (person := read_person(entry)) is not None:
                self.people.append(person)
                self._known.add(person.id)
        for channel in self._list_channels(memory):
            try:
                yield from self._read_channel(channel, memory)
            except SlackRefusalError as refusal:
                if refusal.reason not in _CLOSED:
                    raise
                self._reading.skipped.add(NOT_INVITED)

    def _list_channels(self, memory: Memory) -> list[Channel]:
        chosen: list[Channel] = []
        for entry in self._api.list_channels(self._types()):
            channel = _channel_of(entry)
            if channel is None:
                continue
            if channel.audience != "direct" and entry.get("is_member") is not True:
                reason: str | None = NOT_INVITED
            elif memory.is_kept_out(channel.id):
                reason = KEPT_OUT
            else:
                reason = self._scope.refuse(channel.names, channel.audience)
            if reason is None:
                chosen.append(channel)
            else:
                self._reading.skipped.add(reason)
        return sorted(chosen, key=lambda channel: channel.id)

    def _types(self) -> tuple[str, ...]:
        types = ["public_channel"]
        if "private" in self._options.open_audiences or self._options.channels:
            types.append("private_channel")
        if "direct" in self._options.open_audiences:
            types += ["mpim", "im"]
        return tuple(types)

    def _read_channel(self, channel: Channel, memory: Memory) -> Iterator[Batch]:
        mark = memory.position(channel.id)
        start = mark.at if mark is not None and mark.at is not None else self._first
        marked = start if mark is not None else None
        low, high = (start if marked is None else start - self._again), start + SLICE
        waiting = memory.waiting(channel.id) if marked is not None else {}
        watched = {line.id for one in waiting.values() for line in one.lines}
        while True:
            last = high >= self._now
            window = Window(write_stamp(low), None if last else write_stamp(high))
            taken = self._take(channel, window, marked, lambda ts: memory.digest(ts) in watched)
            gone: Mapping[str, list[str]] = {}
            if waiting:
                gone = find_gone(taken, waiting, low, memory.digest, partial(self._api.replies, channel.id))
                waiting = {}
            cut = drop_edges(taken, head=marked is not None and low < start, tail=not last)
            position = _reached(taken, cut or high, last=last)
            yield Batch(place=channel.id, position=position, read=partial(self._open_slice, channel, taken), gone=gone)
            if last:
                return
            low, high = cut or high, high + SLICE

    def _take(self, channel: Channel, window: Window, marked: datetime | None, watches: Any) -> Slice:
        """Read a stretch of a channel: its messages, and the threads in which something happened."""
        taken = Slice(seconds(window.oldest), seconds(window.latest) if window.latest is not None else None)
        for page in self._api.history(channel.id, window):
            taken.add_page(page)
        for ts in sort_messages(taken, marked.timestamp() if marked is not None else None, watches):
            taken.add_thread(self._api.replies(channel.id, ts))
        return taken

    def _open_slice(self, channel: Channel, taken: Slice, options: SourceOptions) -> Reading:
        reader = SliceReader(self._pages, options, self._reading, taken, known=self._known)
        self._reading.threads = reader.threads(channel)
        return self._reading


def _reached(taken: Slice, edge: datetime, *, last: bool) -> Position | None:
    if not last:
        return Position(edge)
    return Position(datetime.fromtimestamp(taken.newest, UTC)) if taken.newest else None


def _channel_of(entry: Mapping[str, Any]) -> Channel | None:
    identity, name, earlier = entry.get("id"), entry.get("name"), entry.get("previous_names")
    if not isinstance(identity, str) or not identity:
        return None
    audience: Audience = "public"
    if entry.get("is_im") is True or entry.get("is_mpim") is True:
        audience = "direct"
    elif entry.get("is_private") is True or entry.get("is_group") is True:
        audience = "private"
    return Channel(
        identity,
        name if isinstance(name, str) and name else None,
        audience,
        tuple(one for one in earlier if isinstance(one, str)) if isinstance(earlier, list) else (),
    )
