"""Unreviewed text stays on this machine unless findback.toml allows an endpoint by name; what is sent is counted."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import orjson
from pydantic import ValidationError

from findback.departures import Departure, Departures, TextState
from findback.errors import RefusedError
from findback.files import PRIVATE_FILE, storage_errors
from findback.model.protocols import Retriever
from findback.model.question import QuestionSet
from findback.model.record import Record
from findback.model.settings import EgressLevel, EgressSettings
from findback.steps.kept import now
from findback.workspace import Workspace

FILE = "sent.jsonl"


class Sent(Record):
    """How many texts of one state went to one endpoint."""

    format: Literal[1] = 1
    at: str
    """When, ISO 8601; of a sum the first time."""
    endpoint: str
    """Scheme, host and port; or the program or function that was handed it."""
    level: EgressLevel
    state: TextState
    count: int


class Egress(Record):
    """What was sent where."""

    sent: tuple[Sent, ...]
    """One sum per endpoint, level and state, the farthest level first."""
    unreadable: int
    """Lines that cannot be read."""
    file: str


def open_departures(workspace: Workspace) -> Departures:
    """Return what counts, and keeps in the private folder, what is sent where."""
    return Departures(lambda counts: _keep(workspace, counts))


def read_egress(workspace: Workspace) -> Egress:
    """Return what was sent where since this workspace began to count."""
    file = workspace.private / "egress" / FILE
    sums: Counter[Departure] = Counter()
    first: dict[Departure, str] = {}
    unreadable = 0
    for line in file.read_bytes().splitlines() if file.is_file() else ():
        try:
            one = Sent.model_validate_json(line)
        except ValidationError:
            unreadable += 1
            continue
        key = Departure(one.endpoint, one.level, one.state)
        sums[key] += one.count
        first[key] = min(one.at, first.get(key, one.at))
    order = ("external", "internal", "local")
    rows = sorted(sums.items(), key=lambda item: (order.index(item[0].level), item[0]))
    sent = tuple(
        Sent(at=first[key], endpoint=key.endpoint, level=key.level, state=key.state, count=count) for key, count in rows
    )
    return Egress(sent=sent, unreadable=unreadable, file=str(file))


def state_of(questions: QuestionSet) -> TextState:
    """Return whether the questions of a set were reviewed."""
    return "reviewed" if questions.kind == "release" else "unreviewed"


def _keep(workspace: Workspace, counts: Mapping[Departure, int]) -> None:
    """Add counts to the file: whole lines in one write at its end, which processes may do at once.

    Raises:
        StorageError: If the disk refuses.
    """
    at = now().isoformat(timespec="seconds")
    lines = b"".join(
        orjson.dumps({"format": 1, "at": at, **departure._asdict(), "count": count}) + b"\n"
        for departure, count in sorted(counts.items())
    )
    file = workspace.private_part("egress") / FILE
    with storage_errors(file):
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), PRIVATE_FILE)
        try:
            os.write(handle, lines)
        finally:
            os.close(handle)


def allow_unreviewed(systems: Sequence[Retriever], settings: EgressSettings) -> tuple[list[Retriever], list[Retriever]]:
    """Return the retrievers that may see unreviewed text, and those that may not."""
    allowed = [one for one in systems if one.egress == "local" or one.name in settings.unreviewed_to]
    return allowed, [one for one in systems if one not in allowed]


def refuse_unreviewed(questions: QuestionSet, systems: Sequence[Retriever], settings: EgressSettings) -> None:
    """Stop before text that nobody reviewed leaves this machine.

    Raises:
        RefusedError: If the set is no release and a retriever is not local and not allowed by name.
    """
    if questions.kind == "release":
        return
    _, refused = allow_unreviewed(systems, settings)
    if refused:
        names = ", ".join(f"{one.name} ({one.egress})" for one in refused)
        listed = ", ".join(
            f'"{name}"' for name in dict.fromkeys([*settings.unreviewed_to, *(one.name for one in refused)])
        )
        raise RefusedError(
            f"the questions of {questions.name} were not reviewed, and would leave this machine: {names}",
            hint=f"allow it in findback.toml: [egress] unreviewed_to = [{listed}]; or name other retrievers",
        )
