"""The queue for programs."""

import json
import re
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from builders.forms import csrf_of
from builders.hostile import HOSTILE
from builders.programs import make_program
from findback.model import settings
from findback.model.record import LocalOnly, Request
from findback.model.review import Review
from findback.web import jobs  # noqa: F401  (loads the requests of every step a page starts)
from findback.web.access import ACCESS
from findback.web.app import create_app
from findback.web.pages.api import router
from findback.web.site import Site

NAMES = re.compile(r"(^|_)(module|command|path|url|python|address|host|file|output)($|_)")
"""Names that a field of a request must not have: they would name code, commands, files or places."""


@pytest.fixture
def program(client: TestClient, site: Site) -> TestClient:
    """A program with a reviewer's token."""
    headers = {"authorization": f"Bearer {make_program(site, 'reviewer')}"}
    return TestClient(client.app, base_url="http://127.0.0.1", headers=headers, raise_server_exceptions=False)


@pytest.fixture
def key(site: Site) -> str:
    return next(one.candidate.key for one in site.bench.list_candidates() if "from home" in one.candidate.query.text)


def schema_of(site: Site) -> dict[str, Any]:
    return create_app(site).openapi()


def requested(schema: dict[str, Any]) -> set[str]:
    """Return the names of every field a program may send: parameters, and bodies with all that is in them."""
    names: set[str] = set()
    waiting: list[Any] = []
    for operations in schema["paths"].values():
        for operation in operations.values():
            for one in operation.get("parameters", []):
                if (one["in"], one["name"]) != ("path", "key"):  # a candidate's: no secret key can be sent
                    names.add(one["name"])
                waiting.append(one["schema"])
            waiting.append(operation.get("requestBody", {}))
    seen: set[str] = set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            names.update(one.get("properties", {}))
            reference = str(one.get("$ref", "")).rpartition("/")[2]
            if reference and reference not in seen:
                seen.add(reference)
                waiting.append(schema["components"]["schemas"][reference])
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return names


def local_only() -> set[str]:
    """Return every field of a request or a setting that names code, commands, paths or addresses."""
    kinds: list[type[BaseModel]] = [settings.Settings]
    found: set[str] = set()
    waiting = [Request]
    while waiting:
        kind = waiting.pop()
        kinds.append(kind)
        waiting.extend(kind.__subclasses__())
    for kind in [*kinds, *(k for k in vars(settings).values() if isinstance(k, type) and issubclass(k, BaseModel))]:
        for name, field in kind.model_fields.items():
            if any(isinstance(mark, LocalOnly) for mark in field.metadata):
                found.add(name)
    return found


def test_no_schema_names_code_commands_paths_or_addresses(site: Site) -> None:
    """No field a program may send is local only, or called like one."""
    names = requested(schema_of(site))
    assert {"review", "revision", "judged", "limit"} <= names
    assert "output" in local_only()
    assert not names & local_only()
    assert not [name for name in names if NAMES.search(name)]


def test_who_asks_is_looked_at_before_what_they_send(program: TestClient, site: Site, key: str) -> None:
    """A stranger's broken body is answered with 401, that of somebody without the role with 403; only then with 422."""
    guard = make_program(site, "privacy", name="gail")
    bearers = {"Bearer x": 401, f"Bearer {guard}": 403, program.headers["authorization"]: 422}
    for bearer, status in bearers.items():
        for method, what in (("PUT", "review"), ("POST", "submit"), ("POST", "reject"), ("POST", "undo")):
            for body in (b"{", b"[]", b"\xff", b""):
                sent = {"content-type": "application/json", "authorization": bearer}
                answer = program.request(method, f"/v1/items/{key}/{what}", content=body, headers=sent)
                assert answer.status_code in ((400, 422) if status == 422 else (status,)), (status, method, what, body)


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text/plain"])
def test_a_form_is_no_body_for_programs(client: TestClient, key: str, kind: str) -> None:
    """What somebody who is logged in by cookie sends to a route for programs is refused, with and without its token."""
    for headers in ({}, {"x-csrf-token": csrf_of(client)}):
        body = b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'
        answer = client.put(f"/v1/items/{key}/review", content=body, headers={"content-type": kind, **headers})
        assert answer.status_code == (422 if headers else 403)


def test_the_schema_is_whole_and_not_served(client: TestClient, site: Site) -> None:
    """Every route of the interface is in it, no page is, and nobody can fetch it."""
    schema = schema_of(site)
    assert schema["openapi"].startswith("3.1")
    assert set(schema["paths"]) == {route.path for route in router.routes}  # type: ignore[attr-defined]
    assert all(path.startswith("/v1/") for path in schema["paths"])
    assert len(schema["paths"]) == 8
    for path in ("/openapi.json", "/docs", "/redoc"):
        assert client.get(path).status_code == 404


