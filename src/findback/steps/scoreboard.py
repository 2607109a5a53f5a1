"""The scores that were kept: each retriever over time, by release."""

import re
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from findback.errors import FindbackError, MissingError
from findback.model.audit import Audit
from findback.model.estimate import Estimate
from findback.model.evaluation import Evaluation, Miss, RetrieverScores, Score
from findback.model.record import Record
from findback.reporting.render import render_report
from findback.steps.kept import PREFIX, load, newest
from findback.workspace import Workspace

LOOKED_AT = 60
"""Kept evaluations that are looked at, the newest first."""
_RELEASE = re.compile(r"release (\d{1,9})")
_ID = re.compile(r"[0-9]{8}T[0-9]{6,12}Z")


class ScorePoint(Record):
    """One retriever's primary score in one evaluation."""

    evaluation: str
    """Id of the evaluation."""
    made: datetime
    heading: str
    """Over which set: `release 3`, or what else it was."""
    release: int | None
    """None where it was no release, or what a release holds out."""
    retriever: str
    metric: str
    """How tables head it."""
    estimate: Estimate
    lowest: Estimate | None = None
    """With errors: the mean if every failed query had missed."""
    highest: Estimate | None = None
    misses: int
    """Misses that can be looked at one by one."""


class Scoreboard(Record):
    """What was scored, newest first."""

    points: tuple[ScorePoint, ...]
    evaluations: tuple[str, ...]
    """Ids, newest first."""
    unreadable: tuple[str, ...] = ()
    more: int = 0
    """Older evaluations that were not looked at."""


class KeptMiss(NamedTuple):
    """A miss, and whether its question is a case of the set."""

    retriever: str
    miss: Miss


def list_scores(workspace: Workspace) -> Scoreboard:
    """Return the primary scores of the kept evaluations, newest first."""
    files = _files(workspace)
    points: list[ScorePoint] = []
    ids, unreadable = [], []
    for name in list(files)[:LOOKED_AT]:
        try:
            evaluation = _load(files[name])
        except FindbackError as error:
            unreadable.append(f"the evaluation {name} cannot be read: {error.code}")
            continue
        ids.append(name)
        points += [point for one in evaluation.retrievers if (point := _point(name, evaluation, one)) is not None]
    return Scoreboard(
        points=tuple(points),
        evaluations=tuple(ids),
        unreadable=tuple(unreadable),
        more=max(0, len(files) - LOOKED_AT),
    )


def find_evaluation(workspace: Workspace, evaluation_id: str) -> Evaluation:
    """Return a kept evaluation.

    Raises:
        MissingError: If there is none of this id.
        DataError: If it cannot be read.
    """
    file = _files(workspace).get(evaluation_id) if _ID.fullmatch(evaluation_id) else None
    if file is None:
        raise MissingError("there is no such evaluation")
    return _load(file)


def render_evaluation(workspace: Workspace, evaluation_id: str) -> str:
    """Return the report of a kept evaluation as one page of HTML; the newest audit stands in that of the newest.

    Raises:
        MissingError: If there is none of this id.
        DataError: If it cannot be read.
    """
    evaluation = find_evaluation(workspace, evaluation_id)
    audit = newest(workspace, Audit).result if evaluation_id == next(iter(_files(workspace)), None) else None
    return render_report(evaluation, audit, format="html")


def list_misses(evaluation: Evaluation, retriever: str | None = None) -> list[KeptMiss]:
    """Return the misses of an evaluation that were described one by one."""
    return [
        KeptMiss(one.name, miss)
        for one in evaluation.retrievers
        if retriever in (None, one.name)
        for miss in one.miss_examples
    ]


def forget_evaluations() -> None:
    """Let go of evaluations that were read before: they may hold what was withdrawn since."""
    _read.cache_clear()


def release_of(heading: str) -> int | None:
    """Return the release whose open cases a heading names; None for anything else.

    >>> release_of("release 3"), release_of("release 3, holdout, look 2"), release_of("sample")
    (3, None, None)
    """
    found = _RELEASE.fullmatch(heading)
    return int(found[1]) if found else None


def _files(workspace: Workspace) -> dict[str, Path]:
    """Return the kept evaluations by id, newest first."""
    folder = workspace.private / "evaluations"
    prefix = f"{PREFIX[Evaluation]}-"
    files = sorted(folder.glob(f"{prefix}*.json"), reverse=True) if folder.is_dir() else []
    return {file.stem.removeprefix(prefix): file for file in files}


def _load(file: Path) -> Evaluation:
    known = file.stat()
    return _read(file, (known.st_ino, known.st_mtime_ns, known.st_size))


@lru_cache(maxsize=LOOKED_AT + 4)
def _read(file: Path, _state: tuple[int, int, int]) -> Evaluation:
    return load(file, Evaluation)


def _point(name: str, evaluation: Evaluation, scored: RetrieverScores) -> ScorePoint | None:
    score = _primary(evaluation, scored)
    if score is None:
        return None
    return ScorePoint(
        evaluation=name,
        made=evaluation.made,
        heading=evaluation.set.heading,
        release=release_of(evaluation.set.heading),
        retriever=scored.name,
        metric=score.label,
        estimate=score.estimate,
        lowest=score.lowest,
        highest=score.highest,
        misses=len(scored.miss_examples),
    )


def _primary(evaluation: Evaluation, scored: RetrieverScores) -> Score | None:
    group = scored.group()
    scores = group.scores if group is not None else ()
    return next((score for score in scores if score.metric == evaluation.primary), None)
