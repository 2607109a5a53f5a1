"""Go on with an evaluation in which searches failed: only those are asked again."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from findback.errors import UsageError
from findback.evalset.runs import load_run
from findback.model.evaluation import Evaluation
from findback.model.hits import Answer
from findback.model.run import FAILED, OK, SKIPPED, Run, RunBuilder
from findback.steps.kept import newest
from findback.workspace import Workspace


class Earlier(NamedTuple):
    """A run to go on with."""

    run: Run
    answered: frozenset[str]
    """Questions that did not fail."""


def find_earlier(workspace: Workspace, heading: str, corpus_digest: str | None, depth: int) -> Mapping[str, Earlier]:
    """Return the runs of the newest evaluation, by the name of their retriever.

    Args:
        workspace: Where they are kept.
        heading: Of the set that is asked; the one before must have been the same.
        corpus_digest: Of the documents, which must be the same, too.
        depth: Results asked for, likewise.

    Raises:
        UsageError: If the newest evaluation was of something else, or there is none.
    """
    last = newest(workspace, Evaluation).result
    if last is None or (last.set.heading, last.corpus_digest, last.depth) != (heading, corpus_digest, depth):
        raise UsageError(
            "there is nothing to resume: the newest evaluation is not of this set, these documents and this depth",
            hint="leave --resume out",
        )
    folder = workspace.private_part("runs")
    found = {}
    for scores in last.retrievers:
        if scores.run is None or not (folder / scores.run).is_file():
            continue
        run = load_run(folder / scores.run)
        if run.order != "score":
            ended = [OK] * len(run) if run.ended is None else run.ended.tolist()
            answered = (name for name, how in zip(run.queries, ended, strict=True) if how != FAILED)
            found[scores.name] = Earlier(run, frozenset(answered))
    return found


def join_runs(earlier: Earlier, again: Run, questions: Sequence[str]) -> Run:
    """Return one run: what was answered before, and the rest as it went now."""
    builder = RunBuilder(again.name, kind=again.kind, direction=again.direction)
    places = [{name: at for at, name in enumerate(run.queries)} for run in (earlier.run, again)]
    for question in questions:
        before = question in earlier.answered
        run, at = (earlier.run, places[0][question]) if before else (again, places[1][question])
        _copy(builder, run, at, question)
    return builder.build(depth=again.depth, created=again.created, config_digest=again.config_digest)


def _copy(builder: RunBuilder, run: Run, at: int, question: str) -> None:
    how = OK if run.ended is None else int(run.ended[at])
    latency = None if run.latency is None or run.latency[at] != run.latency[at] else float(run.latency[at])
    if how == FAILED:
        builder.fail(question, run.reason_of(at) or "error", latency=latency)
    elif how == SKIPPED:
        builder.skip(question, run.reason_of(at) or "")
    else:
        exhausted = run.exhausted is not None and bool(run.exhausted[at])
        abstained = run.abstained is not None and bool(run.abstained[at])
        builder.add(question, Answer(run.hits(at), exhausted, abstained), latency=latency)
