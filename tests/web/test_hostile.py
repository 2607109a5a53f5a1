"""Texts that want to be more than texts, in every field a page can show."""

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from builders.candidates import candidate, digest, line, span
from builders.forms import Shown, assert_inert, csrf_of
from builders.fuzzforms import routes_of
from builders.hostile import HOSTILE, refilled
from builders.pagesettings import SECRET, team_settings
from builders.ready import Ready, reviewed
from builders.reviewteam import Clock, run_site
from findback.errors import DataError
from findback.evalset.cases import read_cases
from findback.model.candidate import Candidate, DocumentLink, RedactedText, RuleHit
from findback.model.case import Judgement
from findback.model.review import DroppedLink, Review, SpanDecision
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.release import ReleaseRequest, release
from findback.steps.review import open_desk
from findback.web import render
from findback.web.access import ROLES
from findback.web.app import create_app
from findback.web.jobs import keep_failure
from findback.web.oidc import Claims
from findback.web.sessions import start_session
from findback.web.site import Site
from findback.workbench.asks import AskAnswer
from findback.workbench.reviews import SaveOptions
from findback.workspace import Workspace, open_workspace

BASE = "http://127.0.0.1"
SHORT = "<fb-x onclick=alert(1)>\"'><img src=x onerror=alert(2)> fb{{7*7}}fb {%if%} \u202e\x1b[31m\x00"
"""For what is at most 200 characters long."""
LONG = f"{HOSTILE} {SHORT} </textarea></option></select></button></title><svg onload=alert(3)>"
HALF = "\ud83d half a character"
WORD = "w" * 20_000
MEGABYTE = "<b>x</b>" * 125_000
FILE = "howto/<img src=x onerror=alert(4)> {{7*7}}.md"
SETTINGS = f"""
[corpus]
path = "docs"
[review.wordings]
"<fb-x onclick=alert(5)>" = "<script>alert(6)</script>{{{{7*7}}}} \\u202e"
{team_settings(groups=dict.fromkeys(ROLES, "all"))}
[serve.audiences]
lead = ["public", "internal"]
[flags]
token = "public-widget-token"
"""
ME = "issuer|me"


def hostile(name: str, words: str, **more: Any) -> Candidate:
    """A candidate that holds the words wherever it can hold any."""
    spans = (
        span(0, 10, rule=SHORT, version=SHORT),
        span(12, 18, type=SHORT, rule=SHORT, version=SHORT, band="suggested"),
    )
    body = RedactedText(text=f"⟦PERSON_1⟧ {words}{HALF}", spans=spans, raw_hmac=digest(name))
    values: dict[str, Any] = {
        "query": body,
        "title": body,
        "source": SHORT,
        "rules": (RuleHit(rule=SHORT, strength="weak", evidence=LONG[:500]),),
        "links": (
            DocumentLink(document=SHORT, line=1, by="resolver", kind=SHORT),
            DocumentLink(document=FILE, line=1, by="resolver", kind=SHORT),
        ),
        "selected_on": SHORT,
        "language": SHORT + HALF,
        "seen_on": SHORT + HALF,
        "no_answer_hint": LONG,
        "file": LONG + HALF,
        "cue_line": 1,
        **more,
    }
    return candidate(name, "ana", [line(f"{name}-1", "bo", body, 2, role="resolver", edited=True)], **values)


def review(wording: str, **more: Any) -> Review:
    """A review that holds hostile words wherever it can."""
    return Review(
        wording=wording,
        judged=(
            Judgement(doc=SHORT, grade=3, anchor=LONG, found_by=SHORT),
            Judgement(doc=FILE, grade=2, part=2, anchor=LONG, found_by=SHORT),
        ),
        dropped=(DroppedLink(document=f"{SHORT}2", reason=LONG[:2_000]),),
        spans=(
            SpanDecision(place="query", start=30, end=33, type="PERSON", action="redact"),
            SpanDecision(place="query", start=12, end=18, type="PERSON", action="keep"),
            SpanDecision(place="query", start=0, end=10, type="PERSON", action="restore", original=LONG[:1_000]),
        ),
        note=LONG,
        tags=(SHORT,),
        **more,
    )


def words_of(path: str) -> str:
    """Return hostile words that fit a field of a case."""
    return LONG if path in ("query", "no_answer_reason", "judged.doc", "judged.anchor") else SHORT


