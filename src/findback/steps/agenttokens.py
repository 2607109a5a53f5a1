"""Tokens of agents: what each may do, and until when."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, NamedTuple, Self, get_args

from pydantic import Field, model_validator

from findback.model.record import Record, Request
from findback.steps.bench import open_bench
from findback.steps.localreviewer import local_name
from findback.workbench.store import Workbench
from findback.workbench.tokens import ApiToken
from findback.workspace import Workspace

AgentScope = Literal["flag", "expand", "search"]
"""Flag what was not found, expand a question by the glossary, search."""
SCOPES: frozenset[AgentScope] = frozenset(get_args(AgentScope))
LONGEST = 200
"""Characters beyond which nothing is a token."""


class AgentTokenRequest(Request):
    """Make a token for agents."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    """What the list of tokens calls it."""
    scopes: tuple[AgentScope, ...] = ("flag", "expand")
    """What it may be used for: flag, expand, search."""
    days: Annotated[int, Field(ge=1, le=365)] = 30
    """How long it is good for."""

    @model_validator(mode="after")
    def _allows_something(self) -> Self:
        if not self.scopes:
            raise ValueError("name at least one scope: flag, expand or search")
        return self


class MadeToken(Record):
    """A new token."""

    token: str
    """This is the only time it can be seen."""
    name: str
    scopes: tuple[AgentScope, ...]
    until: datetime


class AgentToken(Record):
    """A token, without what would let one use it."""

    number: int
    name: str
    scopes: tuple[AgentScope, ...]
    made: datetime
    used: datetime | None
    until: datetime
    state: Literal["good", "over", "revoked"]


class AgentTokens(Record):
    """The tokens of agents."""

    tokens: tuple[AgentToken, ...]
    """Newest first."""


class Grant(NamedTuple):
    """What a token allows."""

    number: int
    scopes: frozenset[AgentScope]
    until: datetime


def make_agent_token(workspace: Workspace, request: AgentTokenRequest, *, now: datetime) -> MadeToken:
    """Make a token, in the name of whoever runs this.

    Raises:
        UsageError: If they have too many.
    """
    until = now + timedelta(days=request.days)
    scopes = _ordered(request.scopes)
    with open_bench(workspace) as bench:
        token = bench.add_api_token(request.name, reviewer=local_name(), scopes=scopes, now=now, until=until)
    return MadeToken(token=token, name=request.name, scopes=scopes, until=until)


def list_agent_tokens(workspace: Workspace, *, now: datetime) -> AgentTokens:
    """Return the tokens that may be used for anything here; tokens of the review page are not among them."""
    with open_bench(workspace) as bench:
        return AgentTokens(tokens=tuple(_describe(one, now) for one in bench.api_tokens() if one.scopes & SCOPES))


def revoke_agent_token(workspace: Workspace, number: int, *, now: datetime) -> None:
    """Make a token useless from now on.

    Raises:
        MissingError: If there is no such token.
    """
    with open_bench(workspace) as bench:
        bench.revoke_api_token(number, now=now)


def find_grant(bench: Workbench, token: str, *, now: datetime) -> Grant | None:
    """Return what a token allows; None for one that is unknown, revoked or over."""
    if not token.isascii() or len(token) > LONGEST:
        return None
    found = bench.api_token(token, now=now)
    if found is None:
        return None
    return Grant(found.number, frozenset(_ordered(found.scopes)), found.until)


def has_grant(bench: Workbench, *, now: datetime) -> bool:
    """Return whether any token could be used here now."""
    return any(_describe(one, now).state == "good" for one in bench.api_tokens() if one.scopes & SCOPES)


def _describe(token: ApiToken, now: datetime) -> AgentToken:
    return AgentToken(
        number=token.number,
        name=token.name,
        scopes=_ordered(token.scopes),
        made=token.at,
        used=token.used_at,
        until=token.until,
        state="revoked" if token.revoked_at is not None else "over" if token.until <= now else "good",
    )


def _ordered(scopes: frozenset[str] | tuple[str, ...]) -> tuple[AgentScope, ...]:
    return tuple(scope for scope in get_args(AgentScope) if scope in scopes)
