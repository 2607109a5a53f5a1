"""What every answer says to the browser, and what the page refuses whoever asks."""

import logging
import re
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from pydantic import BaseModel
from starlette.responses import RedirectResponse

from builders.forms import csrf_of
from builders.fuzzforms import models_of, routes_of
from builders.reviewteam import run_site, write_team
from findback.errors import SettingsError, StorageError, UsageError
from findback.model.record import LocalOnly
from findback.model.settings import OidcSettings, ServeSettings
from findback.web import server
from findback.web.access import ACCESS, ANYONE, FROM_ELSEWHERE
from findback.web.app import create_app
from findback.web.faults import LOG
from findback.web.limits import ENTRIES, READS, WRITES
from findback.web.oidc import Claims
from findback.web.security import MOST_BYTES
from findback.web.server import check_exposure, serve_local
from findback.web.sessions import local_visitor, start_session
from findback.web.site import Site
from findback.web.work import PRIVATE, WORK
from findback.workspace import Workspace

BASE = "http://127.0.0.1"
PAGE = {"accept": "text/html"}
JSON = {"accept": "application/json"}
CANARY = "Quillabamba"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def app(site: Site) -> FastAPI:
    return create_app(site)


@pytest.fixture
def me(app: FastAPI, site: Site) -> Iterator[TestClient]:
    """Somebody logged in with every role; the server answers as it does, however a route fails."""
    made = open_client(app)
    made.cookies.set(site.cookie, start_session(site, local_visitor()))
    yield made
    made.close()


def open_client(app: FastAPI, base: str = BASE, **headers: str) -> TestClient:
    return TestClient(
        app,
        base_url=base,
        headers={**PAGE, **headers},
        follow_redirects=False,
        raise_server_exceptions=False,
        client=("127.0.0.1", 50_000),
    )


def key_of(site: Site) -> str:
    return site.bench.list_candidates()[0].candidate.key


def fail(monkeypatch: pytest.MonkeyPatch, site: Site, words: str) -> None:
    """Make /healthz fail with an error that says these words."""

    def count(*_: object) -> None:
        raise ZeroDivisionError(words)

    monkeypatch.setattr(site.bench, "count", count)


def policy_of(answer: Any) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in answer.headers["content-security-policy"].split(";"))
    return {name: value for name, _, value in parts if name}


def assert_headers(answer: Any) -> None:
    """Every header of every response, whatever it is."""
    policy = policy_of(answer)
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["base-uri"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "img-src", "connect-src", "form-action")} == {"'self'"}
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["referrer-policy"] in ("same-origin", "no-referrer")
    assert answer.headers["x-frame-options"] == "DENY"
    assert "server" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers


def test_every_answer_has_the_security_headers(
    me: TestClient, site: Site, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages, files, redirects and errors of every kind, the server's own failure included, carry the same headers."""
    stranger = open_client(app)
    token = csrf_of(me)
    answers = {
        200: me.get("/queue"),
        303: me.get("/"),
        400: me.get("/queue", headers={"host": "example.org"}),
        401: stranger.get("/queue"),
        403: me.post("/next", data={"csrf": "wrong"}),
        404: me.get("/nowhere"),
        405: me.put("/queue"),
        413: me.post("/next", content=b"x" * (MOST_BYTES + 1)),
        422: me.post("/next", data={"csrf": token, "after": "x" * 200}),
    }
    for status, answer in answers.items():
        assert answer.status_code == status, (status, answer.text)
        assert_headers(answer)
        assert answer.headers["cache-control"] == "no-store", status
    for path in ("/static/page.css", "/static/page.js", "/static/nothing", "/healthz", "/metrics", "/v1/queue"):
        assert_headers(me.get(path))
    for _ in range(31):
        late = stranger.get("/enter?token=guess")
    assert late.status_code == 429
    assert_headers(late)
    fail(monkeypatch, site, "anything")
    broken = me.get("/healthz")
    assert broken.status_code == 500
    assert_headers(broken)
    stranger.close()


def test_pages_with_texts_are_not_stored(me: TestClient, app: FastAPI, site: Site) -> None:
    """Every page but the static files says no-store; those say that they must be asked for again."""
    for route in routes_of(app):
        if route.method == "GET" and "{" not in route.path and route.name not in ("login", "login_back", "flag_script"):
            assert me.get(route.path).headers["cache-control"] == "no-store", route.path
    assert me.get(f"/items/{key_of(site)}").headers["cache-control"] == "no-store"
    assert me.get("/static/page.css").headers["cache-control"] == "no-cache"


def test_what_draws_itself_may_run_nothing(me: TestClient) -> None:
    """Only the report and the chart may use styles of their own, and neither may load or run anything."""
    for path in ("/scores/report", "/scores/chart.svg"):
        answer = me.get(path)
        policy = policy_of(answer)
        if answer.status_code == 200:
            assert policy["default-src"] == "'none'"
            assert "script-src" not in policy
            assert "sandbox" in policy
        assert "unsafe-eval" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "host", ["example.org", "127.0.0.1.example.org", "example.org:80", "127.0.0.1@example.org", "[", "", "[::1]", "0"]
)
def test_another_host_is_refused(me: TestClient, host: str) -> None:
    """A request that names another host is answered 400: a page elsewhere may have its name point here."""
    answer = me.get("/queue", headers={"host": host, **JSON})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-request")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:9", "localhost:8327", "LOCALHOST"])
