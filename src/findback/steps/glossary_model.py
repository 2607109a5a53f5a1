"""Terms that a model proposes, of released questions and the titles of their documents."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from findback.errors import RefusedError
from findback.llm.ask import Ask, Model
from findback.model.bill import Bill
from findback.model.bill import Estimate as CostEstimate
from findback.model.protocols import SILENT, Progress
from findback.steps.assist_asking import AssistRequest, count_errors, estimate_asks, note_model, open_assistant
from findback.steps.assist_prompts import open_workspace_prompts
from findback.steps.glossary_building import Pair
from findback.steps.glossary_material import Material
from findback.steps.glossary_plan import Plan
from findback.text.phrases import find_phrases
from findback.writing.glossary import MOST_SHOWN, Answer, ProposedPairs, ask_pairs, read_pairs
from findback.writing.prompts import Prompts

NO_TITLE = "untitled"


class Proposed(NamedTuple):
    """What a model proposed."""

    pairs: Mapping[Pair, str]
    """As stems, each with the words of documents as they are written."""
    model: str | None = None
    bills: tuple[Bill, ...] = ()
    estimate: CostEstimate | None = None
    """What asking would cost at most, where nothing was asked."""
    notes: tuple[str, ...] = ()


def propose_pairs(
    plan: Plan,
    request: AssistRequest,
    *,
    model: Model | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> Proposed:
    """Have a model propose pairs of words; whether enough questions hold them is counted afterwards.

    Args:
        plan: Questions and documents.
        request: Which model, and what it may cost.
        model: A model at hand, in place of one of findback.toml.
        progress: Told of each batch of questions.
        ask: Asks a person the trust question; None where nobody is there.

    Raises:
        RefusedError: If the questions were never reviewed and released.
        FindbackError: As `open_assistant`.
    """
    if plan.asked.kind != "release":
        raise RefusedError(
            f"a model sees reviewed questions alone, and those of {plan.asked.name} were never released",
            hint="leave out --model, or name a release",
        )
    prompts = open_workspace_prompts(plan.workspace, ask=ask)
    batches = _batch(plan)
    if request.dry_run:
        asks = (_ask(prompts, plan.material, batch, place) for place, batch in enumerate(batches, 1))
        return Proposed({}, estimate=estimate_asks(plan.workspace, request, asks))
    assistant = open_assistant(plan.workspace, request, unreviewed=False, given=model, ask=ask)

    async def handle(numbered: tuple[int, Sequence[Answer]]) -> ProposedPairs:
        reply = await assistant.model.ask(_ask(prompts, plan.material, numbered[1], numbered[0]))
        return reply.value

    answers = assistant.answer_all(list(enumerate(batches, 1)), handle, label="Asking for terms", progress=progress)
    language = plan.material.language
    pairs = {
        (_stem(one.question, language), _stem(one.document, language)): " ".join(one.document.lower().split())
        for answer in answers
        if answer.value is not None
        for one in read_pairs(answer.value)
    }
    failed = [f"{count} of {len(batches)} batches: {why}" for why, count in count_errors(answers).items()]
    return Proposed(
        {pair: written for pair, written in pairs.items() if all(pair)},
        model=assistant.model.label,
        bills=assistant.bills(),
        notes=(*note_model(assistant.model), *failed),
    )


def _batch(plan: Plan) -> list[Sequence[Answer]]:
    """Return the questions that share little with their answers, those of one document side by side."""
    material, corpus = plan.material, plan.corpus
    rows = sorted(
        material.sightings,
        key=lambda row: (min(judgement.doc for judgement in material.questions[row].gold), material.questions[row].id),
    )
    answers = []
    for row in rows:
        golds = [corpus.get(judgement.doc) for judgement in material.questions[row].gold]
        titles = dict.fromkeys(one.title or NO_TITLE for one in golds if one is not None)
        answers.append(Answer(material.questions[row].query, tuple(titles)[:5]))
    return [answers[at : at + MOST_SHOWN] for at in range(0, len(answers), MOST_SHOWN)]


def _ask(prompts: Prompts, material: Material, batch: Sequence[Answer], place: int) -> Ask[ProposedPairs]:
    return ask_pairs(prompts, batch, material.language, item=f"batch {place}")


def _stem(text: str, language: str | None) -> str:
    """Return the stems of a whole text that is a phrase; nothing where it is none."""
    found = find_phrases(text, language)
    return max(found, key=lambda phrase: phrase.count(" "), default="")
