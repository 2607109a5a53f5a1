"""Look through the cases of a set as they stand now, and what happened to each."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from findback.errors import MissingError
from findback.evalset.head import Head, read_head
from findback.evalset.release import CASES
from findback.model.case import Answer, Case, Name, Origin, Status, Stratum
from findback.model.record import Record
from findback.text.safe import show_in_place
from findback.text.words import fold
from findback.workbench.cases import CaseChange
from findback.workbench.store import Workbench
from findback.workspace import Workspace

QUESTIONED = "questioned"
"""What a history says of a case that somebody doubts."""
LOOK = "look again"
"""What a history says of a case that is to be looked at again; nothing says why."""
MOST_CHANGES = 100_000
PAGE = 50


class CaseFilters(Record):
    """Which cases; an empty filter lets everything through. Which cases are held out is not to be told here."""

    words: Annotated[str, Field(max_length=500)] = ""
    """Words that the question, a document or the id holds, all of them."""
    wording: Name | None = None
    answer: Answer | None = None
    origin: Origin | None = None
    stratum: Stratum | None = None
    status: Status | None = None
    questioned: bool | None = None
    """Whether somebody doubts the label, and nobody has said anything about it since."""


class CasePage(Record):
    """A page of the cases of a set."""

    cases: tuple[Case, ...]
    counts: dict[Status, int]
    """By status, over all that the other filters let through."""
    total: int
    """Cases that the whole filter lets through."""
    after: str | None
    """Id of the last one; give it to get the next page. None at the end."""
    wordings: tuple[str, ...]
    """Every wording of the set."""


def list_cases(
    workspace: Workspace, filters: CaseFilters, *, questioned: Collection[str] = (), after: str = "", limit: int = PAGE
) -> CasePage:
    """Return a page of the head's cases, by id.

    Args:
        workspace: Where the set is.
        filters: Which cases.
        questioned: Ids of the cases whose label somebody doubts.
        after: Id of the last one seen.
        limit: Most cases.

    Raises:
        DataError: If the head has faults; every one with its line.
    """
    cases = open_head(workspace).cases
    found = [one for one in cases if _passes(one, filters, questioned)]
    counts = Counter(one.status for one in found)
    kept = [one for one in found if filters.status in (None, one.status)]
    shown = [one for one in kept if one.id > after]
    return CasePage(
        cases=tuple(shown[:limit]),
        counts={status: counts[status] for status in ("active", "retired", "withdrawn")},
        total=len(kept),
        after=shown[limit - 1].id if len(shown) > limit else None,
        wordings=tuple(sorted({one.wording for one in cases})),
    )


def find_case(workspace: Workspace, case_id: str) -> Case:
    """Return a case as it stands now.

    Raises:
        MissingError: If the set has none of this id.
        DataError: If the head has faults.
    """
    for case in open_head(workspace).cases:
        if case.id == case_id:
            return case
    raise MissingError("the set has no such case")


def open_head(workspace: Workspace) -> Head:
    """Return the head of the set; one that did not change since is not read again.

    Raises:
        DataError: If it has faults.
    """
    path = workspace.evalset / CASES
    limit = workspace.settings.measures.leak_limit
    try:
        known = path.stat()
    except OSError:
        return read_head(workspace.evalset, leak_limit=limit)
    return _read(workspace.evalset, limit, (known.st_ino, known.st_mtime_ns, known.st_size))


@lru_cache(maxsize=4)
def _read(evalset: Path, limit: float, _state: tuple[int, int, int]) -> Head:
    return read_head(evalset, leak_limit=limit)


def forget_heads() -> None:
    """Let go of heads that were read before: they may hold what was withdrawn since."""
    _read.cache_clear()


def list_questioned(bench: Workbench) -> dict[str, CaseChange]:
    """Return the newest doubt about each case, or wish to look at it again, on which nobody has said anything since."""
    newest: dict[str, CaseChange] = {}
    for change in bench.case_changes(limit=MOST_CHANGES):
        newest.setdefault(change.case_id, change)
    return {case_id: change for case_id, change in newest.items() if change.what in (QUESTIONED, LOOK)}


def describe_label(case: Case) -> list[str]:
    """Return what a case's label says, a line each."""
    lines = [
        f"{one.doc}: grade {one.grade}"
        + (f", part {one.part}" if one.part > 1 else "")
        + (", quoted" if one.anchor else "")
        for one in case.judged
    ]
    if case.no_answer_reason is not None:
        lines.append(f"no document answers: {case.no_answer_reason}")
    lines.append(f"wording: {case.wording}")
    if case.retired_because is not None:
        lines.append(f"retired: {case.retired_because}")
    return lines


def _passes(case: Case, filters: CaseFilters, questioned: Collection[str]) -> bool:
    exact = ("wording", "answer", "origin", "stratum")
    if any(getattr(filters, name) not in (None, getattr(case, name)) for name in exact):
        return False
    if filters.questioned is not None and filters.questioned != (case.id in questioned):
        return False
    return _holds(case, fold(filters.words).split())


def _holds(case: Case, wanted: Sequence[str]) -> bool:
    if not wanted:
        return True
    text = fold(" ".join(_texts(case)))
    return all(word in text for word in wanted)


def _texts(case: Case) -> Iterable[str]:
    return (case.id, show_in_place(case.query), *(one.doc for one in case.judged), *case.tags)
