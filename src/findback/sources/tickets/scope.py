"""Which tickets and messages of an export may be read; what may not is counted."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase

from findback.model.thread import Message, Skipped, Thread
from findback.sources.format import SourceOptions


class Scope:
    """Applies the options of one reading to its threads."""

    def __init__(self, options: SourceOptions, skipped: Skipped) -> None:
        self._options = options
        self._skipped = skipped

    def admit(self, thread: Thread) -> Thread | None:
        """Return the thread with the messages that may be read; None, counted, where it may not be read at all."""
        if (reason := self._refuse(thread)) is not None:
            self._skipped.add(reason)
            return None
        kept = tuple(message for message in thread.messages if self._admits(message))
        if not kept:
            self._skipped.add("tickets and questions without a message that may be read")
            return None
        accepted = thread.accepted if any(message.id == thread.accepted for message in kept) else None
        return replace(thread, messages=kept, accepted=accepted)

    def _refuse(self, thread: Thread) -> str | None:
        names = [name for name in (thread.container, thread.container_name) if name]
        options = self._options
        if _matches((*names, *thread.tags), options.exclude):
            return "tickets and questions in excluded places"
        if options.channels and not _matches(names, options.channels):
            return "tickets and questions in places not asked for"
        if thread.audience not in options.open_audiences:
            return f"{thread.audience} tickets and questions"
        last = max((m.at for m in thread.messages if m.at is not None), default=None)
        if options.since is not None and last is not None and last < _aware(options.since, last):
            return "tickets and questions older than asked for"
        return None

    def _admits(self, message: Message) -> bool:
        if message.deleted:
            self._skipped.add("deleted messages")
            return False
        if message.audience not in self._options.open_audiences:
            self._skipped.add("internal notes" if message.audience == "internal" else f"{message.audience} messages")
            return False
        return True


def _aware(time: datetime, like: datetime) -> datetime:
    return time.replace(tzinfo=like.tzinfo) if time.tzinfo is None else time


def _matches(names: Iterable[str], patterns: Iterable[str]) -> bool:
    folded = [name.casefold() for name in names]
    return any(fnmatchcase(name, pattern.casefold()) for pattern in patterns for name in folded)
