"""Flags by HTTP: what is taken, from where, how often, and what becomes of it."""

import asyncio
import io
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from builders.flags import ORIGIN, QUERY, TOKEN, flag, flagged
from builders.forms import Shown, assert_inert
from builders.hostile import HOSTILE
from builders.pagesettings import BASE
from findback.model.flag import FlagRequest
from findback.steps.erase import PurgeRequest, order_purge
from findback.web.faults import Problem
from findback.web.log import log_to
from findback.web.site import Site
from findback.workspace import Workspace

PROBLEM = set(Problem.model_fields)
NAMES = st.sampled_from(["query", "note", "page", "shown", "tried", "language", "odd"])
WORDS = st.text(max_size=20) | st.sampled_from(["/docs", "en", "howto/vpn.md", "why"])
ANY_JSON = st.dictionaries(NAMES, WORDS | st.lists(WORDS, max_size=3) | st.none() | st.integers()) | st.lists(WORDS)
Client = Callable[..., TestClient]
STRANGE = f"{HOSTILE} <img src=x onerror=alert(1)> \u202e {{{{7*7}}}} =cmd()"


def test_a_flag_is_on_the_review_page_redacted(portal: TestClient, client: TestClient, site: Site) -> None:
    """In the queue and first in the weekly stack, names covered; the words around them are as typed."""
    shown = ["howto/vpn.md", "https://elsewhere.example.org/?user=7"]
    answer = flag(portal, page="/docs/mixer", note="call +49 30 901820 for it", shown=shown)
    assert answer.status_code == 201
    assert set(answer.json()) == {"status", "link", "new", "waits"}
    assert answer.json()["link"] == f"{BASE}/flag/{answer.json()['status']}"
    (stored,) = flagged(site)
    assert stored.candidate.query.text == "cant reach ⟦EMAIL_1⟧ about the mixer"
    assert [(one.document, one.by, one.kind) for one in stored.candidate.links] == [("howto/vpn.md", "bot", "shown")]
    assert (stored.candidate.source, stored.candidate.rules[0].rule) == ("widget", "flag")
    item = f"/items/{stored.candidate.key}"
    for page in ("/queue", "/week", item):
        shown = Shown(client.get(page).text).text
        assert "about the mixer" in shown
        assert "EMAIL_1" in shown
        assert "bo.lind" not in shown
        assert "901820" not in shown
    week = client.get("/week").text
    assert week.index("about the mixer") < week.index("lost my card")
    assert "on the page /docs/mixer" in Shown(client.get(item).text).text


def test_whoever_holds_the_link_learns_what_came_of_it(portal: TestClient, site: Site) -> None:
    """As JSON and as a page, before and after a reviewer decided; nobody else learns anything."""
    status = flag(portal).json()["status"]
    assert portal.get(f"/v1/flags/{status}").json() == {
        "state": "waits",
        "says": "It waits for a reviewer.",
        "release": None,
        "since": "2026-03-02",
    }
    (stored,) = flagged(site)
    site.bench.reject(stored.candidate.key, "somebody's secret reason", reviewer="bo", version=1, now=site.now())
    answer = portal.get(f"/v1/flags/{status}")
    assert answer.json()["state"] == "rejected"
    page = portal.get(f"/flag/{status}", headers={"accept": "text/html"})
    assert "becomes no test question" in page.text
    assert "secret reason" not in page.text + answer.text
    assert_inert(page.text)
    for address in ("/v1/flags/other", "/flag/other", f"/v1/flags/{'x' * 101}"):
        assert portal.get(address).status_code in (404, 422)


def test_like_flags_count_once_and_each_sender_learns_of_it(portal: TestClient, site: Site) -> None:
    """Two senders of the same words from the same page: one question asked 2-4 times, two links."""
    first, second = flag(portal, page="/a"), flag(portal, page="/a")
    assert (first.json()["new"], second.json()["new"]) == (True, False)
    assert flag(portal, page="/b").json()["new"]
    assert [one.candidate.asked for one in flagged(site)] == ["2-4", "1"]
    assert first.json()["status"] != second.json()["status"]
    for one in (first, second):
        assert portal.get(f"/v1/flags/{one.json()['status']}").json()["state"] == "waits"


