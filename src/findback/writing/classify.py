"""How a question is worded, as a model takes it: one of the team's wordings, and how sure it is."""

from collections.abc import Collection, Mapping
from typing import Annotated

from pydantic import Field

from findback.departures import TextState
from findback.llm.ask import Ask
from findback.model.record import Record
from findback.text.words import fold
from findback.writing.prompts import Instruction, Prompts


class Classified(Record):
    """What the model answers."""

    wording: Annotated[str, Field(max_length=200)]
    """One of the wordings it was given."""
    confidence: Annotated[float, Field(ge=0, le=1)]
    """How sure it says it is, in [0, 1]."""


def ask_wording(
    prompts: Prompts,
    query: str,
    definitions: Mapping[str, str],
    *,
    state: TextState,
    item: str,
    attempt: int = 1,
) -> Ask[Classified]:
    """Return what asks how a question is worded; the model sees the question and the definitions, nothing else.

    Args:
        prompts: The prompts in use.
        query: The question, redacted and masked.
        definitions: Each wording and what it means.
        state: Whether a person reviewed the question.
        item: How progress and errors call it; it is never sent.
        attempt: Which try this is.
    """
    told = {name: Instruction(meaning) for name, meaning in definitions.items()}
    rendered = prompts.render("classify", query=query, wordings=told, guess=round(1 / len(told), 2))
    return Ask(
        system=rendered.system,
        user=rendered.user,
        answer=Classified,
        prompt=rendered.label,
        state=state,
        item=item,
        attempt=attempt,
    )


def match_wording(answered: str, known: Collection[str]) -> str | None:
    """Return which of the known wordings an answer means; None where it is none of them.

    >>> match_wording(" Symptom first. ", ["plain", "symptom-first"])
    'symptom-first'
    """
    by_form = {_form(name): name for name in known}
    return by_form.get(_form(answered))


def _form(name: str) -> str:
    return "".join(letter for letter in fold(name) if letter.isalnum())
