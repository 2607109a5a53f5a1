"""Anything a schema allows, and much that it does not, sent to the interface for programs."""

from collections.abc import Callable
from contextlib import suppress

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import APIOperation

from findback.web.app import create_app
from findback.web.site import Site

SLOW = list(HealthCheck)


@pytest.fixture
def api(make_site: Callable[..., Site]) -> tuple[FastAPI, str]:
    """The application and a token with every role."""
    site = make_site(local=True)
    until = site.now().replace(year=2030)
    roles = ("reporter", "reviewer", "lead", "privacy", "admin")
    return create_app(site), site.bench.add_api_token("p", reviewer="ana", scopes=roles, now=site.now(), until=until)


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_nothing_a_program_sends_breaks_the_server(api: tuple[FastAPI, str], mode: GenerationMode) -> None:
    """Requests that fit the schema, and such that do not, on every route: never a 5xx."""
    app, token = api
    app.state.limits.allow = lambda *_: True
    schema = schemathesis.openapi.from_dict(app.openapi())
    schema.app = app
    sent: set[str] = set()

    @settings(max_examples=8, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=SLOW)
    @given(data=st.data())
    def send(data: st.DataObject, operation: APIOperation) -> None:
        case = data.draw(operation.as_strategy(generation_mode=mode))
        sent.add(operation.label)
        answer = case.call(headers={"authorization": f"Bearer {token}"}, base_url="http://127.0.0.1")
        case.validate_response(answer, checks=[not_a_server_error])

    for result in schema.get_all_operations():
        with suppress(Unsatisfiable):
            # A route that takes nothing has no request that does not fit.
            send(operation=result.ok())
    assert len(sent) >= 6