def test_browsers_are_told_which_pages_may_send(portal: TestClient) -> None:
    """The sites named, each by itself, to one address, never with a login; any other is refused before it sends."""
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "content-type,x-findback-token"}
    answer = portal.options("/v1/flags", headers={"origin": ORIGIN, **asked})
    assert answer.status_code == 204
    told = {name: value for name, value in answer.headers.items() if name.startswith("access-control")}
    assert told == {
        "access-control-allow-origin": ORIGIN,
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "content-type, x-findback-token",
        "access-control-max-age": "600",
        "access-control-expose-headers": "Retry-After",
    }
    assert answer.headers["vary"] == "Origin"
    for origin in ("https://docs.example.org.evil.example", "http://docs.example.org", f"{ORIGIN}:444", "null"):
        answer = portal.options("/v1/flags", headers={"origin": origin, **asked})
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]
    for path in ("/v1/queue", "/flag"):
        answer = portal.options(path, headers={"origin": ORIGIN, **asked})
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert flag(portal).headers["access-control-allow-origin"] == ORIGIN
    assert flag(portal, token="wrong").headers["access-control-allow-origin"] == ORIGIN


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        (403, {"origin": "https://elsewhere.example.org"}),
        (403, {"origin": "null"}),
        (403, {"token": "wrong"}),
        (403, {"token": ""}),
        (415, {"content-type": "text/plain"}),
        (415, {"content-type": "application/x-www-form-urlencoded"}),
        (413, {"body": b'{"query": "' + b"x" * 70_000 + b'"}'}),
        (422, {"body": b"{"}),
        (422, {"body": b"[]"}),
        (422, {"body": b'{"query": "secret \\ud800 half"}'}),
        (422, {"query": ""}),
        (422, {"query": " \n\t "}),
        (422, {"query": "x" * 2_001}),
        (422, {"query": 7}),
        (422, {"note": "x" * 1_001}),
        (422, {"page": "/docs?user=secret"}),
        (422, {"page": "/docs#secret"}),
        (422, {"page": "https://docs.example.org/"}),
        (422, {"page": "/" + "x" * 500}),
        (422, {"shown": ["d.md"] * 51}),
        (422, {"tried": ["secret"] * 21}),
        (422, {"language": "secret language"}),
        (422, {"asker": "secret"}),
    ],
)
def test_what_does_not_fit_is_refused_in_one_shape(
    portal: TestClient, site: Site, status: int, sent: dict[str, Any]
) -> None:
    """Unknown sites, wrong tokens, other kinds, too much of anything: an error that repeats nothing, and no flag."""
    kind = sent.pop("content-type", "application/json")
    body = sent.pop("body", None)
    headers = {"origin": sent.pop("origin", ORIGIN), "x-findback-token": sent.pop("token", TOKEN), "content-type": kind}
    content = json.dumps({"query": QUERY, **sent}) if body is None else body
    answer = portal.post("/v1/flags", content=content, headers=headers)
    assert answer.status_code == status
    assert Problem.model_validate(answer.json()).message
    assert "secret" not in answer.text
    assert flagged(site) == []


def test_a_body_without_a_length_is_cut_off(portal: TestClient, site: Site) -> None:
    """Whoever does not say how much it is gets no further than the limit."""
    pieces = iter([b'{"query": "', *[b"x" * 10_000] * 20, b'"}'])
    headers = {"x-findback-token": TOKEN, "content-type": "application/json"}
    assert portal.post("/v1/flags", content=pieces, headers=headers).status_code == 413
    assert flagged(site) == []


