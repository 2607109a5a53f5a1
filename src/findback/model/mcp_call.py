"""One call of a tool of findback's MCP server, as its log keeps it: redacted before it is written."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from findback.model.case import DocumentId, Name, Text
from findback.model.record import Record

MCP_CALL_FORMAT = 1


class McpCall(Record):
    """A line of the log."""

    format: Literal[1] = 1
    at: datetime
    """UTC."""
    session: Name
    """Random id of a conversation; never a person's."""
    turn: Name | None = None
    """Id of the person's turn, where the client gives one."""
    tool: Name
    asked: Text | None = None
    """The person's own words, redacted, where the client passed them on."""
    query: Text | None = None
    """What the client searched for, redacted; None where the call had no query."""
    offset: Annotated[int, Field(ge=0)] | None = None
    n_results: Annotated[int, Field(ge=0)] | None = None
    """None when the search failed or cannot say."""
    documents: Annotated[tuple[DocumentId, ...], Field(max_length=1_000)] = ()
    """Ids of the documents that came back, best first."""
    system: Name | None = None
    """Name of the retriever that answered."""
    batch: Name | None = None
    """Id shared by calls that were sent together."""
    people: Annotated[tuple[Name, ...], Field(max_length=1_000)] = ()
    """Keyed digests of what stands for people in the words, as they were before redaction: an erasure finds them so."""
    failed: bool = False
    marker: Name | None = None
    """`evaluation` for findback's own exams."""