class Set(NamedTuple):
    """What the pages are asked for."""

    keys: list[str]
    huge: str
    """A candidate of a megabyte."""
    cases: list[str]
    ask: str
    job: int


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Documents and a set of cases with hostile names and texts."""
    root = tmp_path / "portal"
    pages = {
        FILE: f"# {LONG}\n\n{LONG}",
        "howto/badge.md": "# Badge\n\nA lost badge is blocked.",
        "howto/vpn.md": f"# VPN\n\n{WORD} {LONG}",
    }
    for name, text in pages.items():
        (root / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "docs" / name).write_text(text.replace("\x00", ""), "utf-8")
    (root / "findback.toml").write_text(SETTINGS, "utf-8")
    variables = {"HOME": str(tmp_path), "FINDBACK_PRIVATE": str(tmp_path / "private"), SECRET: "none of it"}
    made = open_workspace(root, environment=variables)
    gold = [{"doc": "howto/badge.md", "grade": 3, "found_by": "resolver"}]
    gap = reviewed(2, no_answer_reason="nobody wrote it", judged=[])
    release(made, ReleaseRequest(message="first"), ready=Ready(reviewed(1, judged=gold), gap), made=Clock()())
    head = made.evalset / "cases.jsonl"
    skip = frozenset({"id", "language", "seen_on", "cluster"})
    bad = [refilled(one, words_of, skip=skip).model_copy(update={"tags": (SHORT,)}) for one in read_cases(head)]
    bad[1] = bad[1].model_copy(update={"no_answer_reason": LONG})
    head.write_text("".join(f"{one.model_dump_json()}\n" for one in bad), "utf-8")
    return made


def fill(site: Site) -> Set:
    """Put hostile words into everything the workbench keeps."""
    bench, now = site.bench, site.now()
    made = [
        hostile("one", LONG),
        hostile("long", WORD + LONG, audience="internal"),
        hostile("huge", LONG + MEGABYTE),
        candidate("plain", query="where is my badge"),
    ]
    bench.put(made, now=now)
    huge = made[2].key
    keys = [one.key for one in made if one.key != huge]
    for number, key in enumerate([*keys[:2], huge]):
        for who, stage in (("x", "submitted"), (ME, "draft"), ("y", "submitted")):
            said = review(SHORT, no_answer_reason=LONG[:2_000], later_reason=LONG[:2_000] if number == 2 else None)
            bench.save_review(key, said, SaveOptions(who, "reviewer", stage, 0), now=now)  # type: ignore[arg-type]
        answered = bench.add_ask(key, reviewer=ME, now=now, until=now + timedelta(days=1))
        bench.answer_ask(answered, AskAnswer(documents=(SHORT, FILE), note=LONG[:2_000]), now=now)
    bench.save_review(keys[0], review(SHORT), SaveOptions(ME, "reviewer", "submitted", 1), now=now)
    cases = [one.id for one in read_cases(site.workspace.evalset / "cases.jsonl")]
    for case in cases:
        for what in ("changed", "questioned"):
            bench.add_case_change(
                case,
                what,
                role="lead",
                now=now,
                why=LONG,
                reviewer="x",
                before={"judged": [{"doc": LONG, "grade": LONG}], "wording": LONG, "status": LONG},
                after={"document": LONG, "said": "also-right", "no_answer_reason": LONG},
            )
    bench.add_api_token(SHORT, reviewer=ME, scopes=("reviewer",), now=now, until=now + timedelta(days=1))
    job = bench.add_job("evaluate", {}, reviewer=ME, now=now)
    bench.start_job(now=now, stale_before=now, number=job)
    keep_failure(site, job, DataError(LONG, hint=LONG))
    bench.finish_job(job, "failed", now=now, error=DataError.code)
    return Set(keys, huge, cases, bench.add_ask(keys[0], reviewer=ME, now=now, until=now + timedelta(days=1)), job)


@pytest.fixture
def site(workspace: Workspace) -> Iterator[Site]:
    with ExitStack() as stack:
        key = open_workspace_key(workspace)
        bench = stack.enter_context(open_bench(workspace, key))
        desk = stack.enter_context(open_desk(workspace, bench, key=key))
        yield Site(desk=desk, local=False, base_url=BASE)


@pytest.fixture
def stored(site: Site) -> Set:
    return fill(site)


@pytest.fixture
def client(site: Site) -> Iterator[TestClient]:
    made = TestClient(create_app(site), base_url=BASE, headers={"accept": "text/html"}, follow_redirects=False)
    made.cookies.set(site.cookie, start_session(site, Claims(ME, SHORT, ("all",))))
    yield made
    made.close()


def names_of_templates() -> tuple[set[str], set[str]]:
    """Return the elements and attributes that findback's own pages are made of."""
    folder = Path(render.__file__).parent / "templates"
    source = "".join(file.read_text("utf-8") for file in folder.glob("*.html"))
    flags = {
        "hidden",
        "required",
        "checked",
        "selected",
        "open",
        "multiple",
        "data-save",
        "data-script",
        "data-chosen",
        "download",
        "readonly",
    }
    return set(re.findall(r"<([a-z][a-z0-9]*)", source)), flags | set(re.findall(r"[\s}]([a-z][a-z-]*)=", source))


