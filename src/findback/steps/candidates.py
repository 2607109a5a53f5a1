"""Look at what was mined, and reject what is no question."""

from pydantic import PositiveInt

from findback.errors import MissingError, UsageError
from findback.model.candidate import Candidate, DocumentLink
from findback.model.record import Record, Request
from findback.privacy.masking import mask
from findback.steps.bench import has_bench, open_bench, open_workspace_key
from findback.steps.kept import now
from findback.steps.localreviewer import local_reviewer
from findback.steps.review import open_desk, reject
from findback.workbench.listing import CandidateFilters
from findback.workbench.rows import StoredCandidate
from findback.workbench.state import State
from findback.workbench.store import Workbench
from findback.workspace import Workspace


class CandidatesRequest(Request):
    """List mined candidates."""

    state: tuple[State, ...] = ()
    """Only those in these states."""
    source: tuple[str, ...] = ()
    """Only those of these kinds of source."""
    rule: tuple[str, ...] = ()
    """Only those that one of these rules found."""
    stratum: tuple[str, ...] = ()
    """failure or control."""
    limit: PositiveInt = 50
    """Most to list."""
    after: int = 0
    """Number of the last one seen."""


class Row(Record):
    """One candidate in a list."""

    number: int
    key: str
    """Beginning of its key; enough to name it."""
    state: State
    source: str
    rules: tuple[str, ...]
    strength: str
    """The strongest rule's."""
    query: str
    """Redacted, suggestions masked."""
    documents: tuple[str, ...]
    seen_on: str | None


class Listing(Record):
    """Mined candidates and how many there are in each state."""

    rows: tuple[Row, ...]
    counts: dict[str, int]


class Line(Record):
    """One message of a candidate's thread, masked."""

    role: str
    text: str
    at: str | None


class Shown(Record):
    """One candidate with its evidence."""

    row: Row
    version: int
    title: str | None
    thread: tuple[Line, ...]
    query_line: int
    evidence: tuple[str, ...]
    """What each rule went by."""
    links: tuple[DocumentLink, ...]
    selected_on: str | None
    stratum: str
    audience: str
    suggestions: int
    """Suggested redactions in what would be published."""
    rewrites: str | None
    outcome: bool | None
    place: str | None


KEY_LENGTH = 10


def list_candidates(workspace: Workspace, request: CandidatesRequest) -> Listing:
    """Return candidates in the order they were stored.

    Raises:
        MissingError: If nothing has been mined yet.
    """
    _require(workspace)
    filters = CandidateFilters(states=request.state, sources=request.source, rules=request.rule, strata=request.stratum)
    with open_bench(workspace) as bench:
        rows = bench.list_candidates(filters, limit=request.limit, after=request.after)
        counts = bench.count(filters)
    return Listing(rows=tuple(_row(row) for row in rows), counts={str(k): v for k, v in counts.items() if v})


def show_candidate(workspace: Workspace, name: str) -> Shown:
    """Return one candidate with its evidence; suggestions are masked.

    Args:
        workspace: Whose workbench.
        name: Its number in the list, its key, or a beginning that only its key has.

    Raises:
        MissingError: If there is none.
        UsageError: If several keys begin so.
    """
    _require(workspace)
    with open_bench(workspace) as bench:
        stored = _named(bench, name)
    one = stored.candidate
    published = [one.query, *([one.title] if one.title else [])]
    rewrites = None
    if one.rewrites is not None:
        kept = "unknown" if one.rewrites.shared_words is None else f"{one.rewrites.shared_words:.0%}"
        rewrites = f"{one.rewrites.distinct} different in {one.rewrites.calls} searches, {kept} of the words kept"
    return Shown(
        row=_row(stored),
        version=stored.version,
        title=mask(one.title).text if one.title else None,
        thread=tuple(
            Line(role=line.role, text=mask(line.body).text, at=line.at.isoformat() if line.at else None)
            for line in one.thread
        ),
        query_line=one.query_line,
        evidence=tuple(f"{hit.rule} ({hit.strength}): {hit.evidence}" for hit in one.rules),
        links=one.links,
        selected_on=one.selected_on,
        stratum=one.stratum,
        audience=one.audience,
        suggestions=sum(span.band == "suggested" for text in published for span in text.spans),
        rewrites=rewrites,
        outcome=one.outcome,
        place=None if one.file is None else f"{one.file} at {one.offset}",
    )


def reject_candidate(workspace: Workspace, name: str, reason: str) -> State:
    """Reject a candidate by a review of whoever is logged in, and return the state that follows; needs no documents.

    Where somebody else says that it can be judged, it waits for another opinion instead.

    Args:
        workspace: Whose workbench.
        name: Its number in the list, its key, or a beginning that only its key has.
        reason: Why it is no question.

    Raises:
        MissingError: If there is none.
        UsageError: If it is rejected or released already, or there is no reason.
    """
    _require(workspace)
    key = open_workspace_key(workspace)
    with open_bench(workspace, key) as bench, open_desk(workspace, bench, key=key) as desk:
        stored = _named(bench, name)
        if stored.state == "rejected":
            raise UsageError("it is rejected already")
        return reject(desk, local_reviewer(), stored.candidate.key, reason, revision=None, now=now()).state


def _named(bench: Workbench, name: str) -> StoredCandidate:
    """Return the candidate with a number of the list, or with a key.

    Digits alone are a number until they are as long as a listed key: a wrong number must not mean another's key.
    """
    if not (name.isascii() and name.isdecimal() and len(name) < KEY_LENGTH):
        return bench.get(name)
    found = bench.list_candidates(limit=1, after=int(name) - 1)
    if not found or found[0].number != int(name):
        raise MissingError(f"there is no candidate number {name}", hint="findback candidates list shows the numbers")
    return found[0]


def _require(workspace: Workspace) -> None:
    if not has_bench(workspace):
        raise MissingError("nothing has been mined yet", hint="findback mine EXPORT…")


def _row(stored: StoredCandidate) -> Row:
    one: Candidate = stored.candidate
    order = ("strong", "medium", "weak")
    return Row(
        number=stored.number,
        key=one.key[:KEY_LENGTH],
        state=stored.state,
        source=one.source,
        rules=tuple(dict.fromkeys(hit.rule for hit in one.rules)),
        strength=min((hit.strength for hit in one.rules), key=order.index),
        query=mask(one.query).text,
        documents=tuple(dict.fromkeys(link.document for link in one.links)),
        seen_on=one.seen_on,
    )
