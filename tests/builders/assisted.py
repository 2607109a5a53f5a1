"""A set, a workbench with candidates, and models whose answers are scripted."""

from collections.abc import Callable, Sequence
from pathlib import Path

from builders.candidates import NOON
from builders.ready import portal
from findback.evalset.cases import write_cases
from findback.llm.ask import Ask, ScriptedModel
from findback.model.candidate import Candidate
from findback.model.case import Case
from findback.model.record import Record
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.steps.bench import open_bench
from findback.steps.review import submit
from findback.steps.reviewdesk import open_desk
from findback.workspace import Workspace

QUICK = "[mining]\nnames = false\n"
"""Settings under which no model for names is loaded."""
ALONE = QUICK + "[review]\noverlap = 0.0\n"
"""Settings under which no candidate is drawn for a second opinion."""


def workspace_of(
    folder: Path, cases: Sequence[Case] = (), candidates: Sequence[Candidate] = (), *, settings: str = QUICK
) -> Workspace:
    """Return a portal with a set and a workbench, each where there is something to put into it."""
    workspace = portal(folder, settings)
    if cases:
        workspace.evalset.mkdir()
        write_cases(workspace.evalset / "cases.jsonl", cases)
    if candidates:
        with open_bench(workspace) as bench:
            bench.put(candidates, now=NOON)
    return workspace


def hand_in(workspace: Workspace, reviewer: Reviewer, reviews: dict[str, Review]) -> None:
    """Submit reviews of candidates, by their keys."""
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        for key, review in reviews.items():
            submit(desk, reviewer, key, review, revision=0, now=NOON)


def scripted(answer: Callable[[Ask[Record]], Record], **options: object) -> ScriptedModel:
    """Return a model whose answers a function gives."""
    return ScriptedModel(answer, **options)
