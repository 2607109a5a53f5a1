"""Say what a glossary is worth in front of a retriever: apart on answers it was built from and on others."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Annotated, NamedTuple

from pydantic import Field

from findback.corpus.corpus import Corpus
from findback.errors import UsageError
from findback.evalset.glossary import GLOSSARY
from findback.measure.folds import split_folds
from findback.measure.metrics.name import parse_metric
from findback.model.case import Name
from findback.model.glossary import Glossary, GlossaryEvaluation, GlossaryScore, TermScore
from findback.model.protocols import SILENT, Progress, Retriever
from findback.model.question import QuestionSet
from findback.steps.glossary_building import (
    MOST_MEASURED,
    choose_proposals,
    find_candidates,
    measure_candidates,
    weigh_effect,
)
from findback.steps.glossary_gains import Searched, list_harmed, measure_gain, measure_strata
from findback.steps.glossary_material import Material
from findback.steps.glossary_plan import GlossaryRequest, Plan, note_stems, open_estimator, open_plan, open_systems
from findback.steps.glossary_texts import search_texts
from findback.steps.opening import open_glossary
from findback.text.expansion import Expanded, Expander
from findback.workspace import Workspace

NO_UNSEEN = "every answer was looked at in building it, and such figures are never shown alone"
NO_SEEN = "no question of this set has an answer it was built from"
BY_HAND = "{} of the accepted terms name no case: which answers were seen in writing them cannot be told"
CHOSEN = (
    "which of the proposed terms people accepted may rest on every question of its release; a glossary rebuilt without"
    " the questions scored has no such knowledge"
)
NO_GLOSSARY = "no terms have been accepted yet"
MODEL_LEFT_OUT = "terms that a model proposed are not in the rebuilt glossaries"


class GlossaryEvaluateRequest(GlossaryRequest):
    """Say what a glossary is worth in front of a retriever, on answers it was built from and on others."""

    retrievers: tuple[Name, ...] = ()
    """Names from findback.toml; all that can be asked other questions when empty."""
    folds: Annotated[int, Field(ge=2, le=20)] = 5
    """Parts of the questions; a glossary is rebuilt without each of them in turn."""
    most: Annotated[int, Field(ge=1, le=1_000)] = 40
    """Most terms of a rebuilt glossary: all that are proposed, as if each was accepted."""


class _Glossaries(NamedTuple):
    """What is put in front of each retriever."""

    accepted: Glossary
    rebuilt: "_Rebuilt"


class _Rebuilt(NamedTuple):
    """The glossaries rebuilt without each fold."""

    folds: Sequence[int]
    """The fold of each question."""
    expanders: Sequence[Expander]
    """One without each fold."""
    terms: float
    """Their mean number of terms."""


def evaluate(
    workspace: Workspace,
    request: GlossaryEvaluateRequest,
    *,
    questions: QuestionSet | None = None,
    documents: Corpus | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> GlossaryEvaluation:
    """Search every question with and without the glossary, and keep what it was built from apart.

    Folds are made of questions joined by cluster or gold document. A glossary is rebuilt without each fold: what it
    does to the questions of that fold is its worth on unseen answers, what it does to the others its worth on seen
    ones. Of the accepted terms the cases behind them say which answers were seen.

    Args:
        workspace: Where set, documents, glossary and retrievers are.
        request: Which questions and retrievers.
        questions: Questions already read, instead of the set the request names.
        documents: Documents already read, instead of the workspace's.
        progress: Shows how far it has come.
        ask: Asks a person to trust what the workspace names; None where nobody is there.

    Raises:
        UsageError: If the questions hang together in fewer groups than there are folds.
        MissingError: If there is no set, corpus or retriever.
        DataError: If one of them, or the glossary, cannot be read.
        RefusedError: If questions nobody reviewed may not go where they would.
        UntrustedError: If nobody agreed to what findback.toml names.
    """
    plan = open_plan(workspace, request, questions=questions, documents=documents, progress=progress)
    accepted = open_glossary(workspace) if (workspace.evalset / GLOSSARY).exists() else Glossary()
    folds = _split(plan, request.folds)
    systems = open_systems(plan, request.retrievers, progress=progress, ask=ask)
    estimator = open_estimator(plan, request.on, progress=progress, ask=ask)
    glossaries = _Glossaries(accepted, _rebuild(plan, request, folds, estimator, progress))
    scores = [score for system in systems for score in _score(plan, request, glossaries, system, progress)]
    return GlossaryEvaluation(
        made=plan.terms.made,
        findback=version("findback"),
        workspace=workspace.settings.name,
        heading=plan.asked.heading,
        corpus=plan.corpus.name,
        corpus_digest=plan.corpus.digest,
        metric=plan.terms.metric,
        label=parse_metric(plan.terms.metric).label,
        seed=plan.terms.seed,
        folds=request.folds,
        most=request.most,
        below=request.below,
        weight=request.weight,
        language=plan.material.language,
        measured_on=estimator.name,
        questions=len(plan.material.questions),
        groups=len(set(plan.material.groups)),
        left_out=dict(plan.material.left_out),
        scores=tuple(scores),
        notes=(*_notes(accepted), *note_stems(plan)),
    )


def _notes(accepted: Glossary) -> Iterator[str]:
    if not accepted.terms:
        yield NO_GLOSSARY
        return
    yield CHOSEN
    if unknown := sum(not term.cases for term in accepted.terms):
        yield BY_HAND.format(unknown)
    if any(term.source == "model" for term in accepted.terms):
        yield MODEL_LEFT_OUT


def _split(plan: Plan, folds: int) -> list[int]:
    groups = plan.material.groups
    if len(set(groups)) < folds:
        raise UsageError(
            f"the {len(groups)} questions are joined by clusters and answers into {len(set(groups))} groups,"
            f" too few for {folds} folds",
            hint="label more questions about other documents, or name fewer folds: --folds 2",
        )
    return split_folds(groups, folds, seed=plan.terms.seed)


def _rebuild(
    plan: Plan, request: GlossaryEvaluateRequest, folds: Sequence[int], estimator: Retriever, progress: Progress
) -> _Rebuilt:
    """Return a glossary for each fold that knows nothing of it."""
    material = plan.material
    others = [[row for row, fold in enumerate(folds) if fold != one] for one in range(request.folds)]
    found = [find_candidates(material, rows, weight=request.weight).candidates[:MOST_MEASURED] for rows in others]
    texts = ((row, text) for candidates in found for one in candidates for row, text in one.texts.items())
    scores = search_texts(estimator, material.questions, texts, plan.corpus, plan.terms, progress=progress)
    chosen = [
        choose_proposals(measure_candidates(material, candidates, rows, scores), request.most)[0]
        for candidates, rows in zip(found, others, strict=True)
    ]
    expanders = [_expander(material, [(one.when, one.add) for one in proposals], request) for proposals in chosen]
    return _Rebuilt(folds, expanders, sum(map(len, chosen)) / len(chosen))


def _expander(material: Material, rules: Sequence[tuple[str, str]], request: GlossaryEvaluateRequest) -> Expander:
    return Expander(rules, language=material.language, weight=request.weight)


def _score(
    plan: Plan,
    request: GlossaryEvaluateRequest,
    glossaries: _Glossaries,
    system: Retriever,
    progress: Progress,
) -> Iterator[GlossaryScore]:
    """Yield what the accepted and the rebuilt glossaries do in front of one retriever."""
    material, (accepted, rebuilt) = plan.material, glossaries
    queries = [one.query for one in material.questions]
    whole = _expander(material, accepted.rules, request)
    by_accepted = [whole.expand(query) for query in queries]
    alone = [_expander(material, [rule], request) for rule in accepted.rules]
    by_term = [_list_changed(one, queries) for one in alone]
    by_fold = [[expander.expand(query) for query in queries] for expander in rebuilt.expanders]
    texts = [
        *((row, one.text) for row, one in enumerate(by_accepted)),
        *((row, text) for changed in by_term for row, text in changed.items()),
        *((row, one.text) for expanded in by_fold for row, one in enumerate(expanded)),
    ]
    kind = system.kind
    scores = search_texts(system, material.questions, texts, plan.corpus, plan.terms, progress=progress)
    searched = Searched(material, scores, plan.terms.seed)
    named = {"retriever": system.name, "kind": kind, "config_digest": scores.config_digest, "errors": scores.errors}
    if accepted.terms:
        yield _score_accepted(searched, accepted, by_accepted, by_term, named)
    yield _score_rebuilt(searched, rebuilt, by_fold, named)


def _list_changed(expander: Expander, queries: Sequence[str]) -> dict[int, str]:
    expanded = {row: expander.expand(query) for row, query in enumerate(queries)}
    return {row: one.text for row, one in expanded.items() if one.added}


def _score_accepted(
    searched: Searched,
    accepted: Glossary,
    expanded: Sequence[Expanded],
    by_term: Sequence[Mapping[int, str]],
    named: Mapping[str, object],
) -> GlossaryScore:
    material = searched.material
    ids = {one.id: row for row, one in enumerate(material.questions)}
    behind = {ids[case] for term in accepted.terms for case in term.cases if case in ids}
    built = {material.groups[row] for row in behind}
    seen = [row for row, group in enumerate(material.groups) if group in built]
    unseen = [row for row, group in enumerate(material.groups) if group not in built]
    texts = {row: (one.text,) for row, one in enumerate(expanded)}
    sizes = Counter(material.clusters(unseen))
    terms = tuple(
        TermScore(
            when=term.when,
            add=term.add,
            unseen=weigh_effect(
                material, {row: changed[row] for row in unseen if row in changed}, sizes, searched.scores
            ),
        )
        for term, changed in zip(accepted.terms, by_term, strict=True)
    )
    return GlossaryScore.model_validate(
        {
            **named,
            "glossary": "accepted",
            "terms": len(accepted.terms),
            "unseen": measure_gain(searched, unseen, texts),
            "seen": measure_gain(searched, seen, texts) if seen and unseen else None,
            "seen_reason": None if seen and unseen else NO_SEEN if unseen else NO_UNSEEN,
            "strata": measure_strata(searched, unseen, texts),
            "harmed": list_harmed(searched, unseen, expanded),
            "scored_terms": terms,
        }
    )


def _score_rebuilt(
    searched: Searched, rebuilt: _Rebuilt, by_fold: Sequence[Sequence[Expanded]], named: Mapping[str, object]
) -> GlossaryScore:
    rows = range(len(rebuilt.folds))
    without = [by_fold[fold][row] for row, fold in enumerate(rebuilt.folds)]
    unseen = {row: (one.text,) for row, one in enumerate(without)}
    # Several glossaries were built from each question: what they do to it is averaged.
    seen = {row: tuple(one[row].text for fold, one in enumerate(by_fold) if fold != rebuilt.folds[row]) for row in rows}
    return GlossaryScore.model_validate(
        {
            **named,
            "glossary": "as proposed",
            "terms": rebuilt.terms,
            "unseen": measure_gain(searched, rows, unseen),
            "seen": measure_gain(searched, rows, seen),
            "strata": measure_strata(searched, rows, unseen),
            "harmed": list_harmed(searched, rows, without),
        }
    )
