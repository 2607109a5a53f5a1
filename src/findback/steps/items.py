"""Look at each case with every system: which cases, labels and documents look wrong."""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import NamedTuple

import numpy as np

from findback.corpus.corpus import Corpus
from findback.measure.clusters import code_clusters
from findback.measure.contrasts import take_sample
from findback.measure.intervals import estimate_means
from findback.measure.itemanalysis import Items, find_heavy_golds, find_second_golds, rate_items
from findback.measure.metrics.name import parse_metric
from findback.model.estimate import Estimate
from findback.model.items import AgainstCase, Floor, HeavyDocument, ItemAnalysis, ItemCase, ItemSystem, SecondDocument
from findback.model.protocols import SILENT, Documents, Progress, Retriever
from findback.model.question import QuestionSet
from findback.steps.compare_parts import estimate_differences, score_systems
from findback.steps.compare_words import note_runs
from findback.steps.items_floors import list_firsts, make_floors
from findback.steps.items_scores import ItemScores, ItemsRequest, score_items
from findback.steps.items_words import explain_items, limit_items
from findback.steps.kept import keep
from findback.steps.makeup import make_up
from findback.steps.paired_scores import PairedScores, pair_scores
from findback.steps.scores import score_run
from findback.workspace import Workspace

_NEAR = 1e-9


