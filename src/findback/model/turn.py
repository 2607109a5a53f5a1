"""Agent traces as sources give them: a user's turn and the retrieval calls made for it. Raw text; never stored."""

from dataclasses import dataclass
from datetime import datetime

from findback.model.thread import Audience, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalCall:
    """One call of a retrieval tool."""

    id: str
    tool: str
    query: str | None
    """None where the trace did not capture it."""
    started: datetime | None = None
    ended: datetime | None = None
    order: int = 0
    """Place among the turn's calls."""
    results: int | None = None
    """How many results came back; None when the trace does not say, which is not 0."""
    documents: tuple[str, ...] = ()
    """Ids or addresses of what came back, best first, where captured."""
    offset: int | None = None
    """Offset or page asked for, where there is one: the same query further down is no reformulation."""
    batch: str | None = None
    """Id that calls made in one go share: fan-out, not reformulation."""
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a person asked once, and what an agent searched for it."""

    id: str
    source: str
    """Registry name of the reader: otel, langfuse, …"""
    conversation: str | None
    user: str | None
    text: str | None
    """The person's own wording; None where the trace did not capture it."""
    at: datetime | None
    calls: tuple[RetrievalCall, ...] = ()
    next_text: str | None = None
    """The person's next message in the conversation."""
    answer: str | None = None
    """What the assistant said at the end of the turn."""
    outcome: bool | None = None
    """Whether the task succeeded, where the trace says so."""
    feedback: float | None = None
    """A person's score, in [0, 1], where there is one."""
    system: str | None = None
    """Name of the search system or data source behind the calls."""
    project: str | None = None
    """Project, service or agent that it belongs to."""
    gold: tuple[str, ...] = ()
    """Ids or addresses of documents that the trace itself names as right."""
    multi_part: bool | None = None
    """True where the questions of this source are known to need several look-ups."""
    audience: Audience = "private"
    place: Place | None = None