def test_this_machine_is_no_other_host(me: TestClient, host: str) -> None:
    """The names of this machine are let through, with any port."""
    assert me.get("/queue", headers={"host": host}).status_code == 200


FOREIGN = [
    {"origin": "https://example.org"},
    {"origin": "http://127.0.0.1.example.org"},
    {"origin": "https://127.0.0.1"},
    {"origin": "http://127.0.0.1:9"},
    {"origin": "null"},
    {"origin": "http://["},
    {"origin": ""},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"origin": "null", "sec-fetch-site": "same-origin"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_what_another_site_sends_is_refused_everywhere(
    me: TestClient, app: FastAPI, site: Site, headers: dict[str, str]
) -> None:
    """No route that changes anything takes a request of another site, even with the right token."""
    token = csrf_of(me)
    before = site.bench.count(), [job.number for job in site.bench.jobs()]
    unsafe = [route for route in routes_of(app) if route.method != "GET"]
    assert len(unsafe) >= 15
    for route in unsafe:
        path = re.sub(r"\{[^}]*\}", "1", route.path)
        answer = me.request(route.method, path, data={"csrf": token}, headers={**headers, "x-csrf-token": token})
        # A body may be refused before it is asked who sends it.
        assert answer.status_code in ((403, 422) if route.form or "v1" in path else (403,)), (route.name, answer.text)
    assert me.post("/next", data={"csrf": token}, headers=headers).status_code == 403
    assert (site.bench.count(), [job.number for job in site.bench.jobs()]) == before


@pytest.mark.parametrize(
    "given", [{}, {"csrf": ""}, {"csrf": "wrong"}, {"csrf": "\ud800".encode("utf-8", "surrogatepass")}], ids=str
)
def test_a_form_without_its_token_is_refused_everywhere(
    me: TestClient, app: FastAPI, given: dict[str, str | bytes]
) -> None:
    """No route that changes anything takes a form of a session without the session's token."""
    for route in routes_of(app):
        if route.method != "GET" and route.name not in FROM_ELSEWHERE:
            path = re.sub(r"\{[^}]*\}", "1", route.path)
            status = me.request(route.method, path, data=given).status_code
            assert status in ((403, 422) if route.form or "v1" in path else (403,)), route.name
    assert me.post("/next", data=given).status_code == 403
    assert me.post("/gaps", data=given).status_code == 403


def test_the_token_of_another_session_is_no_token(me: TestClient, app: FastAPI, site: Site) -> None:
    """The token of one login does not go with the cookie of another."""
    other = open_client(app)
    other.cookies.set(site.cookie, start_session(site, local_visitor()))
    assert csrf_of(other) != csrf_of(me)
    assert me.post("/next", data={"csrf": csrf_of(other)}).status_code == 403
    other.close()


def test_a_resolver_who_is_logged_in_needs_the_token_as_well(me: TestClient, site: Site) -> None:
    """The page that whoever holds a link may open takes no form of a login without its token."""
    assert me.post("/ask/anything", data={"helped": "none"}).status_code == 403
    assert me.post("/ask/anything", data={"helped": "none", "csrf": csrf_of(me)}).status_code == 404


@pytest.mark.parametrize("path", ["/next", "/items/1", "/jobs/1/cancel", "/v1/items/1/submit", "/nowhere"])
@pytest.mark.parametrize("kind", [FORM, "application/json", "multipart/form-data; boundary=x", "text/plain"])
def test_a_body_above_the_limit_is_refused(me: TestClient, path: str, kind: str) -> None:
    """A megabyte is the limit, whether the length is announced or the body comes in pieces."""
    answer = me.post(path, content=b"a" * (MOST_BYTES + 1), headers={"content-type": kind, **JSON})
    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")
    pieces = (b"back=aaa&" * 1_000 for _ in range(200))
    answer = me.post(path, content=pieces, headers={"content-type": kind, **JSON})
    # What a route does not read is refused for what it is.
    unread = path == "/nowhere" or (path.startswith("/v1") is (kind == FORM)) or kind == "text/plain"
    assert answer.status_code in ((403, 404, 413, 422) if unread else (413,)), answer.text


@pytest.mark.parametrize("length", ["-1", "1e3", "9" * 30, "abc", "+5"])
def test_a_length_that_is_none_is_refused(app: FastAPI, length: str) -> None:
    """A length that is no number, or a monstrous one, is refused unread."""
    client = open_client(app)
    assert client.post("/next", content=b"a=b", headers={"content-length": length}).status_code == 413
    client.close()


@pytest.mark.parametrize(("limit", "method"), [(READS, "GET"), (WRITES, "POST")])
def test_who_asks_too_often_is_asked_to_wait(me: TestClient, app: FastAPI, site: Site, limit: Any, method: str) -> None:
    """Above so many reads or changes a minute the answer is 429 and when to come back, for this visitor only."""
    who = local_visitor().subject
    for _ in range(limit.amount):
        app.state.limits.allow(limit, who)
    answer = me.request(method, "/jobs" if method == "GET" else "/next", headers=JSON)
    assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (429, "too-many", "60")
    assert app.state.limits.allow(limit, "somebody else")


def test_a_stranger_cannot_guess_for_long(app: FastAPI) -> None:
    """Thirty attempts a minute at what needs no login, then 429; the health of the page can still be asked."""
    stranger = open_client(app)
    answers = [stranger.get("/enter?token=guess").status_code for _ in range(ENTRIES.amount + 1)]
    assert answers == [401] * ENTRIES.amount + [429]
    assert stranger.get("/login").status_code == 429
    assert stranger.get("/healthz").status_code == 200
    stranger.close()


def test_the_cookie_of_local_mode(app: FastAPI, site: Site) -> None:
    """Scripts cannot read it, other sites cannot send it, it goes to no other host and ends with the browser."""
    client = open_client(app)
    said = client.get("/enter", params={"token": site.entry}).headers["set-cookie"]
    name, flags = flags_of(said)
    assert name == "findback"
    assert flags == {"httponly", "path=/", "samesite=strict"}
    client.close()


def test_two_pages_on_one_machine_do_not_log_each_other_out(site: Site) -> None:
    """Browsers send cookies to every port of a host: each page has a name of its own."""
    names = {Site(site.desk, local=True, base_url=f"{BASE}:{port}").cookie for port in (8327, 8328)}
    assert names == {"findback-8327", "findback-8328"}


class Stub:
    """A provider that lets everybody in as a lead."""

    async def begin(self, request: Request, there: str) -> RedirectResponse:
        request.session["next"] = there
        return RedirectResponse("https://login.example.org/", status_code=302)

    async def finish(self, request: Request) -> tuple[Claims, str, str]:
        request.session.clear()
        return Claims("issuer|ana", "Ana", ("leads",)), "access", "/queue"


@pytest.fixture
def behind_tls(team_site: Site) -> Iterator[TestClient]:
    """A stranger at a team's page on a public address."""
    app = create_app(Site(team_site.desk, local=False, base_url="https://find.example.org", now=team_site.now))
    app.state.provider = Stub()
    client = open_client(app, "https://find.example.org")
    yield client
    client.close()


def test_the_cookies_of_a_team_over_tls(behind_tls: TestClient) -> None:
    """Both cookies are bound to the host and to TLS, and the browser is told to keep to TLS."""
    began = behind_tls.get("/login", params={"next": "/queue"})
    name, flags = flags_of(began.headers["set-cookie"])
    assert name == "__Host-findback-login"
    assert {"httponly", "path=/", "samesite=lax", "secure"} <= flags
    back = behind_tls.get("/login/back?state=x&code=y")
    assert back.headers["location"] == "/queue"
    said = next(one for one in back.headers.get_list("set-cookie") if one.startswith("__Host-findback="))
    assert flags_of(said)[1] == {"httponly", "path=/", "samesite=lax", "secure"}
    assert behind_tls.get("/queue").status_code == 200
    assert "max-age=31536000" in back.headers["strict-transport-security"]


def flags_of(cookie: str) -> tuple[str, set[str]]:
    named, *flags = cookie.split(";")
    return named.partition("=")[0], {flag.strip().lower() for flag in flags}


def test_a_login_gives_a_session_of_its_own(behind_tls: TestClient) -> None:
    """A cookie that somebody put into the browser before the login is not the session after it."""
    behind_tls.cookies.set("__Host-findback", "planted", domain="find.example.org", path="/")
    first = behind_tls.get("/login/back?state=x&code=y").headers["set-cookie"]
    second = behind_tls.get("/login/back?state=x&code=y").headers["set-cookie"]
    assert "planted" not in first
    assert first != second
    other = open_client(behind_tls.app, "https://find.example.org", cookie="__Host-findback=planted", **JSON)  # type: ignore[arg-type]
    assert other.get("/queue").status_code == 401
    other.close()


def test_a_planted_cookie_opens_nothing_in_local_mode(app: FastAPI, site: Site) -> None:
    """The one-time link gives a new token, whatever the browser had before."""
    client = open_client(app, cookie=f"{site.cookie}=planted")
    token = client.get("/enter", params={"token": site.entry}).cookies[site.cookie]
    assert token != "planted"
    assert len(token) >= 40
    assert open_client(app, cookie=f"{site.cookie}=planted").get("/queue").status_code == 401
    client.close()


def test_a_link_lets_one_in_when_many_press_it_at_once(app: FastAPI, site: Site) -> None:
    """Of eight requests with the same token at the same moment exactly one gets a cookie."""

    def enter(_: int) -> int:
        client = open_client(app)
        status = client.get("/enter", params={"token": site.entry}).status_code
        client.close()
        return status

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(enter, range(8))) == [303, *[401] * 7]


