"""Evaluation traffic: findback's own exams, which are no person's searches."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from findback.model.thread import Skipped
from findback.model.turn import Turn
from findback.text.words import words

MARKER = "x-findback"
MARKED = "evaluation"
USER_AGENT = "findback (evaluation)"
"""What findback's own client sends; a test keeps both equal."""

BURST = 5
"""Fewest different exam questions in `WINDOW` that are taken for a run of the exam."""
WINDOW = timedelta(minutes=10)

MARKED_REASON = "marked evaluation traffic"
BURST_REASON = "burst of the exam's own queries"

_DEEPEST = 3


def is_marked(attributes: Any, depth: int = 0) -> bool:
    """Say whether attributes, headers or metadata carry findback's evaluation marker or user agent.

    >>> is_marked({"http.request.header.x-findback": ["evaluation"]}), is_marked({"x-findback": "no"})
    (True, False)
    """
    if not isinstance(attributes, dict) or depth > _DEEPEST:
        return False
    for key, value in attributes.items():
        if not isinstance(key, str):
            continue
        name = key.casefold().replace("_", "-")
        if name.endswith(MARKER) and _says(value, MARKED):
            return True
        if name.endswith(("user-agent", "user-agent.original")) and _says(value, USER_AGENT):
            return True
        if isinstance(value, dict) and is_marked(value, depth + 1):
            return True
    return False


def _says(value: Any, wanted: str) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_says(entry, wanted) for entry in value[:10])
    return isinstance(value, str) and value.strip().casefold().startswith(wanted)


def exam_key(text: str) -> str:
    """Return a text in the form in which questions are compared with the exam's.

    >>> exam_key("Where is  the VPN guide?")
    'where is the vpn guide'
    """
    return " ".join(words(text))


def drop_bursts(turns: Iterable[Turn], exam: Iterable[str], skipped: Skipped) -> Iterator[Turn]:
    """Yield the turns that are no run of the exam; what is dropped is counted.

    One person may well ask what the exam asks, since it was mined from people: only several different exam
    questions within minutes, or without times in a row, are a run. Turns under suspicion come last.

    Args:
        turns: Turns in any order.
        exam: Texts of the exam's queries.
        skipped: Where dropped turns are counted.
    """
    keys = frozenset(key for text in exam if (key := exam_key(text)))
    if not keys:
        yield from turns
        return
    suspects: list[tuple[datetime | None, int, frozenset[str], Turn]] = []
    for position, turn in enumerate(turns):
        asked = keys & _keys_of(turn)
        if asked:
            suspects.append((turn.at, position, asked, turn))
        else:
            yield turn
    dropped = _find_bursts([suspect[:3] for suspect in suspects])
    for _, position, _, turn in suspects:
        if position in dropped:
            skipped.add(BURST_REASON)
        else:
            yield turn


def _keys_of(turn: Turn) -> frozenset[str]:
    texts = (turn.text, *(call.query for call in turn.calls))
    return frozenset(exam_key(text) for text in texts if text)


def _find_bursts(suspects: list[tuple[datetime | None, int, frozenset[str]]]) -> set[int]:
    timed = sorted((at, position, keys) for at, position, keys in suspects if at is not None)
    untimed = [(position, keys) for at, position, keys in suspects if at is None]
    return _find_in_time([(at, position, keys) for at, position, keys in timed]) | _find_in_row(untimed)


def _find_in_time(timed: list[tuple[datetime, int, frozenset[str]]]) -> set[int]:
    dropped: set[int] = set()
    seen: Counter[str] = Counter()
    first = done = 0
    for last, (at, _, keys) in enumerate(timed):
        seen.update(keys)
        while at - timed[first][0] > WINDOW:
            seen.subtract(timed[first][2])
            seen += Counter()
            first += 1
        if len(seen) >= BURST:
            dropped.update(position for _, position, _ in timed[max(first, done) : last + 1])
            done = last + 1
    return dropped


def _find_in_row(untimed: list[tuple[int, frozenset[str]]]) -> set[int]:
    dropped: set[int] = set()
    run: list[int] = []
    seen: set[str] = set()
    for position, keys in [*untimed, (-2, frozenset[str]())]:
        if run and position != run[-1] + 1:
            if len(seen) >= BURST:
                dropped.update(run)
            run, seen = [], set()
        run.append(position)
        seen |= keys
    return dropped
