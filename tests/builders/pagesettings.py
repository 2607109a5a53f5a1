"""findback.toml of a review page: one person's, or a team's behind a login."""

from collections.abc import Mapping

from findback.model.settings import RoleName

BASE = "http://127.0.0.1"
SECRET = "OIDC_SECRET"
"""Environment variable with the secret that a team's page shows its provider."""
GROUPS: Mapping[RoleName, str] = {
    "reporter": "reporters",
    "reviewer": "reviewers",
    "lead": "leads",
    "privacy": "guards",
    "admin": "admins",
}
"""The group that each role is given to."""
PORTAL = """
format = 1
name = "portal"
private = "private"

[corpus]
path = "portal"

[retrievers.bm25]
kind = "bm25"
"""
"""A small portal, searched on this machine."""


def team_settings(
    *, base: str = BASE, issuer: str = "http://127.0.0.1:1/", groups: Mapping[RoleName, str] = GROUPS
) -> str:
    """Return the tables of a team's page."""
    roles = "\n".join(f'{role} = ["{group}"]' for role, group in groups.items())
    return f"""
[serve]
public_url = "{base}"
[serve.roles]
{roles}
[serve.oidc]
issuer = "{issuer}"
client_id = "findback"
client_secret = "env:{SECRET}"
"""
