"""Draft judgements for review, kept from reviewers until they answered, and how far both agree."""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field, NonNegativeInt

from findback.errors import MissingError
from findback.llm.ask import Ask, Model, Reply
from findback.model.assisted import Suggested, SuggestedGrade, Suggestion
from findback.model.bill import Estimate
from findback.model.protocols import SILENT, Progress
from findback.steps.assist_agreement import measure_models
from findback.steps.assist_asking import (
    AssistRequest,
    chosen,
    count_ends,
    count_errors,
    estimate_asks,
    note_model,
    open_assistant,
)
from findback.steps.assist_pools import SHOWN, OfferedPool, pool_documents
from findback.steps.assist_prompts import open_workspace_prompts
from findback.steps.assist_questions import Question, of_candidate
from findback.steps.bench import has_bench, open_bench, open_workspace_key
from findback.steps.kept import now
from findback.steps.reviewdesk import MOST_POOLED, Desk, open_desk
from findback.workbench.listing import CandidateFilters
from findback.workbench.rows import StoredCandidate
from findback.workbench.state import State
from findback.workbench.store import Workbench
from findback.workspace import Workspace
from findback.writing.prompts import Prompts
from findback.writing.suggest import CheckedGrade, Grades, Offered, ask_grades, check_grades

WAITING: tuple[State, ...] = ("new", "in-review", "needs-labels", "second-opinion")
PAGE = 200
WRITTEN = "a model wrote them"
NO_DOCUMENT = "no document that may answer"
UNGRADED = "its answers do not grade every document once"


class SuggestRequest(AssistRequest):
    """Draft judgements of candidates."""

    state: Annotated[tuple[State, ...], Field(min_length=1, max_length=10)] = WAITING
    """Only candidates in these states; drafts of ready ones tell at once how far model and people agree."""
    seed: NonNegativeInt = 20_251
    """Seed of the order documents are shown in."""


class _Draft(NamedTuple):
    """What the model said about one candidate."""

    suggestion: Suggestion
    checked: tuple[CheckedGrade, ...]


