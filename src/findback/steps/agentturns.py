"""Which searches of agents belong together: one question of a person, however often it is put in other words."""

import hashlib
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import NamedTuple

from findback.sources.traces.evaluation import exam_key

IDLE = timedelta(minutes=30)
"""After this long without a search the same words are a new question."""
MOST = 10_000
"""Questions remembered at a time."""


class Turn(NamedTuple):
    """What ties the lines of a log together: random ids, made from nothing."""

    conversation: str
    question: str


@dataclass(slots=True)
class _Known:
    turn: Turn
    seen: datetime


class Turns:
    """Remembers, while the server runs, which question each client is at; by digest, and not for long."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str | None], _Known] = OrderedDict()
        self._conversations: dict[str, str] = {}
        self._lock = Lock()

    def find(self, client: str, question: str | None, *, alone: bool, now: datetime) -> Turn:
        """Return what a search belongs to.

        Args:
            client: Who asks.
            question: The person's own words; None where the client did not pass them on.
            alone: Whether everything this client asks is one conversation; many may share a token.
            now: When it happens.
        """
        words = exam_key(question) if question is not None else None
        key = client, hashlib.sha256(words.encode()).hexdigest() if words is not None else None
        with self._lock:
            while self._known and (len(self._known) >= MOST or now - next(iter(self._known.values())).seen > IDLE):
                self._known.popitem(last=False)
            known = self._known.get(key)
            if known is None:
                conversation = self._conversations.setdefault(client, _random()) if alone else _random()
                known = self._known[key] = _Known(Turn(conversation, _random()), now)
            known.seen = now
            self._known.move_to_end(key)
            return known.turn


def _random() -> str:
    return secrets.token_hex(8)
