"""Messages that only point at another message: what is answered under them belongs to what they point at."""

from collections.abc import Iterator
from dataclasses import replace

from findback.mining.links import linked_message
from findback.model.thread import Audience, Thread

MOST_ORIGINALS = 10_000
"""Most unanswered questions that are remembered in case something points at them; the oldest are forgotten."""
MOST_POINTERS = 10_000
MOST_MESSAGES = 5
"""Most messages of such a thread that are remembered."""
_STRICTER: tuple[Audience, ...] = ("public", "internal", "private", "direct")


class CrossPosts:
    """Joins the replies under a pointer to the message it points at, wherever in an export each of them stands."""

    def __init__(self) -> None:
        self._pointers: dict[str, list[Thread]] = {}
        self._originals: dict[str, Thread] = {}
        self._answered: set[str] = set()

    def hold(self, original: str, thread: Thread) -> None:
        """Keep a thread whose first message points at another one, and in which somebody answers."""
        if len(self._pointers) < MOST_POINTERS:
            self._pointers.setdefault(original, []).append(thread)

    def remember(self, thread: Thread, *, answered: bool) -> None:
        """Keep the beginning of a thread in case something points at it, or that it was answered where it stands.

        Of messages joined by time each may be pointed at.
        """
        for message in thread.messages if thread.kind == "gap" else thread.messages[:1]:
            name = f"{thread.container}:{message.id}"
            if answered:
                self._answered.add(name)
                continue
            kept = (message,) if thread.kind == "gap" else thread.messages[:MOST_MESSAGES]
            self._originals[name] = replace(thread, kind="thread", messages=kept)
        while len(self._originals) > MOST_ORIGINALS:
            self._originals.pop(next(iter(self._originals)))

    def join(self) -> Iterator[Thread]:
        """Yield each question with what was replied under its pointers, and forget all.

        Where the question itself was not read, the copy of it that chat programs put under a pointer stands for it.
        """
        pointers, self._pointers = self._pointers, {}
        for original, threads in pointers.items():
            asked = self._originals.get(original)
            if original in self._answered:
                continue
            if asked is None:
                yield from filter(None, map(_from_copy, threads))
            else:
                yield _joined(asked, threads)
        self._originals.clear()
        self._answered.clear()


def _joined(asked: Thread, pointers: list[Thread]) -> Thread:
    first, *rest = asked.messages
    rest += [message for thread in pointers for message in thread.messages[1:]]
    if all(message.at is not None for message in rest):
        rest.sort(key=lambda message: message.at)  # type: ignore[arg-type,return-value]
    strictest = max((asked, *pointers), key=lambda thread: _STRICTER.index(thread.audience))
    helped = any(thread.help_channel for thread in (asked, *pointers)) or asked.help_channel
    return replace(asked, messages=(first, *rest), audience=strictest.audience, help_channel=helped)


def _from_copy(thread: Thread) -> Thread | None:
    """Return a pointer's thread with the copy in the place of the pointer; None where it has none."""
    first = thread.messages[0]
    # Its text comes first; where it was posted stands after it.
    copy = next(iter(first.extras), "")
    if not copy.strip():
        return None
    links = tuple(link for link in first.links if linked_message(link.url) is None)
    return replace(thread, messages=(replace(first, text=copy, marks=(), links=links, extras=()), *thread.messages[1:]))
