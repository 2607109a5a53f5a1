"""What waits in the workbench and is no longer in the channel it came from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from findback.sources.connectors.batch import Waiting
from findback.sources.connectors.slack_slice import Message, Slice, write_stamp


def find_gone(
    taken: Slice,
    waiting: Mapping[str, Waiting],
    low: datetime,
    digest: Callable[[str], str],
    replies: Callable[[str], Sequence[Message]],
) -> dict[str, list[str]]:
    """Return the lines that were deleted, by the key of the question they belong to.

    Only questions are looked at all of whose lines the stretch reaches back to; one of which nothing was met is
    asked for by itself before it counts as deleted.

    Args:
        taken: The stretch, its watched threads among its messages.
        waiting: Undecided questions of the channel.
        low: Where the stretch begins.
        digest: Gives the digest of a message's id.
        replies: Gives the thread that a message begins or belongs to.
    """
    present = _digests([*taken.found.values(), *taken.messages.values()], digest)
    gone: dict[str, list[str]] = {}
    for key, one in waiting.items():
        moments = [line.at for line in one.lines if line.at is not None]
        if not one.lines or len(moments) < len(one.lines) or min(moments) < low:
            continue
        if not any(line.id in present for line in one.lines):
            asked = (one.question or one.lines[0]).at
            present |= _digests(_look_up(write_stamp(asked or moments[0]), replies), digest)
        if absent := [line.id for line in one.lines if line.id not in present]:
            gone[key] = absent
    return gone


def _look_up(ts: str, replies: Callable[[str], Sequence[Message]]) -> list[Message]:
    thread = list(replies(ts))
    parent = next((one.get("thread_ts") for one in thread), None)
    return [*thread, *(replies(parent) if isinstance(parent, str) and parent != ts else ())]


def _digests(messages: Iterable[Message], digest: Callable[[str], str]) -> set[str]:
    return {
        digest(one["ts"]) for one in messages if isinstance(one.get("ts"), str) and one.get("subtype") != "tombstone"
    }