def analyse_items(
    workspace: Workspace,
    request: ItemsRequest,
    *,
    systems: Sequence[Retriever] = (),
    questions: QuestionSet | None = None,
    documents: Corpus | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> ItemAnalysis:
    """Return the cases, labels and documents of a set that want a look; takes and raises what `score_items` does."""
    items = score_items(
        workspace, request, systems=systems, questions=questions, documents=documents, progress=progress, ask=ask
    )
    progress.start("Looking at cases", None)
    try:
        result = look_at_items(items)
    finally:
        progress.finish()
    if workspace.file is not None:
        keep(workspace, result)
    return result


def look_at_items(items: ItemScores) -> ItemAnalysis:
    """Return what scores say about cases, labels and documents."""
    asking, paired = items.asking, items.paired
    workspace, corpus = asking.workspace, asking.documents
    table = _Table.of(items)
    failed = np.isnan(paired.values)
    # Solved or not: gold that strong systems rank second is no wrong gold.
    sample = take_sample(np.where(failed, np.nan, paired.values > _NEAR), paired.clusters, paired.golds)
    rows = np.flatnonzero(~failed.any(axis=1)).tolist()
    rated = rate_items(sample, seed=items.seed)
    systems, floors = _stand(items, table.firsts)
    everybody, nobody = _shares(paired)
    result = ItemAnalysis(
        made=asking.made,
        findback=version("findback"),
        workspace=workspace.settings.name,
        corpus=corpus.name if corpus is not None else None,
        corpus_digest=corpus.digest if corpus is not None else None,
        set=make_up(asking.asked),
        metric=paired.metric,
        label=parse_metric(paired.metric).label,
        seed=items.seed,
        cases=len(paired.questions),
        clusters=len(set(paired.clusters)),
        failed=sample.left_out,
        left_out=paired.left_out,
        systems=systems,
        floors=floors,
        everybody=tuple(table.case(rows[row]) for row in rated.everybody),
        everybody_share=everybody,
        nobody=tuple(table.case(rows[row]) for row in rated.nobody),
        nobody_share=nobody,
        against=_against(rated, rows, table),
        by_chance=rated.by_chance,
        rated=rated.rated,
        reason=rated.reason,
        heavy=_heavy(paired, corpus),
        second=_second(paired, table.firsts, corpus),
        notes=note_runs(items.entrants, paired.left_out),
        legend=(),
        limits=(),
    )
    return result.model_copy(update={"legend": explain_items(result), "limits": limit_items(result)})


class _Table(NamedTuple):
    """Cases with what each system scores and ranks first."""

    paired: PairedScores
    firsts: list[tuple[str | None, ...]]

    @classmethod
    def of(cls, items: ItemScores) -> "_Table":
        ids = [question.id for question in items.paired.questions]
        columns = [list_firsts(one.run, ids) for one in items.entrants]
        return cls(items.paired, list(zip(*columns, strict=True)))

    def case(self, row: int) -> ItemCase:
        question = self.paired.questions[row]
        return ItemCase(
            question=question.id,
            query=question.query,
            stratum=question.stratum,
            golds=tuple(dict.fromkeys(judgement.doc for judgement in question.gold)),
            scores=tuple(None if np.isnan(one) else one for one in self.paired.values[row].tolist()),
            firsts=self.firsts[row],
        )


def _stand(
    items: ItemScores, firsts: Sequence[Sequence[str | None]]
) -> tuple[tuple[ItemSystem, ...], tuple[Floor, ...]]:
    """Return systems and floors with their scores on the same cases."""
    paired = items.paired
    runs = make_floors(paired, firsts, items.asking.depth)
    more = [score_run(run, items.asking.labelled, (paired.metric,), seed=items.seed) for run in runs]
    together = pair_scores((*items.scored, *more), paired.metric, (*paired.names, *(run.name for run in runs)))
    scores, count = score_systems(together), len(items.entrants)
    floors = tuple(Floor(name=run.name, score=one) for run, one in zip(runs, scores[count:], strict=True))
    highest = max(range(len(floors)), key=lambda at: floors[at].score.estimate.value or 0.0)
    ahead = estimate_differences(together, [(at, count + highest) for at in range(count)])
    failed = paired.failed.sum(axis=0)
    systems = tuple(
        ItemSystem(
            name=entrant.name,
            kind=entrant.run.kind,
            run=entrant.source,
            created=entrant.run.created,
            reused=entrant.reused,
            config_digest=entrant.run.config_digest or "",
            score=scores[at],
            ahead=ahead[at],
            failed=int(failed[at]),
        )
        for at, entrant in enumerate(items.entrants)
    )
    return systems, floors


def _shares(paired: PairedScores) -> tuple[Estimate, Estimate]:
    """Return the share of cases that everybody solves, and that nobody does."""
    failed = np.isnan(paired.values).any(axis=1)
    solved = paired.values > _NEAR
    marks = np.column_stack([solved.all(axis=1), ~solved.any(axis=1)]).astype(np.float64)
    marks[failed] = np.nan
    everybody, nobody = estimate_means(marks, paired.clusters, paired.golds, seed=paired.seed)
    return everybody, nobody


def _against(rated: Items, rows: Sequence[int], table: _Table) -> tuple[AgainstCase, ...]:
    return tuple(
        AgainstCase(case=table.case(rows[one.row]), correlation=one.correlation, low=one.low, high=one.high)
        for one in rated.against
    )


def _heavy(paired: PairedScores, documents: Documents | None) -> tuple[HeavyDocument, ...]:
    codes = code_clusters(paired.clusters, len(paired.questions))
    return tuple(
        HeavyDocument(
            document=one.document,
            title=_title(documents, one.document),
            clusters=one.clusters,
            expected=one.expected,
            questions=tuple(
                question.id
                for question, golds in zip(paired.questions, paired.golds, strict=True)
                if one.document in golds
            ),
        )
        for one in find_heavy_golds(paired.golds, codes)
    )


def _second(
    paired: PairedScores, firsts: Sequence[Sequence[str | None]], documents: Documents | None
) -> tuple[SecondDocument, ...]:
    judged = [{one.doc for one in question.judged or ()} | set(question.unresolved) for question in paired.questions]
    found = []
    for one in find_second_golds(firsts, judged):
        question = paired.questions[one.row]
        found.append(
            SecondDocument(
                question=question.id,
                query=question.query,
                document=one.document,
                title=_title(documents, one.document),
                systems=tuple(paired.names[at] for at in one.systems),
            )
        )
    return tuple(found)


def _title(documents: Documents | None, document: str) -> str | None:
    known = documents.get(document) if documents is not None else None
    return known.title if known is not None else None
