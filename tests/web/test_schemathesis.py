"""Requests no browser and no well-meant program sends: the server refuses them and goes on."""

import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from builders.fuzzforms import TYPES, Route, multipart, pairs, paths, routes_of
from findback.web.app import create_app
from findback.web.sessions import local_visitor, start_session
from findback.web.site import Site

BASE = "http://127.0.0.1"
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
LAST = ("withdraw_case", "privacy_exclude", "privacy_purge", "logout")
"""Routes after which there is less left to ask."""


@pytest.fixture
def app(make_site: Callable[..., Site]) -> FastAPI:
    made = create_app(make_site(local=True))
    made.state.limits.allow = lambda *_: True
    return made


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    site: Site = app.state.site
    made = TestClient(app, base_url=BASE, headers={"accept": "text/html"}, follow_redirects=False)
    made.cookies.set(site.cookie, start_session(site, local_visitor()))
    yield made
    made.close()


def known_of(site: Site) -> list[str]:
    """Return what leads past the first check: keys, cases, numbers."""
    return [one.candidate.key for one in site.bench.list_candidates()] + ["c0000000000", "1", "plain"]


def test_no_form_breaks_the_server(client: TestClient, app: FastAPI) -> None:
    """Fields of every kind, repeated, broken or missing, with and without the token: never a 5xx on any page."""
    known = known_of(app.state.site)
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/releases").text)
    assert found is not None
    token = found[1]
    asked: set[str] = set()

    @settings(max_examples=int(__import__("os").environ.get("N","40")), deadline=None, database=None, phases=[Phase.generate], suppress_health_check=QUIET)
    @given(data=st.data())
    def send(data: st.DataObject, route: Route) -> None:
        address = data.draw(paths(route.path, known))
        if query := data.draw(pairs(route.query, known)):
            address = f"{address}?{query}"
        headers = {"x-csrf-token": token} if data.draw(st.booleans()) else {}
        body = b""
        if route.method != "GET":
            kind = data.draw(st.sampled_from(TYPES[:1] * 6 + TYPES))
            fields = data.draw(pairs(route.form, known)) + f"&csrf={quote(token)}"
            body = multipart(fields) if kind.startswith("multipart") else fields.encode()
            headers |= {"content-type": kind} if kind else {}
        answer = client.request(route.method, address, content=body, headers=headers)
        assert answer.status_code < 500, (route.name, address[:300], headers, body[:300])
        asked.add(route.name)

    routes = [route for route in routes_of(app) if not route.path.startswith("/v1")]
    for route in sorted(routes, key=lambda one: LAST.index(one.name) if one.name in LAST else -1):
        send(route=route)
    assert len(asked) >= 40
