"""Draft judgements: what a model would grade documents for a question, with the sentence it goes by."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from findback.departures import TextState
from findback.llm.ask import Ask
from findback.model.record import Record
from findback.text.words import fold
from findback.writing.prompts import Prompts

LEAST_QUOTED = 12
"""Characters of a quote below which it could stand anywhere."""


class Offered(NamedTuple):
    """A document as the model sees it: without id, rank, score or who found it."""

    title: str | None
    text: str
    """The part that fits the question best, or all of a short one."""


class GradedDocument(Record):
    """What the model says about one document."""

    number: Annotated[int, Field(ge=1, le=100)]
    """Its number in the prompt, from 1."""
    grade: Annotated[int, Field(ge=0, le=3)]
    """0 is no answer; 3 answers fully."""
    quote: Annotated[str, Field(max_length=2_000)] | None = None
    """The sentence of the document that answers."""


class Grades(Record):
    """What the model answers."""

    grades: Annotated[tuple[GradedDocument, ...], Field(max_length=100)]
    """One for each document."""


class CheckedGrade(NamedTuple):
    """A grade whose quote was looked for."""

    grade: int
    quote: str | None
    """The sentence, where the document holds it."""
    misquoted: bool
    """Whether it quoted words that the document does not hold, or nothing for a document it calls an answer."""


def ask_grades(
    prompts: Prompts,
    query: str,
    documents: Sequence[Offered],
    *,
    state: TextState,
    item: str,
    attempt: int = 1,
) -> Ask[Grades]:
    """Return what asks for the grades of documents for a question.

    Args:
        prompts: The prompts in use.
        query: The question, redacted and masked.
        documents: In the order shown; the caller shuffles them.
        state: Whether a person reviewed the question.
        item: How progress and errors call it; it is never sent.
        attempt: Which try this is.
    """
    rendered = prompts.render("suggest", query=query, documents=[one._asdict() for one in documents])
    return Ask(
        system=rendered.system,
        user=rendered.user,
        answer=Grades,
        prompt=rendered.label,
        state=state,
        item=item,
        attempt=attempt,
    )


def check_grades(answered: Grades, documents: Sequence[Offered]) -> tuple[CheckedGrade, ...] | None:
    """Return a checked grade for each document, in order; None where not each has exactly one."""
    by_number = {one.number: one for one in answered.grades}
    if len(by_number) != len(answered.grades) or by_number.keys() != set(range(1, len(documents) + 1)):
        return None
    return tuple(_check(by_number[number], document) for number, document in enumerate(documents, 1))


def _check(graded: GradedDocument, document: Offered) -> CheckedGrade:
    if graded.grade == 0:
        return CheckedGrade(0, None, misquoted=False)
    quote = (graded.quote or "").strip()
    found = len(quote) >= LEAST_QUOTED and _plain(quote) in _plain(document.text)
    return CheckedGrade(graded.grade, quote if found else None, misquoted=not found)


def _plain(text: str) -> str:
    return " ".join(fold(text).split())
