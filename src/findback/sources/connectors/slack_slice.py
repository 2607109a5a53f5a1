"""One stretch of a channel's time: which of its threads have news, and where its edges cut a conversation."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from findback.sources.chat.gaps import GAP_SECONDS, MOST_TOGETHER
from findback.sources.chat.slack_message import seconds

Message = dict[str, Any]

SETTLING = 8 * 86_400.0
"""Seconds for which a question nobody answered is looked at again: that it got no answer shows after seven days."""


@dataclass(slots=True)
class Slice:
    """Messages of one channel between two moments."""

    oldest: float
    """POSIX seconds."""
    latest: float | None
    """POSIX seconds; None for everything up to now."""
    found: dict[str, Message] = field(default_factory=dict)
    """Everything the channel's history has there, by ts."""
    messages: dict[str, Message] = field(default_factory=dict)
    """What is mined: messages nobody answered, and whole threads with news."""
    fresh: set[str] = field(default_factory=set)
    """Those of them for which their conversation is mined: news, or of a question that waits."""
    quiet: int = 0
    """Replies in threads without news, which are not read."""
    newest: float = 0.0
    """POSIX seconds of the newest thing that was surely seen; 0 where there is nothing."""

    def add_page(self, page: Iterable[Message]) -> None:
        """Take a page of the history."""
        fresh = [one for one in page if isinstance(one.get("ts"), str)]
        if not self.found:
            # Only of the first page: while further pages come, replies to its threads may come too.
            moments = [seconds(str(one.get(key))) for one in fresh for key in ("ts", "latest_reply")]
            self.newest = max(moments, default=0.0)
        for one in fresh:
            self.found.setdefault(one["ts"], one)

    def add_thread(self, thread: Sequence[Message]) -> None:
        """Take a thread, its first message included."""
        found = {one["ts"]: one for one in thread if isinstance(one.get("ts"), str)}
        self.messages.update(found)
        self.fresh.update(found)


def sort_messages(taken: Slice, marked: float | None, watches: Callable[[str], bool]) -> Iterator[str]:
    """Yield the ts of each thread that has to be read; what nobody answered is taken as it is.

    Args:
        taken: The stretch.
        marked: POSIX seconds up to which the channel was read before; None where it never was.
        watches: Whether a question of that message waits in the workbench, and may have changed.
    """
    wanted: dict[str, None] = {}
    settling = None if marked is None else marked - SETTLING
    for ts, message in sorted(taken.found.items()):
        thread = message.get("thread_ts")
        answers = message.get("reply_count")
        if isinstance(thread, str) and thread != ts:
            # A reply that was shown in the channel too: its thread may have begun long before.
            if _is_news(message, marked) or watches(thread):
                wanted[thread] = None
        elif type(answers) is int and answers > 0:
            if _is_news(message, marked if _is_answered(message) else settling) or watches(ts):
                wanted[ts] = None
            else:
                taken.quiet += answers
        else:
            taken.messages[ts] = message
            if _is_news(message, settling) or watches(ts):
                taken.fresh.add(ts)
    yield from wanted


def _is_answered(message: Message) -> bool:
    """Return whether somebody else replied."""
    authors = message.get("reply_users")
    return not isinstance(authors, list) or any(author != message.get("user") for author in authors)


def _is_news(message: Message, marked: float | None) -> bool:
    if marked is None:
        return True
    edited = message.get("edited")
    moments = (message.get("ts"), message.get("latest_reply"), edited.get("ts") if isinstance(edited, dict) else None)
    return any(isinstance(moment, str) and seconds(moment) > marked for moment in moments)


def drop_edges(taken: Slice, *, head: bool, tail: bool) -> datetime | None:
    """Leave out the messages of talk that an edge of the stretch would cut in two.

    Args:
        taken: The stretch.
        head: Whether there is talk before it, which was read in an earlier run.
        tail: Whether there is more after it, with which the next stretch begins.

    Returns:
        Where the next stretch has to begin so that it has the talk whole; None for the stretch's own end.
    """
    alone = sorted((seconds(ts), ts) for ts, one in taken.messages.items() if _is_alone(one))
    if head:
        edge = taken.oldest
        for at, ts in alone[:MOST_TOGETHER]:
            if at - edge > GAP_SECONDS:
                break
            edge = at
            del taken.messages[ts]
    if not tail or taken.latest is None:
        return None
    edge, run = taken.latest, []
    for at, ts in reversed(alone):
        if edge - at > GAP_SECONDS or ts not in taken.messages:
            break
        edge = at
        run.append(ts)
    if not run or len(run) > MOST_TOGETHER or edge <= taken.oldest + GAP_SECONDS:
        # Talk that never falls silent has to be cut somewhere.
        return None
    for ts in run:
        del taken.messages[ts]
    return datetime.fromtimestamp(edge, UTC)


def _is_alone(message: Message) -> bool:
    return not message.get("reply_count") and message.get("thread_ts") in (None, message.get("ts"))


def write_stamp(at: datetime) -> str:
    """Return a moment as Slack writes it.

    >>> write_stamp(datetime(2026, 9, 1, 5, 0, 0, 100, tzinfo=UTC))
    '1788238800.000100'
    """
    whole = at.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return f"{whole.days * 86_400 + whole.seconds}.{whole.microseconds:06d}"
