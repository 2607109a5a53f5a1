"""Programs that use the page with a token."""

from datetime import timedelta

from findback.model.settings import RoleName
from findback.web.site import Site


def make_program(site: Site, *roles: RoleName, name: str = "ana", own: tuple[RoleName, ...] | None = None) -> str:
    """Return the token of somebody who logged in once.

    Args:
        site: The page.
        roles: What the token may do.
        name: Whose it is.
        own: The roles they had when they logged in; the token's when None.
    """
    now = site.now()
    site.bench.remember_reviewer(name, name=name, roles=roles if own is None else own, now=now)
    return site.bench.add_api_token("p", reviewer=name, scopes=roles, now=now, until=now + timedelta(days=365))
