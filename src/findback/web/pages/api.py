"""The same queue for programs: JSON under /v1, with a token of the reviewer's own."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError

from findback.evalset.manifest import Counts
from findback.model.candidate import DocumentLink, RuleHit
from findback.model.case import Case
from findback.model.record import Record
from findback.model.review import Note, Review, Stage
from findback.model.reviewer import Reviewer
from findback.model.written import Written
from findback.steps.releases import list_releases
from findback.steps.review import (
    Item,
    QueueFilters,
    QueueRow,
    list_queue,
    open_item,
    progress,
    reject,
    save,
    submit,
    undo,
)
from findback.steps.reviewitem import SegmentKind, TextView
from findback.text.safe import show_in_place
from findback.web.authorise import Guarded
from findback.web.faults import Problem
from findback.web.site import Site
from findback.workbench.reviews import Saved
from findback.workbench.state import State

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": said}
    for status, said in {
        400: "the body cannot be read",
        401: "no valid token",
        403: "the token's roles do not allow it",
        404: "there is no such thing, for this token",
        409: "somebody changed it meanwhile",
        413: "the body is too large",
        422: "the request makes no sense, or something stands in the way",
        429: "too many requests",
    }.items()
}
router = APIRouter(route_class=Guarded, prefix="/v1", responses=PROBLEMS, tags=["review"])

Key = Annotated[str, Path(min_length=1, max_length=100, description="Key of a candidate.")]
RequestId = Annotated[str, Field(min_length=1, max_length=100)]
Revision = Annotated[int, Field(ge=0, le=1_000_000_000)]


class QueueQuery(QueueFilters):
    """Which candidates, and which page of them."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    after: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    """Number of the last one seen."""


class QueueAnswer(Record):
    """A page of the queue."""

    rows: tuple[QueueRow, ...]
    counts: dict[State, int]
    total: int
    next_after: int | None


class Piece(Record):
    """A stretch of a text."""

    text: str
    """What to show; words that are masked stay masked."""
    kind: SegmentKind
    start: int
    """In code points of the stored text: what span decisions are written in."""
    end: int
    type: str | None
    rule: str | None
    hidden: bool


class TextAnswer(Record):
    """One text of a candidate."""

    place: str
    position: int
    segments: tuple[Piece, ...]
    undecided: int
    role: str | None
    at: datetime | None
    is_query: bool


class ItemAnswer(Record):
    """A candidate as the token's reviewer sees it."""

    key: str
    number: int
    state: State
    version: int
    revision: int
    """Of one's own review; give it back when saving."""
    stage: Stage
    look: int
    source: str
    audience: str
    stratum: str
    origin: str
    language: str | None
    seen_on: str | None
    asked: str
    rules: tuple[RuleHit, ...]
    links: tuple[DocumentLink, ...]
    evidence: tuple[str, ...]
    """Documents that are not dropped without a reason: a resolver named them, or a model described them."""
    query: TextAnswer
    title: TextAnswer | None
    thread: tuple[TextAnswer, ...]
    review: Review
    obstacles: tuple[str, ...]
    """What stands in the way of submitting."""
    second_opinion: bool
    disagreement: bool
    written: Written | None = None
    """How a model came to write it; None for what a person asked."""
    root: Case | None = None
    """For a paraphrase the case it says in other words, from which its label comes."""


class ReviewInput(Record):
    """A whole review with the revision it was made from."""

    review: Review
    revision: Revision
    """The one that was seen; 0 for none."""
    request_id: RequestId | None = None
    """Given again, it changes nothing and is answered as before."""


class RejectInput(Record):
    """Why nobody can judge a candidate."""

    reason: Note
    revision: Revision
    request_id: RequestId | None = None


class UndoInput(Record):
    """Taking back the newest change of one's own review."""

    revision: Revision
    request_id: RequestId | None = None


class SavedAnswer(Record):
    """What saving led to."""

    revision: int
    state: State
    version: int


class ProgressAnswer(Record):
    """How far one is, and the team where that tells nothing about one person."""

    own_day: int
    own_week: int
    team_week: int | None
    second_opinions: int
    disagreements: int


class ReleaseAnswer(Record):
    """A release."""

    number: int
    date: str
    note: str
    parent: int | None
    counts: Counts
    sound: bool
    """Whether its files are as they were published."""


class ReleasesAnswer(Record):
    """The releases, newest first."""

    releases: tuple[ReleaseAnswer, ...]


