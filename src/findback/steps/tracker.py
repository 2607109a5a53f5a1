"""Scores by release: what each was, and whether the system or the exam moved it since the one before."""

from collections.abc import Sequence
from typing import NamedTuple

from findback.errors import FindbackError
from findback.evalset.release import Release, list_numbers, read_release, release_folder
from findback.evalset.releasediff import CHANGES, SetDiff, compare_cases
from findback.model.protocols import Documents
from findback.model.tracked import TrackedRelease, TrackedScore, Tracker
from findback.steps.rescoring import Effect, rescore
from findback.steps.scoreboard import ScorePoint, list_scores
from findback.workspace import Workspace

MOST = 6
"""Releases that are listed, the newest."""


class _Step(NamedTuple):
    """From the release before to this one."""

    diff: SetDiff
    effects: dict[str, Effect]


def track(workspace: Workspace, documents: Documents | None) -> Tracker | None:
    """Return the newest releases with each retriever's newest score; None before the first release.

    Scores are those of kept evaluations. What moved them to the newest release comes from kept runs, scored again on
    it and on the one before; of older releases it is not told, as the newest run knows too much.

    Args:
        workspace: Whose set.
        documents: The corpus; without it labels are taken as they stand.
    """
    numbers = list_numbers(workspace.evalset)
    if not numbers:
        return None
    board = list_scores(workspace)
    notes = list(board.unreadable)
    read = {number: _read(workspace, number, notes) for number in numbers[-MOST - 1 :]}
    found: list[TrackedRelease] = []
    for number in reversed(numbers[-MOST:]):
        release, before = read[number], _before(number, numbers, read)
        if release is None:
            continue
        points = _newest([one for one in board.points if one.release == number])
        step = _compare(workspace, before, release, documents, notes, rescored=bool(points) and number == numbers[-1])
        found.append(_release(release, points, step))
    return Tracker(releases=tuple(found), more=max(0, len(numbers) - MOST), notes=tuple(dict.fromkeys(notes)))


def _read(workspace: Workspace, number: int, notes: list[str]) -> Release | None:
    try:
        return read_release(release_folder(workspace.evalset, number))
    except FindbackError as error:
        notes.append(f"release {number} is left out: {error.message}")
        return None


def _before(number: int, numbers: Sequence[int], read: dict[int, Release | None]) -> Release | None:
    place = numbers.index(number)
    return read.get(numbers[place - 1]) if place else None


def _newest(points: Sequence[ScorePoint]) -> list[ScorePoint]:
    """Return each retriever's newest score, in the order of names; `points` come newest first."""
    by_name: dict[str, ScorePoint] = {}
    for one in points:
        by_name.setdefault(one.retriever, one)
    return [by_name[name] for name in sorted(by_name)]


def _compare(
    workspace: Workspace,
    before: Release | None,
    release: Release,
    documents: Documents | None,
    notes: list[str],
    *,
    rescored: bool,
) -> _Step | None:
    if before is None:
        return None
    old, new = before.content.cases, release.content.cases
    effects: dict[str, Effect] = {}
    if rescored:
        found = rescore(workspace, old, new, documents, released=release.manifest.date)
        notes += found.notes
        effects = {one.retriever: one for one in found.effects}
    return _Step(compare_cases(old, new), effects)


def _release(release: Release, points: Sequence[ScorePoint], step: _Step | None) -> TrackedRelease:
    made = release.manifest
    counts = None if step is None else {name: len(getattr(step.diff, name)) for name in CHANGES}
    return TrackedRelease(
        number=made.number,
        first=made.parent is None,
        date=made.date,
        cases=made.counts.active,
        clusters=made.counts.clusters,
        changes=None if counts is None else {name: count for name, count in counts.items() if count},
        scores=tuple(_score(one, step) for one in points),
    )


def _score(point: ScorePoint, step: _Step | None) -> TrackedScore:
    effect = None if step is None else step.effects.get(point.retriever)
    return TrackedScore(
        retriever=point.retriever,
        metric=point.metric,
        estimate=point.estimate,
        lowest=point.lowest,
        highest=point.highest,
        made=point.made,
        by_system=None if effect is None else effect.by_system,
        by_exam=None if effect is None else effect.by_exam,
    )