ELEMENTS, ATTRIBUTES = names_of_templates()


def assert_text_only(page: str, where: str = "") -> Shown:
    """Fail where a page has an element, an attribute or a computed value that no template of findback's wrote."""
    shown = Shown(page)
    odd = re.search("[\x00\x1b\x9b\u202e\u2066]", shown.text)
    assert odd is None, (where, shown.text[odd.start() - 80 : odd.end()])
    assert_inert(page)
    for tag, attributes in shown.elements:
        assert tag in ELEMENTS, tag
        assert set(attributes) <= ATTRIBUTES, (tag, attributes)
    assert "fb49fb" not in page
    assert len([tag for tag, _ in shown.elements if tag == "script"]) == 1
    assert {tag for tag, _ in shown.elements} & {"img", "svg", "fb-x", "style", "b"} == set()
    return shown


def test_the_templates_use_no_element_that_the_texts_would_make() -> None:
    """What the other tests look for is nothing that findback itself writes."""
    assert not ELEMENTS & {"svg", "style", "iframe", "object", "embed", "base", "math", "b", "i"}
    assert not [name for name in ATTRIBUTES if name.startswith("on") or name in ("style", "srcdoc", "formaction")]


def addresses(stored: Set) -> Iterator[str]:
    """Yield every page, with hostile words in its address as well."""
    bad = quote(SHORT)
    yield from ("/queue", f"/queue?sources={bad}&rules={bad}&wordings={bad}&languages={bad}", "/week", "/releases")
    yield from ("/cases", f"/cases?words={bad}&wording={bad}", "/scores", "/gaps", "/releases/diff?before=1", "/jobs")
    yield from (
        "/privacy",
        "/tokens",
        "/agreement",
        "/glossary",
        f"/jobs/{stored.job}",
        f"/ask/{stored.ask}",
        f"/week?until={bad[:40]}",
        f"/flag?q={bad}&page={bad}",
        f"/flag/{quote(SHORT[:50], safe='')}",
    )
    for case in stored.cases:
        yield f"/cases/{case}"
    for key in stored.keys:
        yield from (f"/items/{key}", f"/items/{key}?opened=0&opened=1&week={bad[:30]}&q={bad}&{bad}={bad}")
        yield f"/items/{key}/document?id={quote(FILE, safe='')}&{bad}={bad}"
        yield f"/items/{key}?q={quote(FILE, safe='')}"
    yield f"/items/{stored.huge}"
    for path in ("/items/{}", "/cases/{}", "/ask/{}", "/jobs/{}", "/{}", "/scores?evaluation={}", "/static/{}"):
        yield path.format(quote(SHORT, safe=""))


def test_hostile_texts_are_texts_on_every_page(client: TestClient, stored: Set, site: Site) -> None:
    """Scripts, handlers, tags, template syntax, NULs and reordering marks in every field make nothing of a page."""
    asked, words = 0, 0
    for address in addresses(stored):
        answer = client.get(address)
        assert answer.status_code in (200, 404, 422), (address, answer.status_code)
        assert answer.headers["content-type"].startswith("text/html"), address
        shown = assert_text_only(answer.text, address)
        words += "onclick=alert(1)" in shown.text
        asked += 1
    # They are shown, not left out.
    assert words > asked / 3
    paths = {route.path for route in routes_of(client.app) if route.method == "GET"}  # type: ignore[arg-type]
    known = [re.compile(re.sub(r"\{\w+\}", "[^/]+", path)) for path in paths if not path.startswith("/v1")]
    seen = {one.pattern for one in known for address in addresses(stored) if one.fullmatch(address.partition("?")[0])}
    left = {one.pattern for one in known} - seen
    assert left <= {
        "/", "/healthz", "/metrics", "/enter", "/login", "/login/back", "/gaps/file", "/scores/chart.svg",
        "/flag.js", "/scores/misses", "/scores/report", "/cases/[^/]+/document", "/items/[^/]+/original",
    }, left  # fmt: skip


