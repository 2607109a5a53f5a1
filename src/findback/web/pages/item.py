"""One candidate at a time: what was asked, what answers it, how it was worded."""

import secrets
from collections.abc import Collection, Sequence
from typing import Annotated, Literal, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import APIRouter, Form, Query, Request
from pydantic import ConfigDict, Field
from starlette.responses import RedirectResponse, Response

from findback.errors import RefusedError, StorageError, UsageError
from findback.model.hits import Span
from findback.model.record import Record
from findback.model.review import Stage
from findback.model.reviewer import Reviewer
from findback.reporting.inert import EXTRACT_LIMIT, Piece, pieces
from findback.steps.assist_shown import find_suggestion
from findback.steps.review import Alter, Item, change, hold, leave, open_item, reject, undo
from findback.steps.reviewchange import decide_span, describe_review
from findback.steps.revieworiginal import give_back
from findback.steps.reviewpool import Pooled, find_document, pool, search_documents, show_text
from findback.steps.reviewsame import apply_to_same, count_suggested
from findback.steps.reviewwritten import describe_written
from findback.steps.wordings import list_wordings
from findback.text.languages import load_stop_words
from findback.text.placeholders import TYPES
from findback.text.words import locate_words, words
from findback.web.authorise import Guarded
from findback.web.itemform import ItemForm, apply_change, decision_of
from findback.web.render import render_page
from findback.web.site import Site
from findback.web.turns import Before, look_back, next_of_week, parse_filters, take_next, write_filters
from findback.workbench.faults import ConflictError
from findback.workbench.reviews import ReviewConflictError, answer_of

router = APIRouter(route_class=Guarded, include_in_schema=False)

MOST_COUNTED = 20
"""Suggestions of a question for which the same value is counted elsewhere."""


class ItemQuery(Record):
    """What the address of an item carries besides the queue's filters."""

    model_config = ConfigDict(extra="ignore")

    q: Annotated[str, Field(max_length=500)] = ""
    opened: tuple[Annotated[int, Field(ge=0, le=1_000_000)], ...] = ()
    week: Annotated[str, Field(max_length=40)] = ""
    before: Annotated[str, Field(max_length=200)] = ""
    """Key of the candidate one comes from."""


@router.get("/items/{key}")
def item(request: Request, key: str, asked: Annotated[ItemQuery, Query()]) -> Response:
    """Show a candidate."""
    return _show(request, key, asked)


@router.get("/items/{key}/document")
def item_document(request: Request, key: str, id: Annotated[str, Query(max_length=4_000)]) -> Response:  # noqa: A002
    """Show the whole text of a document, to find the sentence that answers."""
    site: Site = request.app.state.site
    found = _open(request, key, ())
    document = show_text(site.desk, id)
    judged = next((one for one in found.review.judged if one.doc == document.document), None)
    back = _without(request, "id")
    return render_page(
        request,
        "document.html",
        item=found,
        document=document,
        judged=judged,
        here=f"/items/{quote(key)}{back}",
        request_id=secrets.token_urlsafe(9),
    )


@router.post("/items/{key}")
def change_item(
    request: Request, key: str, form: Annotated[ItemForm, Form()], asked: Annotated[ItemQuery, Query()]
) -> Response:
    """Make one change, save it, and show what stands now."""
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    try:
        if form.do == "skip":
            leave(site.desk, reviewer, key)
            return _go_on(request, key)
        if form.do in ("submit", "later", "reject"):
            _hand_in(request, key, form)
            return _go_on(request, key)
        if form.do == "undo":
            undo(site.desk, reviewer, key, revision=form.revision, now=site.now(), request_id=form.request)
        elif form.do == "restore":
            _give_back(request, key, form)
        elif form.do in ("redact-everywhere", "keep-everywhere"):
            _decide_everywhere(request, key, form)
        else:
            _change(request, key, form, lambda candidate, review: apply_change(candidate, review, form))
    except ReviewConflictError:
        return _show(request, key, asked, status=409, conflict=_said(form))
    except ConflictError as error:
        return _show(request, key, asked, status=409, fault=error.message, hint=error.hint)
    except (UsageError, RefusedError) as error:
        return _show(request, key, asked, status=error.http_status, fault=error.message, hint=error.hint)
    return RedirectResponse(f"/items/{quote(key)}{_without(request)}", status_code=303)


