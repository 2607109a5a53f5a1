"""Propose terms for the glossary, with the questions behind each and what it would gain."""

from collections import Counter
from collections.abc import Callable, Collection
from typing import Annotated

from pydantic import Field

from findback.corpus.corpus import Corpus
from findback.evalset.glossary import GLOSSARY
from findback.llm.ask import Model
from findback.measure.metrics.name import parse_metric
from findback.model.case import Name
from findback.model.glossary import Proposal, Proposals
from findback.model.protocols import SILENT, Progress
from findback.model.question import QuestionSet
from findback.steps.assist_asking import AssistRequest
from findback.steps.glossary_building import (
    MOST_MEASURED,
    UNMEASURED,
    Candidate,
    Found,
    choose_proposals,
    find_candidates,
    measure_candidates,
)
from findback.steps.glossary_check import TermCheck
from findback.steps.glossary_kept import keep_proposals, pair_of, read_refused
from findback.steps.glossary_material import add_pairs
from findback.steps.glossary_model import Proposed, propose_pairs
from findback.steps.glossary_plan import GlossaryRequest, Plan, note_stems, open_estimator, open_plan
from findback.steps.glossary_texts import search_texts
from findback.steps.opening import open_glossary
from findback.workspace import Workspace

UNCLEAN = "holds what redaction takes away, or somebody's name"
KNOWN = "in the glossary already"
REFUSED = "refused before"
NOT_RELEASED = "these questions were never released, so nothing of this can be accepted"


class SuggestRequest(GlossaryRequest):
    """Propose terms for the glossary, with the questions behind each and what it would gain."""

    most: Annotated[int, Field(ge=1, le=1_000)] = 40
    """Most terms to propose."""
    model: Name | None = None
    """Name under [models]: it sees released questions and titles of their documents, and proposes pairs too."""
    budget: Annotated[float, Field(gt=0)] | None = None
    """Most that may cost, in the model's currency; that of [writing] when left out."""
    dry_run: bool = False
    """Ask no model; say what it would cost at most."""


def suggest(
    workspace: Workspace,
    request: SuggestRequest,
    *,
    questions: QuestionSet | None = None,
    documents: Corpus | None = None,
    model: Model | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> Proposals:
    """Propose terms: words of questions, and those their documents use instead.

    They come from people's released dev questions that share little with their answers; a term needs two clusters or
    more and passes the check of a release. Nothing enters the glossary before somebody accepts it.

    Args:
        workspace: Where set, documents and models are.
        request: Which questions, and how gains are estimated.
        questions: Questions already read, instead of the set the request names.
        documents: Documents already read, instead of the workspace's.
        model: A model at hand, in place of one of findback.toml.
        progress: Shows how far it has come.
        ask: Asks a person the trust question; None where nobody is there.

    Raises:
        MissingError: If there is no set or no corpus.
        DataError: If one of them cannot be read, or no person's question has a right document.
        RefusedError: If questions nobody reviewed may not go where they would.
        UntrustedError: If nobody agreed to what findback.toml names.
    """
    plan = open_plan(workspace, request, questions=questions, documents=documents, progress=progress)
    proposed = _ask_model(plan, request, model, progress, ask)
    material = add_pairs(plan.material, plan.corpus, proposed.pairs, progress=progress)
    rows = range(len(material.questions))
    check = TermCheck(workspace, plan.corpus)
    found = find_candidates(material, rows, weight=request.weight, proposed=proposed.pairs.keys())
    check.learn(workspace, (text for one in found.candidates for text in (one.when, one.add)))
    candidates, dropped = drop_unfit(found, check.is_clean, _list_known(workspace), read_refused(workspace))
    estimator = open_estimator(plan, request.on, progress=progress, ask=ask)
    texts = ((row, text) for one in candidates for row, text in one.texts.items())
    scores = search_texts(estimator, material.questions, texts, plan.corpus, plan.terms, progress=progress)
    chosen, useless = choose_proposals(measure_candidates(material, candidates, rows, scores), request.most)
    dropped += useless
    result = Proposals(
        made=plan.terms.made,
        workspace=workspace.settings.name,
        heading=plan.asked.heading,
        release=plan.asked.release if plan.asked.kind == "release" else None,
        corpus=plan.corpus.name,
        corpus_digest=plan.corpus.digest,
        language=material.language,
        measured_on=estimator.name,
        metric=plan.terms.metric,
        label=parse_metric(plan.terms.metric).label,
        below=request.below,
        questions=len(material.questions),
        used=len(material.sightings),
        left_out=dict(material.left_out),
        dropped={reason: count for reason, count in dropped.items() if count},
        proposals=tuple(_name_model(one, proposed.model) for one in chosen),
        model=proposed.model,
        dry_run=request.dry_run,
        estimate=proposed.estimate,
        bills=proposed.bills,
        notes=(*_notes(plan), *note_stems(plan), *check.notes, *proposed.notes, *scores.errors),
    )
    if workspace.file is not None and not request.dry_run:
        keep_proposals(workspace, result)
    return result


def _ask_model(
    plan: Plan,
    request: SuggestRequest,
    model: Model | None,
    progress: Progress,
    ask: Callable[[str], bool] | None,
) -> Proposed:
    if request.model is None and model is None:
        return Proposed({})
    asking = AssistRequest(model=request.model, budget=request.budget, dry_run=request.dry_run)
    return propose_pairs(plan, asking, model=model, progress=progress, ask=ask)


def drop_unfit(
    found: Found,
    is_clean: Callable[[str], bool],
    known: Collection[tuple[str, str]],
    refused: Collection[tuple[str, str]],
) -> tuple[list[Candidate], Counter[str]]:
    """Return the candidates that may be proposed, and how many were dropped why.

    Args:
        found: What questions and answers give.
        is_clean: Says whether a text may be published.
        known: Pairs of words of the glossary.
        refused: Pairs of words that somebody refused.
    """
    dropped = Counter(found.dropped)
    kept = []
    for one in found.candidates:
        pair = pair_of(one.when, one.add)
        if not (is_clean(one.when) and is_clean(one.add)):
            dropped[UNCLEAN] += 1
        elif pair in known:
            dropped[KNOWN] += 1
        elif pair in refused:
            dropped[REFUSED] += 1
        else:
            kept.append(one)
    dropped[UNMEASURED] += len(kept[MOST_MEASURED:])
    return kept[:MOST_MEASURED], dropped


def _list_known(workspace: Workspace) -> frozenset[tuple[str, str]]:
    if not (workspace.evalset / GLOSSARY).exists():
        return frozenset()
    return frozenset(pair_of(*rule) for rule in open_glossary(workspace).rules)


def _name_model(one: Proposal, model: str | None) -> Proposal:
    return one.model_copy(update={"model": model}) if one.source == "model" else one


def _notes(plan: Plan) -> tuple[str, ...]:
    return () if plan.asked.kind == "release" else (NOT_RELEASED,)
