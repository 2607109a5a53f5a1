"""How many calls run at a time: as many as the server bears, found out by asking it."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

START = 2.0
"""Calls at a time at the beginning; doubled after each clean round until the server says that it is too much."""
CUT = 0.8
CREEP = 0.05
"""Share by which a clean round raises the limit once it is known."""
SLOW_ROUNDS = 4
"""Clean rounds in a row after which the limit was too low: each further one raises it by twice as much."""
MOST_DOUBLINGS = 3
ROUND = 10
"""Calls that a clean round has at least, once the limit is known."""
LEAST = 0.02
"""Lowest limit: below one, calls run one at a time with pauses between them."""
IN_A_ROW = 3
"""Refusals without an answer in between after which nothing is sent until the server's time has passed."""


class Turn:
    """One call's turn."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.refused = False
        """Set by the caller where the server said that too much is asked at a time."""
        self.answered = False
        """Set by the caller where an answer came."""
        self.again_in = 0.0
        """Seconds the server asked to wait, set beside `refused`."""


class Pace:
    """Lets calls through, as many at a time as the server bears.

    The limit doubles after each clean round until the first refusal. From then on a refusal cuts it to .8, once for
    all calls that were under way and for the time the server asked to wait, and each clean round raises it by 5 %.
    It need not be a whole number: once it is known, calls also begin at even distances, so that a limit of 2.5 is
    2.5. A call that waits to be tried again is outside, and its place is free.
    """

    def __init__(self, most: int) -> None:
        """Begin low.

        Args:
            most: Most calls at a time, whatever the server bears.
        """
        self.limit = min(START, float(most))
        """Calls at a time that are let through at the moment."""
        self._most = float(most)
        self._known = False
        self._under_way = 0
        self._clean = self._rounds = 0
        self._in_a_row = 0
        self._cool = self._cut_at = self._next = self._held_until = -math.inf
        self._took = 0.0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._alarm: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def turn(self, *, again: bool = False) -> AsyncIterator[Turn]:
        """Wait for a place, and hold it while the block runs.

        Args:
            again: Whether the call has waited before, and goes before those that have not.
        """
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._queue.appendleft if again else self._queue.append)(waiter)
        self._let_in()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._leave()
            raise
        turn = Turn(self._now())
        try:
            yield turn
        finally:
            self._learn(turn)
            self._leave()

    def _let_in(self) -> None:
        """Let in who waits, as far as there is room now; come back when a pause ends."""
        while self._queue and self._under_way < math.ceil(self.limit):
            waiter = self._queue[0]
            if waiter.done():
                self._queue.popleft()
                continue
            now, begin = self._now(), max(self._next, self._held_until)
            if begin > now:
                self._come_back(begin - now)
                return
            self._queue.popleft()
            self._under_way += 1
            self._next = now + self._distance()
            waiter.set_result(None)

    def _come_back(self, seconds: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_later(seconds, self._let_in)

    def _distance(self) -> float:
        """Return the seconds between two beginnings that make the limit exact."""
        return self._took / self.limit if self._known else 0.0

    def _leave(self) -> None:
        self._under_way -= 1
        self._let_in()

    def _learn(self, turn: Turn) -> None:
        if turn.answered:
            took = self._now() - turn.began
            self._took = took if not self._took else 0.9 * self._took + 0.1 * took
            self._in_a_row = 0
            self._clean += 1
            if self._clean >= max(ROUND if self._known else 1, self.limit):
                self._clean = 0
                self._rounds += 1
                self.limit = min(self._most, self.limit * self._growth())
        elif turn.refused:
            self._known, self._clean, self._rounds = True, 0, 0
            if turn.began < self._cut_at:
                return
            self._in_a_row += 1
            now = self._now()
            if now >= self._cool:
                self.limit = max(LEAST, self.limit * CUT)
                self._cut_at = now
                self._cool = now + turn.again_in
            if self._in_a_row >= IN_A_ROW:
                self._in_a_row = 0
                self._held_until = max(self._held_until, now + turn.again_in)

    def _growth(self) -> float:
        """Return what a clean round multiplies the limit by: more where many went by without a refusal."""
        if not self._known:
            return 2.0
        return 1 + CREEP * 2.0 ** min(MOST_DOUBLINGS, max(0, self._rounds - SLOW_ROUNDS))

    @staticmethod
    def _now() -> float:
        now: float = asyncio.get_running_loop().time()
        return now
