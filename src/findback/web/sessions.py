"""Who a cookie or a token stands for."""

import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from findback.errors import StorageError
from findback.model.settings import RoleName
from findback.steps.localreviewer import AUDIENCES, local_name
from findback.steps.review import Reviewer
from findback.web.access import ROLES
from findback.web.oidc import Claims, audiences_of, roles_of
from findback.web.site import Site
from findback.workbench.tokens import digest_token, make_token

IDLE = timedelta(minutes=30)
LONGEST = timedelta(hours=12)
LOCAL_LONGEST = timedelta(days=7)
"""One person's own machine: until then the cookie opens the page again after the server was stopped."""
SEEN = timedelta(seconds=60)
"""How old the last sign of life may be before a new one is written down."""


class Login(NamedTuple):
    """A session that holds."""

    reviewer: Reviewer
    csrf: str
    claims: Claims
    read_at: datetime
    """When the provider last said what the person's groups are."""
    until: datetime
    """When the session ends, whatever happens."""


def start_session(site: Site, claims: Claims) -> str:
    """Begin a session and return the token for the cookie."""
    token, now = make_token(), site.now()
    keep_claims(site, token, claims, until=now + (LOCAL_LONGEST if site.local else LONGEST))
    site.bench.clear_sessions(now=now, idle_since=now - LOCAL_LONGEST)
    return token


def keep_claims(site: Site, token: str, claims: Claims, *, until: datetime, csrf: str | None = None) -> None:
    """Write down, under the digest of a token, what the provider said about who has it, and which roles that gives."""
    now = site.now()
    content = {
        "csrf": csrf or secrets.token_urlsafe(24),
        "name": claims.name,
        "groups": list(claims.groups),
        "read_at": now.isoformat(),
        "local": site.local,
    }
    site.bench.put_session(digest_token(token), content, reviewer=claims.subject, now=now, until=until)
    site.bench.remember_reviewer(claims.subject, name=claims.name, roles=_roles(site, claims), now=now)


def find_session(site: Site, token: str) -> Login | None:
    """Return who a cookie stands for; None when the session is over, idle too long, or of another mode."""
    now = site.now()
    idle = LOCAL_LONGEST if site.local else IDLE
    found = site.bench.session(digest_token(token), now=now, idle_since=now - idle)
    if found is None or found.reviewer is None or found.content.get("local") is not site.local:
        return None
    if now - found.seen_at > SEEN:
        with suppress(StorageError):
            # A disk that is full or read-only still lets people read, and tells them when they save.
            site.bench.touch_session(digest_token(token), now=now)
    content: dict[str, Any] = found.content
    claims = Claims(found.reviewer, content.get("name"), tuple(content.get("groups", ())))
    read_at = datetime.fromisoformat(str(content["read_at"]))
    return Login(reviewer_of(site, claims), str(content["csrf"]), claims, read_at, found.until)


def end_session(site: Site, token: str) -> None:
    """End a session."""
    site.bench.end_session(digest_token(token))


def find_bearer(site: Site, token: str) -> Reviewer | None:
    """Return who an API token acts for, in no more roles than its scopes and than they have themselves; else None.

    What they have is what their last login said, or the provider when it was asked again since.
    """
    found = site.bench.api_token(token, now=site.now())
    if found is None or not found.roles:
        return None
    roles = tuple(role for role in ROLES if role in found.roles)
    return Reviewer(subject=found.reviewer, name=found.name, roles=roles, audiences=_audiences(site, roles))


def reviewer_of(site: Site, claims: Claims) -> Reviewer:
    """Return a logged-in person with the roles that today's settings give their groups."""
    roles = _roles(site, claims)
    return Reviewer(subject=claims.subject, name=claims.name, roles=roles, audiences=_audiences(site, roles))


def local_visitor() -> Claims:
    """Return who uses the page in local mode: whoever is logged in to the machine."""
    name = local_name()
    return Claims(name, name, ())


def _roles(site: Site, claims: Claims) -> tuple[RoleName, ...]:
    return ROLES if site.local else roles_of(site.serve, claims.groups)


def _audiences(site: Site, roles: tuple[str, ...]) -> tuple[str, ...]:
    return AUDIENCES if site.local else audiences_of(site.serve, roles)  # type: ignore[arg-type]
