"""Say what is there and which step is next."""

from typing import NamedTuple

from findback.errors import FindbackError
from findback.model.audit import Audit
from findback.model.evaluation import Evaluation
from findback.model.record import Record
from findback.steps.bench import has_bench, open_bench
from findback.steps.broken import broken_places
from findback.steps.kept import newest
from findback.steps.opening import newest_release
from findback.workbench.state import UNDECIDED
from findback.workspace import Workspace

SHOWN = 3
"""Faults of the set that are named, at most."""


class Waiting(NamedTuple):
    """How many candidates wait for a person."""

    review: int
    ready: int


class StatusItem(Record):
    """One thing a workspace has or lacks."""

    what: str
    state: str


class Status(Record):
    """What a workspace has, and which step is next."""

    items: tuple[StatusItem, ...]
    next: str


def status(workspace: Workspace) -> Status:
    """Return what is there; reads no corpus, asks no engine."""
    settings = workspace.settings
    corpus = settings.corpus
    corpus_there = corpus is not None and workspace.path(corpus.path).exists()
    release = newest_release(workspace)
    waiting, workbench = _look_into_bench(workspace)
    evaluation, no_evaluation = newest(workspace, Evaluation)
    audited, no_audit = newest(workspace, Audit)
    items = [
        StatusItem(what="findback.toml", state=str(workspace.file or "none")),
        StatusItem(what="corpus", state=_corpus_state(corpus.path if corpus else None, there=corpus_there)),
        StatusItem(what="retrievers", state=", ".join(settings.retrievers) or "none"),
        StatusItem(what="workbench", state=workbench),
        StatusItem(what="newest release", state=f"{release}" if release else "none"),
        StatusItem(
            what="newest audit",
            state=f"{audited.made:%Y-%m-%d %H:%M} of {audited.set.set.name}" if audited else "none",
        ),
        StatusItem(
            what="newest evaluation",
            state=f"{evaluation.made:%Y-%m-%d %H:%M} on {evaluation.set.name}" if evaluation else "none",
        ),
        *(
            StatusItem(what="cannot be read", state=line)
            for line in (*_first(broken_places(workspace)), *no_evaluation, *no_audit)
        ),
        StatusItem(what="private folder", state=str(workspace.private)),
    ]
    begin = _begin(workspace, waiting, corpus_there=corpus_there)
    return Status(items=tuple(items), next=begin or _next_step(release, audited, evaluation))


def _look_into_bench(workspace: Workspace) -> tuple[Waiting | None, str]:
    """Return how many candidates wait for what, and the same in words; None where there is no workbench to read."""
    if not has_bench(workspace):
        return None, "nothing mined"
    try:
        with open_bench(workspace) as bench:
            counts = bench.count()
    except FindbackError as error:
        return None, f"cannot be read: {error}"
    said = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    return Waiting(sum(counts[state] for state in UNDECIDED), counts["ready"]), said or "no candidates"


def _first(faults: list[str]) -> list[str]:
    more = [f"… and {len(faults) - SHOWN} more; findback doctor"] if len(faults) > SHOWN else []
    return [*faults[:SHOWN], *more]


def _begin(workspace: Workspace, waiting: Waiting | None, *, corpus_there: bool) -> str | None:
    """Return the next step towards a release; None where that is not what is next."""
    if workspace.file is None:
        return "findback init"
    if not corpus_there:
        return "name the documents in [corpus] path of findback.toml"
    if waiting is None:
        mined = has_bench(workspace) or not workspace.settings.sources
        return None if mined else "findback mine, which reads the [sources] of findback.toml"
    if waiting.review:
        also = f', or findback release -m "…" ({waiting.ready} ready)' if waiting.ready else ""
        return f"findback review ({waiting.review} waiting){also}"
    return f'findback release -m "…" ({waiting.ready} ready)' if waiting.ready else None


def _corpus_state(path: str | None, *, there: bool) -> str:
    if path is None:
        return "none named"
    return path if there else f"{path} is not there"


def _next_step(release: int | None, audited: Audit | None, evaluation: Evaluation | None) -> str:
    stale = evaluation is not None and audited is not None and evaluation.made < audited.made
    own, chosen = (" YOUR_SET", " --set YOUR_SET") if release is None else ("", "")
    steps = (
        (release is not None and evaluation is None, "findback evaluate"),
        (audited is None, f"findback audit{own} --real QUERIES_PEOPLE_TYPED"),
        (
            audited is not None and audited.sample is None,
            f"findback label quick QUERIES_PEOPLE_TYPED, then findback audit{own} --real with what you labelled",
        ),
        (evaluation is None, f"findback evaluate{chosen}"),
        (stale, f"findback evaluate{chosen}, to have scores as new as the audit"),
    )
    return next((what for wanted, what in steps if wanted), "findback report")