def test_the_pages_about_the_interface_are_off(me: TestClient) -> None:
    """Nothing about the routes is told."""
    for path in ("/docs", "/redoc", "/openapi.json", "/v1/openapi.json", "/docs/oauth2-redirect"):
        assert me.get(path).status_code == 404


def test_an_error_has_one_shape(me: TestClient, app: FastAPI, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program gets code, message and hint for every error; a person the same message on a page."""
    stranger = open_client(app)
    fail(monkeypatch, site, "anything")
    asked: list[tuple[int, Callable[[dict[str, str]], Any]]] = [
        (400, lambda headers: me.get("/queue", headers={**headers, "host": "example.org"})),
        (401, lambda headers: stranger.get("/queue", headers=headers)),
        (403, lambda headers: me.post("/next", headers=headers)),
        (404, lambda headers: me.get("/nowhere", headers=headers)),
        (404, lambda headers: me.get("/items/nothing", headers=headers)),
        (404, lambda headers: me.get("/static/nothing", headers=headers)),
        (405, lambda headers: me.put("/queue", headers=headers)),
        (413, lambda headers: me.post("/next", content=b"x" * 1_000_001, headers=headers)),
        (422, lambda headers: me.get("/jobs/nothing", headers=headers)),
        (422, lambda headers: me.get("/queue?after=x", headers=headers)),
        (500, lambda headers: me.get("/healthz", headers=headers)),
    ]
    for status, ask in asked:
        said = ask(JSON)
        assert (said.status_code, set(said.json())) == (status, {"code", "message", "hint"})
        page = ask(PAGE)
        assert page.status_code == status
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert f"<p>{said.json()['message']}</p>" in page.text.replace("&#39;", "'")
    stranger.close()


class Records(logging.Handler):
    """Everything that anything logs, save the browsers of the tests."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith(("httpx", "httpcore")):
            self.said.append(self.format(record))


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """What is logged meanwhile, at every level."""
    handler = Records()
    names = ("", "findback.web", "uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi", "sqlalchemy", "asyncio")
    loggers = [logging.getLogger(name) for name in names]
    before = [one.level for one in loggers]
    for one in loggers:
        one.addHandler(handler)
        one.setLevel(logging.DEBUG)
    yield handler.said
    for one, level in zip(loggers, before, strict=True):
        one.removeHandler(handler)
        one.setLevel(level)


def failing(site: Site, token: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield requests that are refused, each with the canary somewhere."""
    key, form, sent = key_of(site), {"content-type": FORM}, {"x-csrf-token": token}
    item, review = f"/items/{key}", f"/v1/items/{key}/review"
    for query in (
        f"age={CANARY * 20}&after={CANARY}",
        f"{CANARY}=1",
        f"suggestions={CANARY}",
        f"stored_since={CANARY}",
    ):
        yield "GET", f"/queue?{query}", {}
        yield "GET", f"/v1/queue?{query}", {}
    yield "GET", f"/v1/queue?states={CANARY}&limit={CANARY}", {}
    yield "GET", f"/jobs/{CANARY}", {}
    yield "GET", f"/cases?answer={CANARY}", {}
    yield "GET", f"/cases?{CANARY}={CANARY}", {}
    yield "GET", f"/releases/diff?before={CANARY}", {}
    yield "GET", f"/gaps/file?format={CANARY}", {}
    yield "GET", f"{item}?opened={CANARY}", {}
    yield "GET", f"{item}/document?id={CANARY}", {}
    yield "GET", f"/ask/{CANARY}", {}
    yield "GET", f"/enter?token={CANARY}", {}
    yield "GET", f"/week?until={CANARY * 10}", {}
    yield "GET", "/queue", {"headers": {"host": f"{CANARY}.example.org"}}
    yield "GET", "/v1/queue", {"headers": {"authorization": f"Bearer {CANARY}", "cookie": ""}}
    yield "POST", item, {"headers": {"origin": f"https://{CANARY}.example.org"}, "data": {"do": "line"}}
    for body in (
        f"do={CANARY}",
        f"do=line&line={CANARY}",
        f"do=line&{CANARY}=1",
        f"do=line&revision={CANARY}",
        f"do=redact&place={CANARY}&start={CANARY}",
        f"do=redact&place=query&start=0&end=3&type={CANARY}",
        f"do=original&place=query&start=0&end=3&reason={CANARY}",
        f"request={CANARY * 20}&do=line",
        f"do={CANARY * 20}",
        f"do=add&words={CANARY * 100}",
        f"do=drop&document={CANARY}",
        f"do=part&document={CANARY}",
        f"do=anchor&document={CANARY}&anchor={CANARY}",
        f"csrf={CANARY}",
    ):
        yield "POST", item, {"content": body.encode(), "headers": {**form, **({} if "csrf" in body else sent)}}
    for path, body in (
        ("/cases/c0000000000", f"do={CANARY * 9}&part={CANARY}&grade={CANARY}&{CANARY}=2"),
        ("/cases/c0000000000", f"do={CANARY}&why={CANARY}"),
        ("/cases/c0000000000/doubt", f"document={CANARY}&said={CANARY}"),
        ("/tokens", f"name={CANARY}&scopes={CANARY}&days={CANARY}"),
        ("/releases", f"do={CANARY}&message={CANARY}"),
        ("/releases/diff", f"before={CANARY}&after={CANARY}"),
        ("/next", f"after={CANARY * 20}"),
    ):
        yield "POST", path, {"content": body.encode(), "headers": {**form, **sent}}
    multipart = f'--x\r\nContent-Disposition: form-data; name="do"; filename="{CANARY}"\r\n\r\n{CANARY}\r\n--x--\r\n'
    kind = {"content-type": "multipart/form-data; boundary=x"}
    yield "POST", item, {"content": multipart.encode(), "headers": {**kind, **sent}}
    yield "POST", item, {"content": b"--x\r\n" + CANARY.encode(), "headers": {**kind, **sent}}
    for json in (
        {CANARY: 1},
        {"revision": CANARY, "review": {}},
        {"revision": 0, "review": {CANARY: CANARY}},
        {"revision": 0, "review": {"wording": [CANARY]}},
        {"revision": 0, "review": {"context": {"filters": {CANARY: 5}}}},
        {"revision": 0, "review": {"judged": [{"doc": CANARY, "grade": CANARY}]}},
        {"revision": 0, "review": {"spans": [{"place": CANARY, "start": CANARY}]}},
        {"revision": 0, "review": {"tags": [CANARY * 1_000]}},
        {"revision": 99, "review": {"wording": CANARY}},
        CANARY,
    ):
        yield "PUT", review, {"json": json, "headers": sent}
    yield "PUT", review, {"content": f'{{"{CANARY}'.encode(), "headers": {"content-type": "application/json", **sent}}
    yield "POST", f"/v1/items/{key}/submit", {"json": {"revision": 0, "review": {"wording": CANARY}}, "headers": sent}


def test_what_is_refused_is_not_repeated(me: TestClient, site: Site, logged: list[str]) -> None:
    """No value and no name of a field that was sent is in an error or in a log, whatever was wrong with it."""
    asked = 0
    for accept in (PAGE, JSON):
        for method, path, rest in failing(site, csrf_of(me)):
            headers = {**accept, **rest.get("headers", {})}
            answer = me.request(method, path, **{**rest, "headers": headers})
            assert 400 <= answer.status_code < 500, (method, path, rest, answer.status_code)
            assert CANARY not in said_in(answer), (method, path, rest, said_in(answer))
            asked += 1
    assert asked > 90
    assert not [line for line in logged if CANARY in line]


def said_in(answer: Any) -> str:
    """Return an error as it is said: of a page with a form, what stands in it as an alert."""
    if "<form" in answer.text and 'role="alert"' in answer.text:
        return "".join(re.findall(r'role="alert">(.*?)</div>', answer.text, re.DOTALL))
    return answer.text


def test_the_server_itself_logs_no_word(tmp_path: Path, logged: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A route that fails with somebody's words in its error, and what is no request, leave no word in a log."""
    workspace = write_team(tmp_path / "team", str(tmp_path / "database" / "workbench.sqlite"))
    with run_site(workspace, local=True) as team:
        for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
            logging.getLogger(name).setLevel(logging.DEBUG)
        fail(monkeypatch, team.site, f"{CANARY} wrote this")
        answer = team.open_browser().get(f"/healthz?{CANARY}={CANARY}")
        assert answer.status_code == 500
        assert CANARY not in answer.text
        assert "server" not in answer.headers
        port = int(team.address.rpartition(":")[2])
        for line in (f"GET /{CANARY} HTTP/9.9\r\n\r\n", f"{CANARY}\r\n\r\n", f"GET /{CANARY}\x00 HTTP/1.1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=5) as raw:
                raw.sendall(line.encode())
                assert CANARY not in raw.recv(10_000).decode("latin-1")
    assert any("ZeroDivisionError" in line for line in logged)
    assert not [line for line in logged if CANARY in line]


def test_a_failure_is_logged_by_kind_and_place(
    me: TestClient, site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says which error it was and where, so that it can be found."""
    fail(monkeypatch, site, CANARY)
    with caplog.at_level(logging.ERROR, LOG.name):
        me.get("/healthz")
    (record,) = caplog.records
    assert re.fullmatch(r"internal error: ZeroDivisionError at test_security.py:\d+", record.getMessage())
    assert record.exc_info is None


def test_local_mode_listens_on_this_machine_only(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of one person listens on the loopback address, and its one-time link names no other."""
    seen: list[tuple[str, str]] = []

    def run(site: Site, listener: socket.socket, ready: Callable[[], None]) -> None:
        seen.append((listener.getsockname()[0], site.base_url))
        ready()

    links: list[str] = []
    monkeypatch.setattr(server, "_run", run)
    serve_local(workspace, port=0, ready=links.append)
    ((address, base),) = seen
    assert address == "127.0.0.1"
    assert re.fullmatch(rf"{re.escape(base)}/enter\?token=[\w-]{{40,}}", links[0])


def test_a_port_that_is_taken_is_said(workspace: Workspace) -> None:
    """A taken port is an error with a way out, not a trace."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(StorageError, match="cannot listen on 127"):
            serve_local(workspace, port=other.getsockname()[1], ready=print)


def test_a_port_that_cannot_be_is_said(workspace: Workspace) -> None:
    """A number no port has is an error with a way out, not a trace."""
    with pytest.raises(UsageError, match="no port 99999"):
        serve_local(workspace, port=99_999, ready=print)


OIDC = OidcSettings(issuer="https://login.example.org", client_id="findback", client_secret="env:SECRET")
PUBLIC = "https://find.example.org"
ROLES = {"reviewer": ("searchers",)}
TLS = {"tls_certificate": "chain.pem", "tls_key": "key.pem"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"oidc": None}, "needs a login"),
        ({"oidc": None, "host": "0.0.0.0", **TLS}, "needs a login"),
        ({"public_url": None}, "public_url is missing"),
        ({"host": "0.0.0.0"}, "nothing encrypts"),
        ({"host": "192.0.2.7"}, "nothing encrypts"),
        ({"host": "::"}, "nothing encrypts"),
        ({"host": "find.example.org"}, "nothing encrypts"),
        ({"host": "0.0.0.0", "tls_certificate": "chain.pem"}, "nothing encrypts"),
        ({"host": "0.0.0.0", "tls_key": "key.pem"}, "nothing encrypts"),
        ({"public_url": "http://find.example.org"}, "must begin with https"),
        ({"public_url": "http://find.example.org", "host": "0.0.0.0", **TLS}, "must begin with https"),
        ({"public_url": "http://localhost", "host": "0.0.0.0", **TLS}, "must begin with https"),
        ({"public_url": "http://127.0.0.1", "host": "0.0.0.0", "proxies": ("192.0.2.1",)}, "must begin with https"),
        ({"public_url": "find.example.org"}, "no address"),
        ({"public_url": "ftp://find.example.org"}, "no address"),
        ({"public_url": "https://"}, "no address"),
        ({"public_url": "https://["}, "no address"),
        ({"public_url": "https://*"}, "no address"),
        ({"public_url": "https://*.example.org"}, "no address"),
        ({"public_url": "https://ana:word@find.example.org"}, "no address"),
        ({"public_url": "https://find.example.org:99999"}, "no address"),
        ({"public_url": "https://find.example.org/path"}, "no address"),
        ({"public_url": "https://find.example.org?x=1"}, "no address"),
        ({"public_url": "https://find.example.org#x"}, "no address"),
        ({"roles": {}}, "nobody a role"),
    ],
)
def test_a_page_that_is_not_safe_is_not_opened(values: dict[str, Any], said: str) -> None:
    """Without a login, without TLS where others can reach it, or under no proper address the server does not start."""
    settings = ServeSettings(**{"oidc": OIDC, "public_url": PUBLIC, "roles": ROLES, **values})
    with pytest.raises(SettingsError, match=said) as caught:
        check_exposure(settings)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("values", "address"),
    [
        ({}, PUBLIC),
        ({"host": "0.0.0.0", **TLS}, PUBLIC),
        ({"host": "0.0.0.0", "proxies": ("192.0.2.1",)}, PUBLIC),
        ({"host": "::1"}, PUBLIC),
        ({"public_url": "https://find.example.org:8443/"}, "https://find.example.org:8443"),
        ({"public_url": "http://localhost:8327"}, "http://localhost:8327"),
        ({"public_url": "http://127.0.0.1"}, "http://127.0.0.1"),
        ({"public_url": "http://[::1]:8327"}, "http://[::1]:8327"),
    ],
)
def test_a_page_that_is_safe_is_opened(values: dict[str, Any], address: str) -> None:
    """Behind TLS of its own, behind a proxy that ends it, or on this machine alone it starts."""
    assert check_exposure(ServeSettings(**{"oidc": OIDC, "public_url": PUBLIC, "roles": ROLES, **values})) == address


def test_a_page_on_the_other_loopback_address_answers_to_its_name(team_site: Site) -> None:
    """A page at [::1] is no foreign host to itself."""
    client = open_client(
        create_app(Site(team_site.desk, local=False, base_url="http://[::1]:8327")), "http://[::1]:8327"
    )
    assert client.get("/healthz").status_code == 200
    client.close()


def test_no_request_can_name_code_a_command_a_file_or_an_address(app: FastAPI) -> None:
    """No form, query or body has a field that is kept to this machine, however deep."""
    seen: set[type[BaseModel]] = set()
    for model in models_of(app):
        collect(model, seen)
    assert len(seen) >= 20
    for model in seen:
        for name, field in model.model_fields.items():
            assert not any(isinstance(mark, LocalOnly) for mark in field.metadata), (model.__name__, name)
    named = re.compile(r"module|command|path|url|file|folder|script|workbench|set|config", re.IGNORECASE)
    fields = {name for route in routes_of(app) for name in (*route.form, *route.query)}
    assert {name for name in fields if named.fullmatch(name)} == set()


def collect(model: type[BaseModel], seen: set[type[BaseModel]]) -> None:
    if model in seen:
        return
    seen.add(model)
    for inner in re.findall(r"'\$ref': '#/\$defs/(\w+)'", str(model.model_json_schema())):
        for kind in every(BaseModel):
            if kind.__name__ == inner and kind.__module__.startswith("findback"):
                collect(kind, seen)


def every(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for inner in kind.__subclasses__():
        yield inner
        yield from every(inner)


@pytest.mark.parametrize("name", ["module", "command", "path", "url", "set", "retriever", "workspace", "config"])
def test_a_request_that_names_more_is_refused(me: TestClient, app: FastAPI, site: Site, name: str) -> None:
    """A field that a route does not have is no field to ignore: 422, in a body, in a form and in an address."""
    token = csrf_of(me)
    key, value = key_of(site), "https://example.org/x"
    body = {"revision": 0, "review": {}}
    sent = {"x-csrf-token": token}
    assert me.put(f"/v1/items/{key}/review", json={**body, name: value}, headers=sent).status_code == 422
    assert me.put(f"/v1/items/{key}/review", json={**body, "review": {name: value}}, headers=sent).status_code == 422
    assert me.post(f"/v1/items/{key}/undo", json={"revision": 0, name: value}, headers=sent).status_code == 422
    assert me.get("/v1/queue", params={name: value}).status_code == 422
    jobs = [job.number for job in site.bench.jobs()]
    for path, form in (("/scores", {}), ("/gaps", {}), ("/releases", {"do": "look"}), ("/releases/diff", {})):
        assert me.post(path, data={**form, name: value, "csrf": token}).status_code == 422, path
    assert [job.number for job in site.bench.jobs()] == jobs


def test_jobs_are_asked_with_nothing_of_this_machine(me: TestClient, site: Site) -> None:
    """What pages put in the queue sets no field that names code, a command, a file or an address."""
    token = csrf_of(me)
    for path, form in (
        ("/scores", {}),
        ("/gaps", {}),
        ("/glossary/suggest", {}),
        ("/releases", {"do": "look"}),
        ("/releases/diff", {"before": 1}),
    ):
        assert me.post(path, data={**form, "csrf": token}).status_code == 303, path
    jobs = site.bench.jobs()
    assert {job.kind for job in jobs} == set(WORK) - PRIVATE
    for job in jobs:
        assert not set(job.request) & WORK[job.kind][0].local_only_fields()
    assert not [kind for kind in PRIVATE if WORK[kind][0].local_only_fields()]


def test_every_route_that_needs_no_login_is_known(app: FastAPI) -> None:
    """What strangers may ask is a short list, and none of it changes anything without a secret link."""
    names = {route.name for route in routes_of(app) if ACCESS[route.name] == ANYONE}
    flags = {"flag_script", "flag_form", "flag_page", "flag_status", "make_flag", "send_flag"}
    assert names == {"health", "metrics", "enter", "login", "login_back", "answer_ask", "give_answer", *flags}
    # Only these are let through from other sites; they know nobody, and add flags where flags are switched on.
    assert sorted(FROM_ELSEWHERE) == ["make_flag", "send_flag"]


def test_counts_are_for_this_machine_or_the_token(app: FastAPI) -> None:
    """Without a token in the settings only this machine reads the counts, and no proxy in its name."""
    here = open_client(app)
    assert "findback_candidates" in here.get("/metrics").text
    assert here.get("/metrics", headers={"x-forwarded-for": "127.0.0.1"}).status_code == 403
    away = TestClient(app, base_url=BASE, client=("192.0.2.9", 1))
    assert away.get("/metrics").status_code == 403
    here.close()
    away.close()
