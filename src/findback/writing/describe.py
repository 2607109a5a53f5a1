"""Ask a model to describe a document in a user's voice."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from findback.llm.ask import Ask
from findback.model.document import Document
from findback.model.record import Record
from findback.text.languages import guess_language
from findback.writing.delimiting import Data, say_plainly
from findback.writing.prompts import Prompts
from findback.writing.voices import Option

PROMPT = "describe"
MOST_QUERY = 1_000
"""Characters of a description: three long sentences have about 500."""
MOST_DOCUMENT = 12_000
"""Characters of a document that are sent; a description of two or three sentences needs no more."""
MOST_EXAMPLES = 5
"""Real queries shown for their tone: enough to show one, too few to be imitated in what they ask."""
MOST_EXAMPLE = 500
MOST_TOLD = 500


class Description(Record):
    """What a model wrote about a document."""

    query: Annotated[str, Field(min_length=1, max_length=MOST_QUERY)]
    """The question or complaint, as the user would put it."""


def ask_description(
    prompts: Prompts,
    document: Document,
    voice: Mapping[str, Option],
    *,
    language: str | None,
    examples: Sequence[str] = (),
    told: Sequence[str] = (),
    attempt: int = 1,
) -> Ask[Description]:
    """Return the question that has a model describe a document.

    Neither title, id nor address of the document is sent; only the beginning of a long text is.

    Args:
        prompts: The prompts in use.
        document: What to describe.
        voice: The option drawn in each category.
        language: Code of the corpus' language, in which to write; the document's own, or what it looks like, where
            left out.
        examples: Real, reviewed queries that set the tone, never their gold; the first five are shown.
        told: Why earlier texts were turned down, in findback's words and never the document's.
        attempt: Which try this is.
    """
    rendered = prompts.render(
        PROMPT,
        language=language or document.language or guess_language(document.text),
        document=Data(document.text, most=MOST_DOCUMENT),
        voice=[say_plainly(option.text, MOST_TOLD) for option in voice.values()],
        examples=[Data(example, most=MOST_EXAMPLE) for example in examples[:MOST_EXAMPLES]],
        told=[say_plainly(reason, MOST_TOLD) for reason in told],
        most=MOST_QUERY,
    )
    return Ask(
        system=rendered.system,
        user=rendered.user,
        answer=Description,
        prompt=rendered.label,
        state="reviewed" if examples else "document",
        item=document.id,
        attempt=attempt,
    )