class Strictly:
    """Reads a JSON body once more as strictly as it is meant: no number for a text, no text for a number."""

    def __init__(self, kind: type[Record]) -> None:
        self._kind = kind

    async def __call__(self, request: Request) -> None:
        """Refuse a body that only nearly fits."""
        try:
            self._kind.model_validate_json(await request.body(), strict=True)
        except ValidationError as error:
            said = error.errors(include_url=False, include_input=False, include_context=False)
            raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in said]) from None


@router.get("/queue")
def api_queue(request: Request, asked: Annotated[QueueQuery, Query()]) -> QueueAnswer:
    """List candidates in the order they were stored."""
    site, reviewer = _who(request)
    filters = QueueFilters.model_validate(asked.model_dump(exclude={"limit", "after"}))
    page = list_queue(site.desk, reviewer, filters, limit=asked.limit, after=asked.after)
    return QueueAnswer.model_validate(clean(page))


@router.get("/items/{key}")
def api_item(request: Request, key: Key) -> ItemAnswer:
    """Show a candidate with one's own review of it; nobody else's."""
    site, reviewer = _who(request)
    return _item(open_item(site.desk, reviewer, key, now=site.now()))


@router.put("/items/{key}/review", dependencies=[Depends(Strictly(ReviewInput))])
def api_save(request: Request, key: Key, body: ReviewInput) -> SavedAnswer:
    """Keep a review as a draft."""
    site, reviewer = _who(request)
    return _saved(
        save(site.desk, reviewer, key, body.review, revision=body.revision, now=site.now(), request_id=body.request_id)
    )


@router.post("/items/{key}/submit", dependencies=[Depends(Strictly(ReviewInput))])
def api_submit(request: Request, key: Key, body: ReviewInput) -> SavedAnswer:
    """Keep a review and hand it in."""
    site, reviewer = _who(request)
    return _saved(
        submit(
            site.desk, reviewer, key, body.review, revision=body.revision, now=site.now(), request_id=body.request_id
        )
    )


@router.post("/items/{key}/reject", dependencies=[Depends(Strictly(RejectInput))])
def api_reject(request: Request, key: Key, body: RejectInput) -> SavedAnswer:
    """Hand in that nobody can judge a candidate."""
    site, reviewer = _who(request)
    return _saved(
        reject(
            site.desk, reviewer, key, body.reason, revision=body.revision, now=site.now(), request_id=body.request_id
        )
    )


@router.post("/items/{key}/undo", dependencies=[Depends(Strictly(UndoInput))])
def api_undo(request: Request, key: Key, body: UndoInput) -> SavedAnswer:
    """Take back the newest change of one's own review."""
    site, reviewer = _who(request)
    return _saved(undo(site.desk, reviewer, key, revision=body.revision, now=site.now(), request_id=body.request_id))


@router.get("/progress")
def api_progress(request: Request) -> ProgressAnswer:
    """Return how far one is."""
    site, reviewer = _who(request)
    return ProgressAnswer.model_validate(progress(site.desk, reviewer, now=site.now())._asdict())


@router.get("/releases")
def api_releases(request: Request) -> ReleasesAnswer:
    """List the releases of the set."""
    site: Site = request.app.state.site
    listed = list_releases(site.workspace)
    return ReleasesAnswer(
        releases=tuple(
            ReleaseAnswer(
                number=one.manifest.number,
                date=one.manifest.date.isoformat(),
                note=show_in_place(one.manifest.note),
                parent=one.manifest.parent,
                counts=one.manifest.counts,
                sound=not one.damage,
            )
            for one in listed.releases
        )
    )


def _who(request: Request) -> tuple[Site, Reviewer]:
    return request.app.state.site, request.state.visitor.reviewer


def _item(found: Item) -> ItemAnswer:
    values = {name: getattr(found, name) for name in ItemAnswer.model_fields}
    values["evidence"] = tuple(found.evidence)
    for name in ("query", "title", "thread"):
        view = values[name]
        values[name] = [_text(one) for one in view] if name == "thread" else view and _text(view)
    return ItemAnswer.model_validate(clean(values))


def _text(view: TextView) -> dict[str, Any]:
    values = {name: getattr(view, name) for name in TextAnswer.model_fields}
    return {**values, "segments": [one._asdict() for one in view.segments]}


def clean(value: Any) -> Any:
    """Return the values of an answer with every text fit to be written and shown: positions in it stay true."""
    if isinstance(value, str):
        return show_in_place(value)
    if isinstance(value, Record):
        return clean(value.model_dump())
    if isinstance(value, Mapping):
        return {name: clean(one) for name, one in value.items()}
    return tuple(map(clean, value)) if isinstance(value, list | tuple) else value


def _saved(saved: Saved) -> SavedAnswer:
    return SavedAnswer(revision=saved.revision, state=saved.state, version=saved.version)
