"""Whose turn a candidate is: the filters that an address carries, and what comes next under them."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal, NamedTuple
from urllib.parse import parse_qs, parse_qsl, urlencode

from fastapi import Request
from pydantic import Field

from findback.model.reviewer import Reviewer
from findback.steps.review import QueueFilters, hold, next_item
from findback.steps.reviewweek import open_week
from findback.web.fields import Flag
from findback.web.site import Site
from findback.workbench.faults import ConflictError
from findback.workbench.state import STATES, UNDECIDED, State

TO_DO = tuple(state for state in STATES if state in UNDECIDED)
"""What the queue opens on."""
MOST_TRIES = 20
"""How often another candidate is looked for when somebody else took the one that was found."""


LISTS = frozenset({"states", "sources", "rules", "wordings", "answers", "languages", "strata", "origins"})


class QueueQuery(QueueFilters):
    """The filters of the queue as an address carries them."""

    show: Literal["", "all"] = ""
    """all shows every state; else, where no state is named, what is still to do."""
    age: str = ""
    """Days since it was stored; negative for older."""
    suggestions: Flag = None
    disagreement: Flag = None
    after: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    before: Annotated[str, Field(max_length=200)] = ""
    """Key of the candidate one comes from."""


class Before(NamedTuple):
    """The candidate one comes from, and what became of it."""

    key: str
    state: State
    query: str
    """The rest of its address."""

    @property
    def said(self) -> str:
        """Return what became of it, in words."""
        return OUTCOMES[self.state]


OUTCOMES: Mapping[State, str] = {
    "new": "The one before is as it was.",
    "in-review": "The one before is still open; what you said so far is kept.",
    "needs-labels": "The one before is put off: somebody else may tell.",
    "second-opinion": "The one before waits for another opinion.",
    "ready": "The one before is ready for the next release.",
    "rejected": "The one before is rejected.",
    "released": "The one before is released.",
}


def look_back(site: Site, reviewer: Reviewer, key: str, query: str = "") -> Before | None:
    """Return what became of the candidate one comes from; None for one that does not exist for them."""
    state = site.bench.state_of(key, audiences=reviewer.audiences) if key else None
    return None if state is None else Before(key, state, query)


def take_next(site: Site, reviewer: Reviewer, asked: QueueQuery, *, after: str | None) -> str | None:
    """Return the next candidate that waits, kept for the reviewer from now on; None where none waits."""
    filters, now = read_filters(asked, site), site.now()
    found = next_item(site.desk, reviewer, filters, now=now, after=after)
    for _ in range(MOST_TRIES):
        if found is None:
            return None
        try:
            hold(site.desk, reviewer, found, now=now)
        except ConflictError:
            # Somebody asked at the same moment and was faster.
            found = next_item(site.desk, reviewer, filters, now=now, after=after)
        else:
            break
    return found


def next_of_week(site: Site, reviewer: Reviewer, ends: str, *, after: str) -> str:
    """Return the address of the sitting's next candidate, kept for the reviewer; its summary when nothing is left."""
    now = site.now()
    sitting = open_week(site.desk, reviewer, ends, now=now)
    summary = f"/week?{urlencode({'until': ends})}"
    if sitting.over:
        return summary
    for row in sitting.stack:
        if row.key == after:
            continue
        try:
            hold(site.desk, reviewer, row.key, now=now)
        except ConflictError:
            continue
        return f"/items/{row.key}?{urlencode({'week': ends})}"
    return summary


def read_filters(asked: QueueQuery, site: Site) -> QueueFilters:
    """Return the filters that an address means today."""
    values = asked.model_dump(exclude={"age", "after", "show", "before"})
    if not asked.states and not asked.show:
        values["states"] = TO_DO
    days = int(asked.age) if re.fullmatch("-?[0-9]{1,4}", asked.age) else 0
    if days > 0:
        values["stored_since"] = site.now() - timedelta(days=days)
    elif days < 0:
        values["stored_before"] = site.now() + timedelta(days=days)
    return QueueFilters(**values)


def write_filters(asked: QueueQuery, **changed: object) -> str:
    """Return the filters as the query of an address."""
    values = {**asked.model_dump(mode="json", exclude_defaults=True, exclude={"before"}), **changed}
    words = {True: "yes", False: "no"}
    listed = [(name, value if isinstance(value, list | tuple) else [value]) for name, value in values.items()]
    return urlencode(
        [
            (name, words[one] if isinstance(one, bool) else str(one))
            for name, value in listed
            for one in value
            if isinstance(one, bool) or one not in (None, "", 0)
        ]
    )


def rest_of_query(request: Request) -> list[tuple[str, str]]:
    """Return the fields of an address without the number of a job."""
    return [pair for pair in parse_qsl(str(request.url.query)) if pair[0] != "job"]


def parse_filters(query: str) -> QueueQuery:
    """Return the filters of an address' query; what makes no sense is left out."""
    values: dict[str, object] = {}
    try:
        for name, found in parse_qs(query, max_num_fields=100).items():
            if name in QueueQuery.model_fields:
                values[name] = tuple(found) if name in LISTS else found[0]
        return QueueQuery.model_validate(values)
    except ValueError:
        return QueueQuery()