def suggest(
    workspace: Workspace,
    request: SuggestRequest,
    *,
    model: Model | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> Suggested:
    """Have a model draft judgements, keep them hidden, and compare those of answered candidates with the answers.

    The model sees the question and documents in an order of chance. What a model wrote it does not judge. A draft
    takes the place of an older one of the same candidate.

    Args:
        workspace: Where workbench, documents, retrievers and models are.
        request: Which candidates.
        model: A model at hand, in place of one of findback.toml.
        progress: Told of each candidate.
        ask: Asks a person the trust question; None where nobody is there.

    Raises:
        MissingError: If nothing was mined, there is no such candidate, or there are no documents.
        RefusedError: If unreviewed text may not go to the model.
        FindbackError: As `open_assistant`.
    """
    if not has_bench(workspace):
        raise MissingError("nothing has been mined yet", hint="findback mine EXPORT…")
    key = open_workspace_key(workspace)
    with open_bench(workspace, key) as bench, open_desk(workspace, bench, key=key, ask=ask) as desk:
        found, passed_over = _list(bench, request.state)
        candidates, left_out = chosen(found, request.limit, passed_over)
        prompts = open_workspace_prompts(workspace, ask=ask)
        agreed = measure_models(bench.suggestions(), bench.opinions())
        if request.dry_run:
            expected = _estimate(workspace, request, candidates, prompts)
            return Suggested(model=None, dry_run=True, estimate=expected, left_out=left_out, agreement=agreed)
        assistant = open_assistant(workspace, request, unreviewed=True, given=model, ask=ask)
        if desk.documents is None:
            raise MissingError("drafts need the documents", hint="name them under [corpus] in findback.toml")
        pools = _pool(desk, candidates, request.seed, progress)
        items = [one for one in pools if one.documents]
        left_out = {**left_out, **({NO_DOCUMENT: len(pools) - len(items)} if len(items) < len(pools) else {})}

        async def grade(pool: OfferedPool) -> _Draft:
            def accept(reply: Reply[Grades]) -> _Draft | None:
                checked = check_grades(reply.value, pool.documents)
                return None if checked is None else _draft(pool, checked, reply, assistant.model, prompts)

            return await assistant.insist(
                lambda attempt: _ask(prompts, pool.question, pool.documents, attempt), accept, why=UNGRADED
            )

        answers = assistant.answer_all(items, grade, label="Drafting judgements", progress=progress)
        drafts = {
            pool.question.id: one.value for pool, one in zip(items, answers, strict=True) if one.value is not None
        }
        stored = bench.put_suggestions({name: one.suggestion for name, one in drafts.items()}, now=now())
        checked = [grade for one in drafts.values() for grade in one.checked]
        return Suggested(
            model=assistant.model.label,
            bills=assistant.bills(),
            ended=count_ends(answers),
            errors=count_errors(answers),
            left_out=left_out,
            notes=(*note_model(assistant.model), *dict.fromkeys(desk.failures)),
            stored=stored,
            graded=len(checked),
            quoted=sum(one.quote is not None for one in checked),
            misquoted=sum(one.misquoted for one in checked),
            agreement=measure_models(bench.suggestions(), bench.opinions()),
        )


def _list(bench: Workbench, states: tuple[State, ...]) -> tuple[list[StoredCandidate], dict[str, int]]:
    found, written, after = [], 0, 0
    while page := bench.list_candidates(CandidateFilters(states=states), limit=PAGE, after=after):
        after = page[-1].number
        asked = [one for one in page if one.candidate.origin not in ("generated", "paraphrase")]
        found += asked
        written += len(page) - len(asked)
    if not found:
        raise MissingError(
            f"no candidate is {' or '.join(states)}", hint="findback candidates list shows what there is"
        )
    return found, {WRITTEN: written}


def _pool(desk: Desk, candidates: Sequence[StoredCandidate], seed: int, progress: Progress) -> list[OfferedPool]:
    progress.start("Finding documents", len(candidates))
    pools = []
    for stored, question in _questions(desk.bench, candidates):
        pools.append(pool_documents(desk, stored.candidate, question, seed=seed))
        progress.advance()
    progress.finish()
    return pools


def _questions(bench: Workbench, candidates: Sequence[StoredCandidate]) -> Iterator[tuple[StoredCandidate, Question]]:
    redacted = bench.redactions_of(candidates)
    for stored in candidates:
        yield stored, of_candidate(stored, None, redacted[stored.candidate.key])


def _ask(prompts: Prompts, question: Question, documents: Sequence[Offered], attempt: int = 1) -> Ask[Grades]:
    return ask_grades(prompts, question.text, documents, state="unreviewed", item=question.id[:10], attempt=attempt)


def _draft(
    pool: OfferedPool, checked: tuple[CheckedGrade, ...], reply: Reply[Grades], model: Model, prompts: Prompts
) -> _Draft:
    grades = tuple(
        SuggestedGrade(document=document, grade=one.grade, quote=one.quote)
        for document, one in zip(pool.ids, checked, strict=True)
    )
    suggestion = Suggestion(
        model=model.label,
        prompt=prompts.label("suggest"),
        for_decisions=model.for_decisions,
        at=reply.at,
        grades=grades,
    )
    return _Draft(suggestion, checked)


def _estimate(
    workspace: Workspace, request: SuggestRequest, candidates: Sequence[StoredCandidate], prompts: Prompts
) -> Estimate:
    """Return what it costs at most: as many documents as a pool may have, each as long as one may be."""
    longest = (Offered(None, "x" * SHOWN),) * MOST_POOLED
    asks = (
        ask_grades(prompts, one.candidate.query.text, longest, state="unreviewed", item=one.candidate.key[:10])
        for one in candidates
    )
    return estimate_asks(workspace, request, asks)
