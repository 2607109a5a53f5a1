"""Which cases the newest kept run of each retriever missed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from findback.errors import FindbackError
from findback.evalset.resolve import resolve
from findback.evalset.runs import load_run
from findback.model.case import Case
from findback.model.protocols import Documents
from findback.model.question import Question, QuestionSet, question_from_case
from findback.model.run import Run
from findback.steps.gold import label_columns
from findback.steps.scores import score_run
from findback.workspace import Workspace

LOOKED_AT = 40
"""Kept runs that are looked at, the newest first."""
CUTOFF = 10
"""A case is missed when no gold document is among so many first results."""


class KeptMisses(NamedTuple):
    """What one retriever's run missed."""

    run: str
    """Its id."""
    asked: frozenset[str]
    """Cases with an answer that it was asked, without those on which it failed: an error is no miss."""
    missed: frozenset[str]


def read_misses(
    workspace: Workspace, cases: Sequence[Case], documents: Documents | None, notes: list[str]
) -> Mapping[str, KeptMisses]:
    """Return what the newest kept run of each retriever that was asked any of some cases missed, by its name.

    Args:
        workspace: Where runs are kept.
        cases: The cases, as the set has them now.
        documents: The corpus; None where there is none: gold is then compared as it is written.
        notes: Gets a line for each run that cannot be read.
    """
    wanted = tuple(question_from_case(case) for case in cases if case.gold)
    if not wanted:
        return {}
    questions = resolve(QuestionSet(name="cases", kind="release", questions=wanted), documents).set.questions
    found: dict[str, KeptMisses] = {}
    for name, run in _load(workspace, notes):
        known = set(run.queries)
        asked = [one for one in questions if one.id in known]
        if asked and run.name not in found:
            found[run.name] = _find(name, run, asked, documents, workspace.settings.measures.seed)
    return dict(sorted(found.items()))


def _find(name: str, run: Run, asked: Sequence[Question], documents: Documents | None, seed: int) -> KeptMisses:
    scored = score_run(run, label_columns(asked, documents), (f"Success@{CUTOFF}",), seed=seed)
    counted = scored.scores.answerable & ~scored.scores.failed & ~scored.scores.skipped
    missed = counted & (scored.scores[scored.metrics[0]].values == 0)
    ids = np.array([question.id for question in scored.labelled.questions])
    return KeptMisses(name, frozenset(ids[counted].tolist()), frozenset(ids[missed].tolist()))


def _load(workspace: Workspace, notes: list[str]) -> Iterator[tuple[str, Run]]:
    folder = workspace.private / "runs"
    names = [one.name for one in folder.iterdir() if not one.name.startswith(".")] if folder.is_dir() else []
    for name in sorted(names, reverse=True)[:LOOKED_AT]:
        try:
            yield name, load_run(folder / name)
        except FindbackError as error:
            notes.append(f"a kept run was not looked at: {error}")