def test_the_public_token_opens_nothing_else(portal: TestClient, site: Site) -> None:
    """Neither as header nor as bearer: no queue, no candidate, no flag."""
    flag(portal)
    (stored,) = flagged(site)
    for headers in ({"x-findback-token": TOKEN}, {"authorization": f"Bearer {TOKEN}"}):
        for address in ("/v1/queue", f"/v1/items/{stored.candidate.key}", "/v1/releases", "/queue"):
            assert portal.get(address, headers=headers).status_code == 401
        assert portal.get("/v1/flags", headers=headers).status_code == 405
        assert portal.get(f"/v1/flags/{stored.candidate.key}", headers=headers).status_code == 404


def test_a_program_without_a_page_may_flag(portal: TestClient, site: Site) -> None:
    """With the token and no origin; it is kept as what it is."""
    assert flag(portal, origin=None, tried=["mixer contact", "mixer owner"], language="en-GB").status_code == 201
    (stored,) = flagged(site)
    assert (stored.candidate.source, stored.candidate.rewrites.distinct) == ("api", 2)
    assert "mixer owner" not in stored.candidate.model_dump_json()


def test_flags_are_taken_only_where_they_are_switched_on(team_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a token in findback.toml every way in is closed, and says how to open it."""
    client = team_client()
    settings = client.app.state.site.workspace.settings
    closed = settings.model_copy(update={"flags": type(settings.flags)()})
    monkeypatch.setitem(client.app.state.site.workspace.__dict__, "settings", closed)
    answers = [flag(client, origin=None), client.get("/flag"), client.post("/flag", data={"query": "x"})]
    assert [one.status_code for one in answers] == [404, 404, 404]
    assert "[flags] token" in answers[0].json()["hint"]


def test_a_flood_from_one_client_loses_nobody_elses(app: FastAPI, site: Site) -> None:
    """Of 10,000 flags from one network 30 are kept, and the flag of everybody else is, while it goes on."""
    flood = [(f"2001:db8:0:1::{number:x}", f"flood {number}") for number in range(10_000)]
    others = [(f"192.0.2.{number}", f"where is page {number}") for number in range(1, 41)]
    sent = flood[:5_000] + [one for pair in zip(others, flood[5_000:], strict=False) for one in pair] + flood[5_040:]
    answers = asyncio.run(_send_all(app, sent))
    by_status: dict[int, list[str]] = {}
    for (_, query), status in zip(sent, answers, strict=True):
        by_status.setdefault(status, []).append(query)
    assert set(by_status) == {201, 429}
    assert [one for one in by_status[201] if not one.startswith("flood")] == [query for _, query in others]
    assert len(by_status[201]) == 30 + 40
    kept = [one.candidate.query.text for one in flagged(site)]
    assert sorted(kept) == sorted(by_status[201])


async def _send_all(app: FastAPI, sent: list[tuple[str, str]]) -> list[int]:
    """Send flags from some addresses to the application itself, and return how each was answered."""
    answers: list[int] = []

    async def keep(message: Any) -> None:
        if message["type"] == "http.response.start":
            answers.append(message["status"])

    for address, query in sent:
        body = json.dumps({"query": query}).encode()

        async def receive(body: bytes = body) -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        headers = {"host": "127.0.0.1", "origin": ORIGIN, "x-findback-token": TOKEN, "content-type": "application/json"}
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
            "path": "/v1/flags", "raw_path": b"/v1/flags", "query_string": b"", "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": (address, 1), "server": ("127.0.0.1", 80),
        }  # fmt: skip
        await app(scope, receive, keep)
    return answers


def test_whoever_must_wait_is_told_how_long(portal: TestClient, site: Site, clock: Any) -> None:
    """The thirty-first in an hour: 429 with the seconds, and after these it is taken."""
    for number in range(30):
        assert flag(portal, query=f"page {number}").status_code == 201
        clock.move(seconds=10)
    answer = flag(portal, query="page 30")
    assert (answer.status_code, answer.json()["code"]) == (429, "too-many")
    assert answer.headers["retry-after"] == str(3_600 - 300)
    clock.move(seconds=3_300)
    assert flag(portal, query="page 30").status_code == 201


def test_nothing_of_the_sender_is_kept(portal: TestClient, site: Site, workspace: Workspace, capsys: Any) -> None:
    """Neither database nor memory nor output holds an address; what was redacted stands nowhere either."""
    flag(portal, note="call +49 30 901820", page="/docs")
    site.bench.scrub()
    stored = b"".join(one.read_bytes() for one in _files(workspace.private))
    for secret in (b"198.51.100.7", b"bo.lind@example.org", b"901820"):
        assert secret not in stored
    counted = portal.app.state.flag_limits._taken  # type: ignore[attr-defined]
    assert counted
    assert "198.51" not in repr(counted)
    shown = capsys.readouterr()
    assert "198.51" not in shown.out + shown.err


def _files(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file()]


def test_a_purge_reaches_flags_and_their_links(portal: TestClient, site: Site) -> None:
    """By the page they came from, and by a person named in them; the link then leads to nothing."""
    status = flag(portal, page="/docs/mixer").json()["status"]
    key = site.desk.key
    named = order_purge(site.bench, key, PurgeRequest(person=("bo.lind@example.org",)))
    assert site.bench.purge(now=site.now(), person_hmac=named.values).mentions == 1
    order = order_purge(site.bench, key, PurgeRequest(channel=("widget:/docs/mixer",)))
    assert site.bench.purge(now=site.now(), container_hmac=order.channels).candidates == 1
    assert portal.get(f"/v1/flags/{status}").status_code == 404
    flag(portal, query="without a page")
    order = order_purge(site.bench, key, PurgeRequest(channel=("widget:-",)))
    assert site.bench.purge(now=site.now(), container_hmac=order.channels).candidates == 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=200) | ANY_JSON.map(lambda one: json.dumps(one).encode()))
@example(body=b'{"query": "\\u0000 \\u001b \xe2\x9f\xa6PERSON_1\xe2\x9f\xa7"}')
@example(body=b'{"query": "x", "shown": ["\\u0000", "../../etc", "https://[", "//"]}')
def test_no_body_breaks_it(portal: TestClient, body: bytes) -> None:
    """Bytes and JSON of every kind are taken or refused, each in its one shape."""
    portal.app.state.flag_limits.wait = lambda *_: 0  # type: ignore[attr-defined]
    headers = {"origin": ORIGIN, "x-findback-token": TOKEN, "content-type": "application/json"}
    answer = portal.post("/v1/flags", content=body, headers=headers)
    assert answer.status_code in (201, 422)
    assert set(answer.json()) == ({"status", "link", "new", "waits"} if answer.status_code == 201 else PROBLEM)


def test_the_log_names_the_route_and_nothing_of_the_flag(portal: TestClient) -> None:
    """Neither words nor page, token or link of a flag are in any line, whatever became of it."""
    logger = logging.getLogger("findback.web")
    before = (logger.handlers[:], logger.level, logger.propagate)
    lines = io.StringIO()
    log_to(lines)
    try:
        status = flag(portal, query="canary words", page="/canary").json()["status"]
        portal.get(f"/v1/flags/{status}")
        portal.get("/flag?q=canary")
        flag(portal, query="canary", token="canary")
        flag(portal, canary="canary")
    finally:
        logger.handlers[:], level, logger.propagate = before
        logger.setLevel(level)
    routes = [json.loads(line)["route"] for line in lines.getvalue().splitlines()]
    assert routes == ["make_flag", "flag_status", "flag_form", "make_flag", "make_flag"]
    assert "canary" not in lines.getvalue()
    assert status not in lines.getvalue()


def test_flags_of_an_audience_are_seen_by_its_reviewers(team_client: Client, team_site: Site) -> None:
    """What comes in as internal is not there for who may see public things alone."""
    request = FlagRequest(query="the internal thing")
    team_site.flags.flag(request, via="mcp", audience="internal", now=team_site.now())
    (stored,) = flagged(team_site)
    assert team_client("reviewer").get(f"/items/{stored.candidate.key}").status_code == 404
    assert team_client("lead", name="bo").get(f"/items/{stored.candidate.key}").status_code == 200