def test_a_review_goes_from_draft_to_submitted_and_back(program: TestClient, site: Site, key: str) -> None:
    """Save, save again with the same id, submit, undo: revisions count up, a stale one is refused with 409."""
    item = program.get(f"/v1/items/{key}").json()
    assert item["revision"] == 0
    assert item["query"]["segments"][0]["text"] == "cant get in from home since monday"
    assert item["evidence"] == ["howto/vpn.md"]
    review = {"judged": [{"doc": "howto/vpn.md", "grade": 3, "found_by": "pool"}], "wording": "vague"}
    body = {"review": review, "revision": 0, "request_id": "one"}
    saved = program.put(f"/v1/items/{key}/review", json=body).json()
    assert saved == {"revision": 1, "state": "in-review", "version": saved["version"]}
    assert program.put(f"/v1/items/{key}/review", json=body).json() == saved
    stale = program.put(f"/v1/items/{key}/review", json=body | {"request_id": "two"})
    assert (stale.status_code, stale.json()["code"]) == (409, "conflict")
    handed = program.post(f"/v1/items/{key}/submit", json={"review": review, "revision": 1})
    assert handed.json()["state"] in ("ready", "second-opinion")
    assert program.get(f"/v1/items/{key}").json()["review"]["judged"][0]["found_by"] == "resolver"
    assert program.post(f"/v1/items/{key}/undo", json={"revision": 2}).json()["revision"] == 3
    gone = program.post(f"/v1/items/{key}/reject", json={"reason": "no question", "revision": 3})
    assert gone.json()["state"] in ("rejected", "second-opinion")
    assert program.get("/v1/progress").json()["own_day"] >= 1


def test_bodies_are_read_strictly(program: TestClient, key: str) -> None:
    """A number as text, an unknown field, a name of a file or no JSON at all: 422, and the value is not repeated."""
    good: dict[str, Any] = {"review": {}, "revision": 0}
    bad: list[Any] = [
        {**good, "revision": "0"},
        {**good, "revision": 0.5},
        {**good, "revision": -1},
        {**good, "path": "/etc/passwd"},
        {**good, "command": "rm"},
        {**good, "module": "os"},
        {**good, "url": "http://example.org"},
        {"review": {"format": 2}, "revision": 0},
        {"review": {"wording": 7}, "revision": 0},
        {"review": {"note": "the-secret-words" * 10_000}, "revision": 0},
        [],
        None,
    ]
    for body in bad:
        answer = program.put(f"/v1/items/{key}/review", json=body)
        assert answer.status_code == 422, body
        assert answer.json()["code"] == "usage"
        assert "the-secret-words" not in answer.text
        assert "/etc/passwd" not in answer.text
    for raw in (b"", b"{", b"\xff\xfe", b'{"review": {}, "revision": NaN}', b'"x"'):
        sent = program.put(f"/v1/items/{key}/review", content=raw, headers={"content-type": "application/json"})
        assert sent.status_code in (400, 422), raw
    assert program.get(f"/v1/items/{key}").json()["revision"] == 0


def test_odd_texts_come_out_whole(program: TestClient, site: Site) -> None:
    """NULs, lone surrogates and reordering marks are JSON that reads, each character still in its place."""
    odd = next(one for one in site.bench.list_candidates() if "escape" in one.candidate.query.text)
    item = program.get(f"/v1/items/{odd.candidate.key}").json()
    assert sum(one["end"] - one["start"] for one in item["query"]["segments"]) == len(odd.candidate.query.text)
    assert json.loads(json.dumps(item)) == item
    assert program.get("/v1/queue").json()["total"] == 3
    review = Review(note=HOSTILE, wording="vague").model_dump(mode="json")
    saved = program.put(f"/v1/items/{odd.candidate.key}/review", json={"review": review, "revision": 0})
    assert saved.status_code == 200
    assert "\u202e" not in program.get(f"/v1/items/{odd.candidate.key}").text


def test_releases_are_counts(program: TestClient) -> None:
    """Newest first, with note and counts, and where they lie is not told."""
    found = program.get("/v1/releases").json()["releases"]
    assert [(one["number"], one["note"], one["sound"]) for one in found] == [(2, "second", True), (1, "first", True)]
    assert "portal" not in json.dumps(found)


def test_what_is_refused_has_one_shape(program: TestClient, client: TestClient, key: str) -> None:
    """Missing, not allowed, no token: code, message and hint, whatever the browser would have liked."""
    assert program.get("/v1/items/nothing").json()["code"] == "missing"
    bare = TestClient(client.app, base_url="http://127.0.0.1", headers={"accept": "text/html"})
    answer = bare.get("/v1/queue")
    assert (answer.status_code, answer.json()["code"]) == (401, "login-needed")
    wrong = bare.get("/v1/queue", headers={"authorization": "Bearer nothing"})
    assert wrong.status_code == 401
    assert program.get("/v1/queue", params={"states": "nonsense"}).status_code == 422


def test_a_session_needs_the_header(client: TestClient, key: str) -> None:
    """A browser's cookie alone changes nothing: the token of its forms goes into a header."""
    answer = client.post(f"/v1/items/{key}/undo", json={"revision": 0})
    assert answer.status_code == 403


def test_every_route_is_in_the_table() -> None:
    """Each has a row of its own."""
    assert {route.name for route in router.routes} <= set(ACCESS)  # type: ignore[attr-defined]