class Row(NamedTuple):
    """A document as the page lists it."""

    document: Pooled
    extract: tuple[Piece, ...]
    part: int
    quoted: bool
    reason: str
    """Why it was dropped, if it was."""


def _open(request: Request, key: str, opened: Sequence[int]) -> Item:
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    return open_item(site.desk, reviewer, key, now=site.now(), opened={("line", line) for line in opened[:500]})


def _show(
    request: Request,
    key: str,
    asked: ItemQuery,
    *,
    status: int = 200,
    fault: str | None = None,
    hint: str | None = None,
    conflict: Sequence[str] = (),
) -> Response:
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    found = _open(request, key, asked.opened)
    if fault is None and found.state != "released":
        try:
            hold(site.desk, reviewer, key, now=site.now())
        except (ConflictError, StorageError) as error:
            fault, hint = error.message, error.hint
    parts = {one.part for one in found.review.judged if one.grade >= 1}
    return render_page(
        request,
        "item.html",
        status=status,
        item=found,
        rows=[] if found.origin == "paraphrase" else _rows(site, reviewer, found, asked.q),
        how_written=describe_written,
        q=asked.q,
        week=asked.week,
        before=_before(request, asked.before),
        opened={f"line-{line}" for line in asked.opened},
        opens=lambda line: f"/items/{quote(key)}{_without(request, opened=[*asked.opened, line])}#line-text-{line}",
        without_search=f"/items/{quote(key)}{_without(request, 'q')}",
        kept_query=[pair for pair in parse_qsl(str(request.url.query)) if pair[0] != "q"],
        document_link=lambda one: f"/items/{quote(key)}/document{_without(request, id=[one])}",
        here=f"/items/{quote(key)}{_without(request)}",
        ask_original=f"/items/{quote(key)}/original{_without(request)}",
        wordings=list_wordings(site.desk.settings),
        answer=answer_of(found.review) or "not said yet",
        parts=len(parts),
        types=TYPES,
        same=_same(site, reviewer, found),
        failures=site.desk.failures,
        draft=find_suggestion(site.desk, reviewer, key),
        described=describe_review,
        fault=fault,
        hint=hint,
        conflict=conflict,
        case_id=next((one.case_id for one in site.bench.cases([key])), "") if found.state == "released" else "",
        request_id=secrets.token_urlsafe(9),
    )


def _rows(site: Site, reviewer: Reviewer, found: Item, search: str) -> list[Row]:
    """Return the pool, or what a search gives: the document an id or address means first."""
    if search.strip():
        named = find_document(site.desk, found, search)
        others = [one for one in search_documents(site.desk, found, search) if named is None or one != named]
        listed = [*([named] if named is not None else []), *others]
    else:
        listed = pool(site.desk, reviewer, found)
    judged = {one.doc: one for one in found.review.judged}
    reasons = {one.document: one.reason for one in found.review.dropped}
    query = set(words(search or found.query.text)) - load_stop_words().get(found.language or "", frozenset())
    return [
        Row(
            one,
            mark_words(one.extract or "", query),
            judged[one.document].part if one.document in judged else 1,
            one.document in judged and judged[one.document].anchor is not None,
            reasons.get(one.document, ""),
        )
        for one in listed
    ]


def mark_words(text: str, wanted: Collection[str]) -> tuple[Piece, ...]:
    """Return a text in pieces, those that hold a wanted word marked."""
    spans = [Span(word.start, word.end) for word in locate_words(text) if word.word in wanted]
    return pieces(text, spans, limit=EXTRACT_LIMIT)


