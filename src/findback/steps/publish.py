"""From a scored run to a baseline, and back to a run that can be scored on today's labels."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

from findback.errors import UsageError
from findback.evalset.baseline import (
    Baseline,
    BaselineCase,
    BaselineHead,
    Ended,
    JudgedRank,
    baseline_file,
    key_of,
    key_of_labels,
    write_baseline,
)
from findback.measure.metrics.name import Metric, parse_metric
from findback.measure.ranks import join_queries, place_golds
from findback.model.hits import Answer, Hit
from findback.model.protocols import Documents
from findback.model.question import UNRELEASED_POOL, Question, QuestionSet
from findback.model.run import Run, RunBuilder
from findback.steps.gold import Labelled
from findback.steps.scores import Scored
from findback.workspace import Workspace

REPLAYED = "baseline"
"""Kind of a run made from a baseline: a case it lacks is none, never a miss."""
UNREPLAYABLE = frozenset({"AnchorSuccess", "AnchorRecall"})
"""Metrics over passages, of which a baseline keeps nothing."""
OVER_JUDGED = frozenset({"Bpref", "Judged"})
"""Metrics that need to know where documents stood that are no answer."""
_FILLER = "\0"
_TOP_DIGITS = 6

ADDED = "added since"
GONE = "no longer asked: retired, withdrawn, held out, or without an answer now"
RELABELLED = "relabelled since, and the baseline does not say where the new gold stood"
UNASKED = "their context could not be honoured, then or now"


def refuse_publishing(workspace: Workspace, name: str, count: int, asked: QuestionSet, *, holdout: bool) -> None:
    """Stop before anything is searched where no baseline could be published.

    Args:
        workspace: Its set keeps the baseline.
        name: What it is to be called.
        count: Systems that are scored.
        asked: The set.
        holdout: Whether it is what a release holds out.

    Raises:
        UsageError: If the name is none, there are several systems, the primary metric is about passages, or the
            set is the unreleased pool or held out.
    """
    baseline_file(workspace.evalset, name)
    if count != 1:
        raise UsageError(
            f"a baseline holds one system, and {count} would be scored", hint=f"findback evaluate NAME --publish {name}"
        )
    if holdout or asked.kind == UNRELEASED_POOL:
        raise UsageError(
            "a baseline would show single held-out or unreleased cases",
            hint="leave out --publish, or --holdout, --pool",
        )
    refuse_passages(parse_metric(workspace.settings.measures.primary))


def publish(workspace: Workspace, name: str, scored: Scored, asked: QuestionSet, corpus: str | None) -> Path:
    """Write the baseline of a scored run and return its file; one of that name is replaced.

    Args:
        workspace: Its set keeps the baseline.
        name: What it is called.
        scored: The run.
        asked: The set it was scored on.
        corpus: Digest of the documents.

    Raises:
        StorageError: If the disk refuses.
    """
    primary = workspace.settings.measures.primary
    baseline = make_baseline(name, scored, asked, primary=primary, corpus=corpus)
    return write_baseline(baseline_file(workspace.evalset, name), baseline)


def refuse_passages(metric: Metric) -> None:
    """Stop where a metric needs passages, of which a baseline keeps nothing.

    Raises:
        UsageError: If it does.
    """
    if metric.name in UNREPLAYABLE:
        raise UsageError(
            f"a baseline keeps ranks of documents, and {metric} is about passages",
            hint="name another primary metric: [measures] primary",
        )


def make_baseline(name: str, scored: Scored, asked: QuestionSet, *, primary: str, corpus: str | None) -> Baseline:
    """Return the baseline of a run: for every labelled question the status and ranks of what was judged."""
    run, questions = scored.run, scored.labelled.questions
    ranks = _judged_ranks(run, scored.labelled)
    of_run = join_queries([question.id for question in questions], run.queries)
    cases = []
    for row, question in enumerate(questions):
        ended = _ended(scored, row)
        taken = int(of_run[row])
        latency = float("nan") if run.latency is None or taken < 0 else float(run.latency[taken])
        top = float(scored.scores.top_score[row])
        cases.append(
            BaselineCase(
                case=question.id,
                ended=ended,
                answerable=bool(scored.scores.answerable[row]),
                labels=key_of_labels(question),
                ranks=tuple(sorted(ranks[row], key=lambda one: one.doc)) if ended == "answered" else (),
                returned=int(scored.scores.placed.returned[row]),
                top_score=float(f"{top:.{_TOP_DIGITS}g}") if np.isfinite(top) else None,
                latency=None if np.isnan(latency) else round(latency, 1),
            )
        )
    head = BaselineHead(
        release=asked.release,
        set=asked.sha256,
        heading=asked.heading[:200],
        retriever=run.name[:200],
        config_digest=run.config_digest or "",
        primary=str(parse_metric(primary)),
        depth=run.depth,
        corpus=corpus,
        findback=version("findback"),
        made=datetime.fromisoformat(run.created) if run.created else None,
    )
    return Baseline(name, head, tuple(sorted(cases, key=lambda case: case.case)))


def _ended(scored: Scored, row: int) -> Ended:
    scores = scored.scores
    if scores.missing[row]:
        return "not in the run"
    return "failed" if scores.failed[row] else "not asked" if scores.skipped[row] else "answered"


def _judged_ranks(run: Run, labelled: Labelled) -> Mapping[int, list[JudgedRank]]:
    """Return where every judged document stood, wrong ones too: those may become gold."""
    gold = labelled.gold
    placed = place_golds(run, replace(gold, grade=np.maximum(gold.grade, 1)))
    found: dict[int, dict[str, JudgedRank]] = defaultdict(dict)
    columns = (placed.part_query, placed.part_document, placed.part_above, placed.part_tied)
    for query, document, above, tied in zip(*(column.tolist() for column in columns), strict=True):
        key = key_of(gold.documents[document])
        rank = None if above < 0 else above + 1
        found[query][key] = JudgedRank(doc=key, rank=rank, tied=1 if rank is None else tied)
    return defaultdict(list, {query: list(ranks.values()) for query, ranks in found.items()})


class Replayed(NamedTuple):
    """A baseline as a run on today's labels."""

    run: Run
    rescored: tuple[str, ...]
    """Cases relabelled since whose gold's ranks the baseline keeps."""
    left_out: Mapping[str, tuple[str, ...]]
    """Cases that cannot be paired, by why."""


