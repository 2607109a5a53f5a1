"""Every route, asked by every role."""

import re
from collections.abc import Iterator
from itertools import product

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from builders.forms import csrf_of
from findback.model.settings import RoleName
from findback.web.access import ACCESS, ANYONE, ROLES
from findback.web.app import create_app
from findback.web.limits import Limits
from findback.web.site import Site

READING = ("GET", "HEAD")


def routes_of(app: FastAPI) -> dict[str, tuple[str, str]]:
    """Return method and path of each route by its name."""
    found: dict[str, tuple[str, str]] = {}
    for route in _walk(app.router.routes):
        method = next(one for one in sorted(route.methods) if one != "HEAD")
        found[route.name] = (method, re.sub(r"\{[^}]*number[^}]*\}", "1", route.path).replace("{", "").replace("}", ""))
    return found


def _walk(routes: list) -> Iterator[APIRoute]:
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        elif inner := getattr(route, "original_router", None) or getattr(route, "router", None):
            yield from _walk(inner.routes)


def test_every_role_gets_what_the_table_says(team_client, team_site: Site) -> None:
    """A role the table names is let through; another is refused with 403, a stranger is sent to the login."""
    routes = routes_of(create_app(team_site))
    assert set(ACCESS) - {"static", "keys"} >= set(routes)
    assert len(routes) > 40
    stranger = team_client()
    people = {role: team_client(role, name=role) for role in ROLES}
    for (name, (method, path)), role in product(routes.items(), (None, *ROLES)):
        if name in ("logout", "login", "login_back", "enter"):
            continue
        client = stranger if role is None else people[role]
        client.app.state.limits = Limits()
        headers = {} if method in READING else {"x-csrf-token": _token(client, role)}
        status = client.request(method, path, headers=headers).status_code
        if ACCESS[name] == ANYONE:
            assert status != 403 or name == "metrics", (name, role)
        elif role is None:
            assert status in (303, 401), (name, role, status)
        elif role in ACCESS[name]:
            assert status not in (401, 403), (name, role, status)
        else:
            assert status == 403, (name, role, status)


def _token(client: TestClient, role: RoleName | None) -> str:
    return "none" if role is None else csrf_of(client)


@pytest.mark.parametrize("role", ["privacy", "admin"])
def test_guards_and_admins_see_no_texts(team_client, role: RoleName) -> None:
    """No page that shows words of the set or of candidates opens for who only guards privacy or runs the page."""
    for path in ("/queue", "/cases", "/cases/c0000000000", "/scores", "/scores/report", "/gaps", "/v1/queue", "/jobs"):
        assert team_client(role).get(path).status_code == 403, path


def test_a_form_without_its_token_changes_nothing(client: TestClient, site: Site) -> None:
    """Every route that changes something refuses a request of a session without the token of its forms."""
    for name, (method, path) in routes_of(create_app(site)).items():
        if method not in READING and ACCESS[name] != ANYONE:
            answer = client.request(method, path, data={"csrf": "wrong"})
            assert answer.status_code == 403, (name, answer.status_code)