def _same(site: Site, reviewer: Reviewer, found: Item) -> dict[int, int]:
    """Return, by its beginning, in how many other candidates the value of a suggestion stands."""
    waiting = [one for one in found.query.segments if one.kind == "suggested"][:MOST_COUNTED]
    counts = count_suggested(site.desk, reviewer, found.key, [(one.type or "", one.text) for one in waiting])
    return {one.start: count for one, count in zip(waiting, counts, strict=True)}


def _change(request: Request, key: str, form: ItemForm, alter: Alter, stage: Stage = "draft") -> None:
    site: Site = request.app.state.site
    change(
        site.desk,
        request.state.visitor.reviewer,
        key,
        alter,
        stage=stage,
        revision=form.revision,
        now=site.now(),
        request_id=form.request,
    )


def _give_back(request: Request, key: str, form: ItemForm) -> None:
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    held = site.originals.shown(form.job or 0, reviewer.subject, key, now=site.now())
    if held is None:
        raise UsageError("the words are not at hand any more", hint="have them shown again, then give them back")
    give_back(
        site.desk,
        reviewer,
        key,
        held.at,
        held.words,
        revision=form.revision,
        now=site.now(),
        request_id=form.request,
    )


def _decide_everywhere(request: Request, key: str, form: ItemForm) -> None:
    """Save one decision here, then wherever the same value still waits."""
    site: Site = request.app.state.site
    action: Literal["redact", "keep"] = "keep" if form.do == "keep-everywhere" else "redact"
    decision = decision_of(form).model_copy(update={"action": action})
    _change(request, key, form, lambda _, review: decide_span(review, decision))
    apply_to_same(site.desk, request.state.visitor.reviewer, key, decision, now=site.now())


def _hand_in(request: Request, key: str, form: ItemForm) -> None:
    site: Site = request.app.state.site
    if form.do == "reject":
        reviewer: Reviewer = request.state.visitor.reviewer
        reject(site.desk, reviewer, key, form.reason, revision=form.revision, now=site.now(), request_id=form.request)
        return
    if form.do == "later" and not form.reason.strip():
        raise UsageError("say who or what could tell")
    # What was put off or rejected before is neither now.
    said = {"later_reason": form.reason.strip()[:2_000] if form.do == "later" else None, "unrateable_reason": None}
    _change(request, key, form, lambda _, review: review.model_copy(update=said), "submitted")


def _go_on(request: Request, key: str) -> Response:
    site: Site = request.app.state.site
    reviewer: Reviewer = request.state.visitor.reviewer
    query = _without(request, "q", "opened", "before").removeprefix("?")
    week = dict(parse_qsl(query)).get("week")
    if week:
        there = next_of_week(site, reviewer, week[:40], after=key)
        return RedirectResponse(f"{there}&{urlencode({'before': key})}", status_code=303)
    found = take_next(site, reviewer, parse_filters(query), after=key)
    if found is None:
        return RedirectResponse(f"/queue?{write_filters(parse_filters(query), before=key)}", status_code=303)
    return RedirectResponse(f"/items/{quote(found)}{_without(request, 'q', 'opened', before=[key])}", status_code=303)


def _before(request: Request, key: str) -> Before | None:
    return look_back(
        request.app.state.site, request.state.visitor.reviewer, key, _without(request, "before", "q", "opened")
    )


def _without(request: Request, *names: str, **changed: Sequence[object]) -> str:
    """Return the query of the address with some of it left out or put another way."""
    kept = [pair for pair in parse_qsl(str(request.url.query)) if pair[0] not in (*names, *changed)]
    kept += [(name, str(one)) for name, values in changed.items() for one in values]
    return f"?{urlencode(kept)}" if kept else ""


def _said(form: ItemForm) -> list[str]:
    """Return what a refused form wanted, in lines, so that nothing somebody wrote is lost."""
    shown = {
        "what": form.do,
        "document": form.document,
        "reason": form.reason,
        "quote": form.anchor,
        "words": form.words,
    }
    return [f"{name}: {value}" for name, value in shown.items() if value]