def replay(baseline: Baseline, labelled: Labelled, metric: Metric, documents: Documents | None) -> Replayed:
    """Return a baseline as a run that scores on today's labels as the run behind it would, as far as it says.

    Args:
        baseline: What was kept.
        labelled: Today's questions.
        metric: What is to be scored.
        documents: Tells former names of a document.
    """
    kept = {case.case: case for case in baseline.cases}
    builder = RunBuilder(baseline.name, kind=REPLAYED)
    rescored: list[str] = []
    left: dict[str, list[str]] = defaultdict(list)
    tied = False
    for question in labelled.questions:
        case = kept.get(question.id)
        answerable = bool(question.gold or question.unresolved)
        if case is None:
            if answerable:
                left[ADDED].append(question.id)
            continue
        stood = _find_ranks(case, question, metric, documents)
        if case.ended == "answered" and stood is None:
            if answerable:
                left[RELABELLED].append(question.id)
            continue
        if answerable and case.labels != key_of_labels(question):
            rescored.append(question.id)
        if case.ended == "failed":
            builder.fail(question.id, "error")
        elif case.ended == "not asked":
            builder.skip(question.id, UNASKED)
        else:
            tied |= any(one.tied > 1 for one in (stood or {}).values())
            builder.add(question.id, Answer(_lay_out(case, stood or {}, metric)))
    answers = {question.id for question in labelled.questions if question.gold or question.unresolved}
    left[GONE] = [case.case for case in baseline.cases if case.answerable and case.case not in answers]
    run = builder.build(depth=baseline.head.depth, config_digest=baseline.head.config_digest)
    return Replayed(
        run=replace(run, order="score") if tied else run,
        rescored=tuple(sorted(rescored)),
        left_out={why: tuple(sorted(ids)) for why, ids in left.items() if ids},
    )


def _find_ranks(
    case: BaselineCase, question: Question, metric: Metric, documents: Documents | None
) -> dict[str, JudgedRank] | None:
    """Return where each judged document of a question stood, as far as kept; None where one that counts is not."""
    known = {one.doc: one for one in case.ranks}
    stood = {}
    for document, grade in _judged(question):
        found = next((known[key] for key in _keys(document, documents) if key in known), None)
        if found is not None:
            stood[document] = found
        elif grade >= 1 or metric.name in OVER_JUDGED:
            return None
    return stood


def _judged(question: Question) -> Iterator[tuple[str, int]]:
    yield from ((one.doc, one.grade) for one in question.judged or ())
    yield from ((reference, 1) for reference in question.unresolved)


def _keys(document: str, documents: Documents | None) -> Iterator[str]:
    """Yield the digests a document may be kept under: its id, then its former names."""
    yield key_of(document)
    found = documents.get(document) if documents is not None else None
    for alias in found.aliases if found is not None else ():
        yield key_of(alias)


def _lay_out(case: BaselineCase, stood: Mapping[str, JudgedRank], metric: Metric) -> tuple[Hit, ...]:
    """Return results with the judged documents at their ranks, as deep as the metric looks, and fillers between."""
    there = sorted((one.rank, document, one.tied) for document, one in stood.items() if one.rank is not None)
    deepest = max((rank + tied - 1 for rank, _, tied in there), default=0)
    if metric.cutoff is not None:
        within = [rank + tied - 1 for rank, _, tied in there if rank <= metric.cutoff]
        deepest = max([min(case.returned, metric.cutoff), *within])
        there = [one for one in there if one[0] <= metric.cutoff]
    names = [f"{_FILLER}{place}" for place in range(deepest)]
    scores = [-float(place) for place in range(deepest)]
    for rank, document, tied in there:
        scores[rank - 1 : rank + tied - 1] = [-float(rank - 1)] * tied
        # Documents of one block share its score, so that any free place of it will do.
        free = next((at for at in range(rank - 1, rank + tied - 1) if names[at].startswith(_FILLER)), None)
        if free is not None:
            names[free] = document
    return tuple(Hit(name, score) for name, score in zip(names, scores, strict=True))
