"""What judgements found by item analysis do to scores: with them, without, and without what only one system found."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from findback.errors import FindbackError
from findback.evalset.release import list_numbers, read_release, release_folder
from findback.measure.metrics.name import parse_metric
from findback.model.case import Case, Judgement
from findback.model.items import ItemEffect
from findback.model.protocols import Documents
from findback.steps.bench import has_bench, open_bench
from findback.steps.caselist import MOST_CHANGES
from findback.steps.flagmiss import read_doubt
from findback.steps.lookagain import FOUND_BY, list_pools
from findback.steps.rescoring import KeptRun, Scorer, dev_questions, load_kept
from findback.workspace import Workspace

Place = tuple[str, str]
"""A case and a document of its label."""


def weigh_found(
    workspace: Workspace, cases: Sequence[Case], documents: Documents | None, *, before: int | None = None
) -> tuple[tuple[ItemEffect, ...], tuple[str, ...]]:
    """Return each retriever's score with and without what item analysis found; nothing where it found nothing.

    Without it, a document has the grade it had in the newest release in which its grade came from elsewhere, or none.

    Args:
        workspace: Where releases, workbench and kept runs are.
        cases: A state of the set.
        documents: The corpus.
        before: Look only at releases before this one.

    Returns:
        The effects, one for each retriever with a kept run, and what could not be read.
    """
    found = set(_list_found(cases))
    if not found:
        return (), ()
    notes: list[str] = []
    earlier = _restore(cases, found, _list_earlier(workspace, before, notes))
    contributed = _list_contributors(workspace)
    measures = workspace.settings.measures
    scorer = Scorer(documents, str(parse_metric(measures.primary)), measures.seed)
    ids = {case.id for case in cases}
    # What is wrong with a run is said where runs are rescored.
    newest: dict[str, KeptRun] = {}
    for kept in load_kept(workspace, []):
        if ids.intersection(kept.run.queries):
            newest.setdefault(kept.run.name, kept)
    effects = []
    for name, kept in sorted(newest.items()):
        asked = frozenset(kept.run.queries)
        given = scorer.score(kept.run, dev_questions(cases, documents), asked)
        lacking = scorer.score(kept.run, dev_questions(earlier, documents), asked)
        own = None if contributed is None else _list_own(cases, name, contributed)
        alone = None
        if own is not None:
            alone = scorer.score(kept.run, dev_questions(_drop(cases, own), documents), asked)
        effects.append(
            ItemEffect(
                retriever=name,
                metric=scorer.metric,
                run=kept.id,
                with_found=scorer.mean(given),
                without_found=scorer.mean(lacking),
                moved=scorer.move(lacking, given),
                own=None if own is None else len(own),
                without_own=None if own is None else scorer.mean(alone),
            )
        )
    return tuple(effects), tuple(notes)


def _list_found(cases: Iterable[Case]) -> Iterator[Place]:
    for case in cases:
        if case.status == "active":
            yield from ((case.id, one.doc) for one in case.judged if one.found_by == FOUND_BY)


def _list_earlier(workspace: Workspace, before: int | None, notes: list[str]) -> Iterator[Case]:
    """Yield the cases of earlier releases, the newest first."""
    for number in reversed(list_numbers(workspace.evalset)):
        if before is not None and number >= before:
            continue
        try:
            yield from read_release(release_folder(workspace.evalset, number)).content.cases
        except FindbackError as error:
            notes.append(f"release {number} was not looked at for earlier labels: {error}")


def _restore(cases: Iterable[Case], found: Collection[Place], earlier: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases with the grades that documents had before item analysis."""
    known: dict[Place, Judgement] = {}
    for case in earlier:
        for one in case.judged:
            if one.found_by != FOUND_BY and (case.id, one.doc) in found:
                known.setdefault((case.id, one.doc), one)
    return tuple(
        _relabel(case, [known.get((case.id, one.doc)) if one.found_by == FOUND_BY else one for one in case.judged])
        for case in cases
    )


def _drop(cases: Iterable[Case], places: Collection[Place]) -> tuple[Case, ...]:
    return tuple(
        _relabel(case, [None if (case.id, one.doc) in places else one for one in case.judged]) for case in cases
    )


def _relabel(case: Case, judged: Iterable[Judgement | None]) -> Case:
    kept = tuple(one for one in judged if one is not None)
    gold = any(one.grade for one in kept)
    return case.model_copy(update={"judged": kept, "no_answer_reason": None if gold else case.no_answer_reason})


def _list_own(cases: Iterable[Case], system: str, contributed: dict[Place, set[str]]) -> set[Place]:
    """Return the golds that item analysis found and only one system had put forward."""
    return {
        (case.id, one.doc)
        for case in cases
        if case.status == "active" and case.split == "dev"
        for one in case.gold
        if one.found_by == FOUND_BY and contributed.get((case.root or case.id, one.doc)) == {system}
    }


def _list_contributors(workspace: Workspace) -> dict[Place, set[str]] | None:
    """Return which systems put a document forward for a case; None where there is no workbench to tell."""
    if not has_bench(workspace):
        return None
    found: dict[Place, set[str]] = {}
    with open_bench(workspace) as bench:
        for case_id, pool in list_pools(bench).items():
            for document, systems in pool.items():
                found.setdefault((case_id, document), set()).update(systems)
        for change in bench.case_changes(limit=MOST_CHANGES):
            doubt, values = read_doubt(change.after), change.after or {}
            if doubt is not None and doubt[0] == "also-right" and isinstance(values.get("retriever"), str):
                found.setdefault((change.case_id, doubt[1]), set()).add(values["retriever"])
    return found