def test_hostile_texts_that_somebody_sends_are_texts_in_the_answer(client: TestClient, stored: Set) -> None:
    """What a refused form said comes back as text: a conflict, a fault, a form to be corrected."""
    token, bad = csrf_of(client), SHORT
    key, case = stored.keys[0], stored.cases[0]
    item = {"do": "drop", "document": bad, "reason": bad, "anchor": bad, "words": bad, "type": bad[:40]}
    forms: list[tuple[str, dict[str, Any], tuple[int, ...]]] = [
        (f"/items/{key}", {**item, "revision": 77}, (409,)),
        (f"/items/{key}", {**item, "do": bad[:100], "revision": 2}, (422,)),
        (f"/items/{key}", {**item, "do": f"wording-{bad}"[:100], "revision": 1}, (409,)),
        (f"/items/{key}", {**item, "do": "redact", "place": "query", "start": 30, "end": 34}, (409, 422)),
        (f"/items/{stored.keys[2]}", {"do": "reject", "reason": bad, "revision": 5}, (409,)),
        (f"/cases/{case}", {"do": bad[:40], "why": bad, "search": bad, "reason": bad, "wording": bad}, (422,)),
        (f"/cases/{case}", {"do": "search", "search": bad, "why": bad, "reason": bad, "doc": bad, "grade": "3",
                            "part": 1, "anchor": bad, "found_by": bad}, (200, 422)),
        (f"/cases/{case}", {"do": "label", "seen": bad[:60], "why": bad, "doc": bad, "grade": "3", "part": 1,
                            "anchor": bad, "found_by": bad}, (409, 422)),
        (f"/cases/{case}/withdraw", {"reason": bad}, (422,)),
        (f"/ask/{stored.ask}", {"helped": "some", "documents": bad * 30, "note": bad}, (422,)),
        ("/tokens", {"name": bad, "days": 7}, (422,)),
        ("/tokens", {"name": bad, "days": 7, "scopes": "reviewer"}, (200,)),
        ("/privacy/purge", {"person": bad, "channel": bad}, (422,)),
        ("/releases", {"do": "release", "message": ""}, (422,)),
    ]  # fmt: skip
    for path, form, statuses in forms:
        answer = client.post(path, data={**form, "csrf": token})
        assert answer.status_code in statuses, (path, form, answer.status_code, Shown(answer.text).text)
        assert_text_only(answer.text)


def test_programs_get_hostile_texts_as_texts(client: TestClient, stored: Set) -> None:
    """JSON holds the words with what steers a terminal or reorders shown as signs; no browser takes it for a page."""
    for path in ("/v1/queue", *(f"/v1/items/{key}" for key in stored.keys)):
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not set("\x00\x1b\u202e\ud800") & set(_strings(answer.json()))


def _strings(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(_strings(one) for one in value.values())
    return "".join(map(_strings, value)) if isinstance(value, list) else value if isinstance(value, str) else ""


def test_a_file_to_keep_is_no_page(client: TestClient, stored: Set) -> None:
    """The list of gaps is a download, which no browser takes for a page; as Markdown it forms no markup of theirs."""
    for kind in ("md", "csv"):
        answer = client.get("/gaps/file", params={"format": kind})
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["content-type"].startswith(("text/markdown", "text/csv"))
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "alert(1)" in answer.text.replace("\\", "")
    listed = client.get("/gaps/file", params={"format": "md"}).text
    assert "<script" not in listed
    assert not set("\x00\x1b\u202e") & set(listed)


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="browser-missing: chromium is not installed")
def test_hostile_texts_do_nothing_in_a_browser(workspace: Workspace) -> None:
    """Chromium opens every page: no dialog, no element of theirs, no request elsewhere, nothing on the console."""
    api = pytest.importorskip("playwright.sync_api", reason="browser-missing: playwright is not installed")
    said: list[str] = []
    with run_site(workspace) as team, api.sync_playwright() as playwright:
        stored = fill(team.site)
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        context = browser.new_context()
        token = start_session(team.site, Claims(ME, SHORT, ("all",)))
        context.add_cookies([{"name": team.site.cookie, "value": token, "url": team.address}])
        page = context.new_page()
        page.on("dialog", lambda dialog: (said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: said.append(f"error {error}"))
        page.on(
            "console", lambda line: said.append(line.text) if "the server responded with" not in line.text else None
        )
        page.on("request", lambda asked: said.append(asked.url) if not asked.url.startswith(team.address) else None)
        for address in addresses(stored):
            page.goto(f"{team.address}{address}")
            found = page.evaluate(
                "document.querySelectorAll('img, svg, iframe, fb-x, b, style, [onclick], [onerror], [onload]').length"
            )
            assert found == 0, address
            assert page.evaluate("document.querySelectorAll('script').length") == 1, address
            assert page.evaluate("document.querySelectorAll('main').length") == 1, address
        # What the page's own script puts in place of the page is no more than a page.
        page.goto(f"{team.address}/items/{stored.keys[0]}")
        with page.expect_response(lambda answer: answer.request.method == "POST"):
            page.locator("form[data-save] button[value='wording-plain']").click()
        page.wait_for_selector("#notice:not([hidden])")
        assert page.evaluate("document.querySelectorAll('img, fb-x, svg').length") == 0
        browser.close()
    assert said == []
