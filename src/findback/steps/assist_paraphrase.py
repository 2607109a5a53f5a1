"""Put the questions of cases in other words, for a person to confirm."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from findback.errors import MissingError, UsageError
from findback.llm.ask import Model
from findback.model.assisted import Paraphrased, ParaphrasedRoot
from findback.model.case import Case
from findback.model.protocols import SILENT, Progress
from findback.steps.assist_asking import (
    Answer,
    AssistRequest,
    chosen,
    count_ends,
    count_errors,
    estimate_asks,
    note_model,
    open_assistant,
)
from findback.steps.assist_prompts import open_workspace_prompts
from findback.steps.assist_redaction import open_variant_redactor
from findback.steps.assist_variants import (
    NAMES_WHAT_GOES,
    Reworded,
    Rewording,
    make_candidate,
    read_known,
    store_variants,
)
from findback.steps.bench import open_workspace_key
from findback.steps.caselist import open_head
from findback.workspace import Workspace
from findback.writing.paraphrase import DROPS, ParaphrasePrompt, ask_paraphrases

_CASE_ID = re.compile(r"c[a-z0-9]{10}")
REAL = ("mined", "flagged")
"""Origins of cases whose questions people asked."""


class ParaphraseRequest(AssistRequest):
    """Put the questions of cases in other words."""

    n: Annotated[int, Field(ge=1, le=10)] = 3
    """Variants of each question."""
    case: tuple[str, ...] = ()
    """Only these cases; every active one that people asked, save what is held out, when left out."""


def paraphrase(
    workspace: Workspace,
    request: ParaphraseRequest,
    *,
    model: Model | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> Paraphrased:
    """Have a model put questions in other words, and keep what passes as candidates.

    The model sees a question, its language and how many variants are wanted. What is kept takes label, wording,
    cluster and split over from its case once a person confirmed it. Done again, it pays and stores nothing new.

    Args:
        workspace: Where the set and the models are.
        request: Which cases, and how many variants.
        model: A model at hand, in place of one of findback.toml.
        progress: Told of each case.
        ask: Asks a person the trust question; None where nobody is there.

    Raises:
        MissingError: If the set has no such case, or none to put in other words.
        UsageError: If what is named is no id, or a case that is a paraphrase itself or not asked any more.
        FindbackError: As `open_assistant`.
    """
    found, passed_over = choose_roots(open_head(workspace).cases, request.case)
    roots, left_out = chosen(found, request.limit, passed_over)
    prompt = ParaphrasePrompt(open_workspace_prompts(workspace, ask=ask))
    if request.dry_run:
        asks = (ask_paraphrases(prompt.build(case.query, case.language, request.n), item=case.id) for case in roots)
        expected = estimate_asks(workspace, request, asks)
        return Paraphrased(model=None, dry_run=True, estimate=expected, wanted=request.n, left_out=left_out)
    assistant = open_assistant(workspace, request, unreviewed=False, given=model, ask=ask)
    key = open_workspace_key(workspace)
    rewording = Rewording(
        assistant, prompt, open_variant_redactor(workspace, key), key, read_known(workspace, key), request.n
    )
    answers = assistant.answer_all(roots, rewording.reword, label="Putting questions in other words", progress=progress)
    ended = list(zip(roots, answers, strict=True))
    candidates = [
        make_candidate(case, one, assistant.model, key)
        for case, answer in ended
        for one in (answer.value.kept if answer.value is not None else ())
    ]
    stored = store_variants(workspace, key, candidates)
    dropped = sum((one.value.dropped for one in answers if one.value is not None), Counter[str]())
    return Paraphrased(
        model=assistant.model.label,
        bills=assistant.bills(),
        ended=count_ends(answers),
        errors=count_errors(answers),
        left_out=left_out,
        notes=tuple(note_model(assistant.model)),
        wanted=request.n,
        roots=tuple(_describe(case, answer) for case, answer in ended),
        dropped={reason: dropped[reason] for reason in (*DROPS, NAMES_WHAT_GOES) if dropped[reason]},
        stored=stored,
    )


def choose_roots(cases: Iterable[Case], named: Sequence[str] = ()) -> tuple[list[Case], dict[str, int]]:
    """Return the cases to put in other words, by id, and how many are passed over, by reason.

    Raises:
        MissingError: If one that is named is not there, or there is none at all.
        UsageError: If one that is named cannot be a root.
    """
    by_id = {case.id: case for case in cases}
    if named:
        return [_named(by_id, name) for name in dict.fromkeys(named)], {}
    reasons = {name: _passed_over(by_id[name]) for name in sorted(by_id)}
    roots = [by_id[name] for name, reason in reasons.items() if reason is None]
    if not roots:
        raise MissingError(
            "the set has no active case that somebody asked", hint="release some, or name cases with --case"
        )
    return roots, dict(Counter(reason for reason in reasons.values() if reason is not None))


def _passed_over(case: Case) -> str | None:
    if case.status != "active":
        return case.status
    if case.origin not in REAL:
        return case.origin
    return "held out" if case.split == "holdout" else None


def _named(by_id: Mapping[str, Case], name: str) -> Case:
    case = by_id.get(name)
    if case is None and not _CASE_ID.fullmatch(name):
        raise UsageError(f"{name[:40]!r} is no case id", hint="an id is c and ten lower-case letters or digits")
    if case is None:
        raise MissingError(f"the set has no case {name}")
    if case.origin == "paraphrase":
        raise UsageError(f"{name} is a paraphrase itself", hint=f"name the case it was made from: {case.root}")
    if case.status != "active":
        raise UsageError(f"{name} is {case.status}")
    return case


def _describe(case: Case, answer: Answer[Reworded]) -> ParaphrasedRoot:
    value = answer.value
    return ParaphrasedRoot(
        case=case.id,
        ended=answer.ended,
        kept=() if value is None else tuple(one.text.text for one in value.kept),
        dropped={} if value is None else dict(value.dropped),
        reason=answer.reason,
    )
