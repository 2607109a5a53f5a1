"""Messages of one channel of a mapped export, joined to threads."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from findback.model.thread import Audience, Message, Skipped, StatusChange, Thread
from findback.sources.chat.gaps import split_at_gaps, uses_threads
from findback.sources.chat.mapping import MessageMapping
from findback.sources.scope import Scope


class HeldMessage(NamedTuple):
    """A message before threads are known."""

    message: Message
    thread: str | None
    """What names its thread, where the export says it."""
    reply_to: str | None
    """Id of the message it answers."""
    title: str | None


class MappedChannel(NamedTuple):
    """A channel with messages."""

    id: str
    name: str | None
    audience: Audience | None
    """None when the export does not say."""


class ThreadJoiner:
    """Joins messages by what their program says of threads and replies, and by time where it says nothing."""

    def __init__(self, name: str, mapping: MessageMapping, scope: Scope, since: float, skipped: Skipped) -> None:
        self._name = name
        self._resolved = mapping.message.get("resolved")
        self._scope = scope
        self._since = since
        self._skipped = skipped

    def join(self, channel: MappedChannel, messages: Mapping[str, HeldMessage]) -> Iterator[Thread]:
        """Yield the threads of a channel, oldest first; those before the time asked for are counted."""
        groups: dict[str, list[HeldMessage]] = {}
        for one in sorted(messages.values(), key=_by_time):
            groups.setdefault(self.root_of(one, messages), []).append(one)
        alone = [key for key, group in groups.items() if len(group) == 1 and group[0].thread is None]
        joined: set[str] = set()
        if len(alone) > 1 and not uses_threads(len(messages) - len(alone), len(alone)):
            singles = [groups.pop(key)[0] for key in alone]
            for run in split_at_gaps(singles, lambda one: _by_time(one)[0]):
                groups[run[0].message.id] = run
                joined |= {run[0].message.id} if len(run) > 1 else set()
        for key, group in sorted(groups.items(), key=lambda entry: _by_time(entry[1][0])):
            if _by_time(group[-1])[0] < self._since:
                self._skipped.add("threads before the time asked for")
                continue
            missing = group[0].reply_to is not None and group[0].reply_to not in messages and group[0].thread is None
            yield self.build(channel, key, group, gap=key in joined, parent_missing=missing)

    def root_of(self, held: HeldMessage, messages: Mapping[str, HeldMessage]) -> str:
        """Return what names the thread a message belongs to: its topic, or the message at the top of its replies."""
        if held.thread is not None:
            return held.thread.removeprefix(self._resolved or "")
        seen = {held.message.id}
        while held.reply_to is not None:
            parent = messages.get(held.reply_to)
            if parent is None or parent.message.id in seen:
                return held.reply_to
            held = parent
            seen.add(held.message.id)
        return held.message.id

    def build(
        self, channel: MappedChannel, key: str, group: list[HeldMessage], *, gap: bool, parent_missing: bool
    ) -> Thread:
        """Return messages that belong together as a thread."""
        resolved = self._resolved
        done = resolved is not None and any((one.thread or "").startswith(resolved) for one in group)
        title = next((one.title for one in group if one.title), None)
        last = group[-1].message.at
        return Thread(
            id=f"{channel.id}:{key}",
            source=self._name,
            container=channel.id,
            container_name=channel.name,
            kind="gap" if gap else "thread",
            audience=channel.audience or "private",
            title=title.removeprefix(resolved) if title and resolved else title,
            messages=tuple(one.message for one in group),
            changes=(StatusChange(at=last, status="resolved", closed=True),) if done else (),
            help_channel=None if channel.name is None else self._scope.is_help(channel.name),
            parent_missing=parent_missing,
        )


def _by_time(held: HeldMessage) -> tuple[float, str]:
    at: datetime | None = held.message.at
    return (at.timestamp() if at is not None else 0.0), held.message.id
