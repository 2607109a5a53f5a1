"""GitHub discussions as the GraphQL API gives them."""

import re
from collections.abc import Iterator
from typing import Any

from findback.model.thread import Message, Place, StatusChange, Thread
from findback.sources.tickets.body import TOO_LONG, by_time, read_post
from findback.sources.tickets.fields import MOST_TEXT, Fields
from findback.sources.tickets.ledger import Ledger

_REPOSITORY = re.compile(r"https?://[\w.-]{1,100}/([\w.-]{1,100}/[\w.-]{1,100})/discussions/\d{1,10}")
_MARKS = ("answerChosenAt", "isAnswered", "answer", "category")
STAFF = frozenset(("OWNER", "MEMBER", "COLLABORATOR"))
"""How GitHub says that somebody belongs to a project."""
CUT_SHORT = "discussions whose comments or replies go on past what was fetched"
"""What a note says about such an export."""


def find_discussions(fields: Fields) -> Iterator[Fields]:
    """Yield the discussions in a GraphQL answer, or the record itself where it is one."""
    if _is_discussion(fields.values):
        yield fields
        return
    node: Any = fields.values.get("data", fields.values)
    for name in ("repository", "organization", "node"):
        inner = node.get(name) if isinstance(node, dict) else None
        node = inner if isinstance(inner, dict) else node
    if not isinstance(node, dict):
        return
    found = node.get("discussions", node.get("discussion", node.get("search")))
    if isinstance(found, dict) and isinstance(found.get("nodes"), list):
        found = found["nodes"]
    elif isinstance(found, dict) and isinstance(found.get("edges"), list):
        found = [edge.get("node") for edge in found["edges"] if isinstance(edge, dict)]
    for value in found if isinstance(found, list) else [found]:
        if isinstance(value, dict) and _is_discussion(value):
            yield fields.beside(value)


def _is_discussion(values: Any) -> bool:
    return "title" in values and "createdAt" in values and any(name in values for name in _MARKS)


def read_discussion(fields: Fields, place: Place, ledger: Ledger) -> Thread | None:
    """Return a discussion as a thread; None where a field of it is wrong.

    Args:
        fields: A discussion.
        place: Where it lies.
        ledger: Takes notes and what is skipped.
    """
    number = fields.identity("number") or fields.identity("id", needed=True)
    address = fields.text("url")
    found = _REPOSITORY.match(address or "")
    category = fields.part("category")
    repository = found[1] if found else "discussions"
    key = f"{repository}#d{number}"
    opener = _author(fields)
    messages = [_message(fields, f"{key}.body", place, ledger)]
    accepted, cut = None, _goes_on(fields.part("comments"))
    answer = fields.part("answer")
    for comment in _nodes(fields, "comments"):
        identity = comment.identity("id", needed=True)
        messages.append(_message(comment, identity, place, ledger))
        if comment.flag("isAnswer") or (answer is not None and answer.values.get("id") == comment.values.get("id")):
            accepted = identity
        cut = cut or _goes_on(comment.part("replies"))
        messages += [_message(r, r.identity("id", needed=True), place, ledger) for r in _nodes(comment, "replies")]
    if accepted is None and answer is not None and "body" in answer:
        accepted = answer.identity("id", needed=True)
        messages.append(_message(answer, accepted, place, ledger))
    closed = fields.moment("closedAt")
    if fields.bad:
        return None
    if cut and CUT_SHORT not in ledger.notes:
        ledger.notes.append(CUT_SHORT)
    title = fields.text("title")
    return Thread(
        id=key,
        source="github",
        container=repository,
        container_name=category.text("name") if category is not None else None,
        kind="question",
        title=title,
        asker=opener,
        messages=by_time([message for message in messages if message is not None]),
        changes=(StatusChange(at=closed, status="closed", closed=True),) if closed else (),
        accepted=accepted,
        help_channel=category.flag("isAnswerable") if category is not None else None,
    )


def _nodes(fields: Fields, name: str) -> list[Fields]:
    part = fields.part(name)
    return part.parts("nodes") if part is not None else []


def _goes_on(part: Fields | None) -> bool:
    page = part.part("pageInfo") if part is not None else None
    return page is not None and page.values.get("hasNextPage") is True


def _author(fields: Fields) -> str | None:
    author = fields.part("author")
    return author.text("login") if author is not None else None


def _message(fields: Fields, number: str | None, place: Place, ledger: Ledger) -> Message | None:
    body, at, author = fields.text("body"), fields.moment("createdAt"), _author(fields)
    if fields.bad or number is None:
        return None
    if body is not None and len(body) > MOST_TEXT:
        ledger.skipped.add(TOO_LONG)
        return None
    marked = read_post(body or "")
    association = fields.values.get("authorAssociation")
    return Message(
        id=number,
        author=author,
        actor="bot" if author and author.endswith("[bot]") else "human",
        at=at,
        text=marked.text,
        marks=marked.marks,
        links=marked.links,
        edited="lastEditedAt" in fields,
        staff=association in STAFF if isinstance(association, str) else None,
        place=place,
    )
