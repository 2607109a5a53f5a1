"""Terms of a glossary as a model proposes them: words of questions, and those their documents use."""

from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from findback.llm.ask import Ask
from findback.model.glossary import TermKind
from findback.model.record import Record
from findback.text.phrases import LONGEST
from findback.text.words import words
from findback.writing.prompts import Prompts

MOST_SHOWN = 25
"""Questions in one prompt."""
MOST_PAIRS = 40


class Answer(NamedTuple):
    """A question with what the documents that answer it are called."""

    query: str
    """As it was released."""
    titles: tuple[str, ...]


class ProposedPair(Record):
    """One pair of words."""

    question: Annotated[str, Field(max_length=100)]
    """Words that people use."""
    document: Annotated[str, Field(max_length=100)]
    """Words that the documents use."""
    kind: TermKind = "wording"


class ProposedPairs(Record):
    """What the model answers."""

    pairs: Annotated[tuple[ProposedPair, ...], Field(max_length=MOST_PAIRS)]


def ask_pairs(
    prompts: Prompts, answers: Sequence[Answer], language: str | None, *, item: str, attempt: int = 1
) -> Ask[ProposedPairs]:
    """Return what asks for pairs of words; the model sees released questions and titles of documents, nothing else.

    Args:
        prompts: The prompts in use.
        answers: At most 25 questions.
        language: Language of the words.
        item: How progress and errors call it; it is never sent.
        attempt: Which try this is.
    """
    shown = [{"question": one.query, "titles": list(one.titles)} for one in answers[:MOST_SHOWN]]
    rendered = prompts.render("glossary", answers=shown, language=language)
    return Ask(
        system=rendered.system,
        user=rendered.user,
        answer=ProposedPairs,
        prompt=rendered.label,
        state="reviewed",
        item=item,
        attempt=attempt,
    )


def read_pairs(answered: ProposedPairs) -> Iterator[ProposedPair]:
    """Yield the pairs that can be terms: one to three words on each side, and not the same ones."""
    for one in answered.pairs:
        sides = words(one.question), words(one.document)
        if all(1 <= len(side) <= LONGEST for side in sides) and sides[0] != sides[1]:
            yield one
