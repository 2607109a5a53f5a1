"""Requests no browser and no well-meant program sends: the server refuses them and goes on."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import quote

import pytest
import schemathesis
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from builders.forms import csrf_of
from builders.fuzzforms import TYPES, Route, multipart, pairs, paths, routes_of
from builders.programs import make_program
from findback.web.access import ROLES
from findback.web.app import create_app
from findback.web.sessions import local_visitor, start_session
from findback.web.site import Site

BASE = "http://127.0.0.1"
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
STRANGE: tuple[dict[str, str], ...] = (
    {"origin": "http://["},
    {"host": "["},
    {"cookie": "findback=;;=;\x7f"},
    {"authorization": "Bearer"},
    {"authorization": "Bearer \x00"},
    {"accept": "*/*;q=x,,"},
    {"range": "bytes=9-1"},
    {"x-csrf-token": "\x7f"},
    {"content-length": "5"},
)
"""Headers that say nothing a server could follow."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
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


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("credential", ["token", "cookie"])
def test_the_interface_answers_as_its_schema_says(
    app: FastAPI, client: TestClient, credential: str, mode: GenerationMode
) -> None:
    """No 5xx and no answer the schema lacks, what does not fit is refused; by token and by cookie."""
    site: Site = app.state.site
    if credential == "token":
        headers = {"authorization": f"Bearer {make_program(site, *ROLES)}"}
    else:
        headers = {"cookie": f"{site.cookie}={client.cookies[site.cookie]}", "x-csrf-token": csrf_of(client)}
    schema = schemathesis.openapi.from_dict(app.openapi())
    schema.app = app
    sent: dict[int, int] = {}

    @settings(max_examples=6, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=QUIET)
    @given(data=st.data())
    def send(data: st.DataObject, operation: APIOperation) -> None:
        case = data.draw(operation.as_strategy(generation_mode=mode))
        answer = case.call(headers=headers, base_url=BASE)
        case.validate_response(answer, checks=CHECKS)
        sent[answer.status_code] = sent.get(answer.status_code, 0) + 1

    for found in schema.get_all_operations():
        with suppress(Unsatisfiable):
            # A route that takes nothing has no request that does not fit.
            send(operation=found.ok())
    assert sum(sent.values()) >= 30
    assert not {401, 403} & sent.keys()


def test_no_form_breaks_the_server(client: TestClient, app: FastAPI) -> None:
    """Fields of every kind, repeated, broken or missing, with and without the token: never a 5xx on any page."""
    known = known_of(app.state.site)
    token = csrf_of(client)
    asked: set[str] = set()

    @settings(max_examples=25, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=QUIET)
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
        if stranger := data.draw(st.sampled_from((*[None] * 5, *STRANGE))):
            headers |= stranger
        answer = client.request(route.method, address, content=body, headers=headers)
        assert answer.status_code < 500, (route.name, address[:300], headers, body[:300])
        asked.add(route.name)

    routes = [route for route in routes_of(app) if not route.path.startswith("/v1")]
    for route in sorted(routes, key=lambda one: LAST.index(one.name) if one.name in LAST else -1):
        send(route=route)
    assert len(asked) >= 40
