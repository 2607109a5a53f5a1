"""A flag: somebody looked for something and did not find it, and said so with one click."""

from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from findback.model.case import DocumentId
from findback.model.record import Record, Request

FlagSource = Literal["widget", "form", "api", "mcp", "slack"]
"""Where a flag came in."""
FlagState = Literal["waits", "in-review", "became-case", "no-answer", "rejected"]
"""What became of a flag; one that was erased is not there any more."""

LONGEST_QUERY = 2_000
LONGEST_NOTE = 1_000
LONGEST_PAGE = 500
MOST_SHOWN = 50
MOST_TRIED = 20


def _says_something(value: str) -> str:
    if not value.strip():
        raise ValueError("must hold more than spaces")
    return value


Wording = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_QUERY), AfterValidator(_says_something)]
"""Words somebody searched with, exactly as typed."""
PagePath = Annotated[str, StringConstraints(max_length=LONGEST_PAGE, pattern=r"^/[^?#\\\x00-\x20\x7f]*$")]
"""A path on the site, from its `/` on: without host, query and fragment."""


class FlagRequest(Request):
    """Say that something could not be found."""

    query: Wording
    """What was searched for, exactly as typed."""
    shown: Annotated[tuple[DocumentId, ...], Field(max_length=MOST_SHOWN)] = ()
    """Ids or addresses of what the search showed, best first."""
    page: PagePath | None = None
    """Path of the page it happened on."""
    note: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NOTE)] | None = None
    """A sentence on what was wanted."""
    language: Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$")] | None = None
    """Language of the words, as `en` or `en-GB`; told from the words where they tell it."""
    tried: Annotated[tuple[Wording, ...], Field(max_length=MOST_TRIED)] = ()
    """An agent's own wordings that found nothing either; they are counted and measured, and not kept."""


class FlagReceipt(Record):
    """What whoever flagged gets back."""

    status: str
    """Token of the link on which they learn what came of it; this is the only time it can be seen."""
    new: bool
    """False where the same was flagged from the same page before, and this one counts for it."""
    waits: str
    """What happens next, in a sentence."""


class FlagStatus(Record):
    """What came of a flag."""

    state: FlagState
    says: str
    """The same in a sentence."""
    release: int | None = None
    """Number of the release it came in, once it did."""
    since: date
    """Day since when that is so, UTC."""
