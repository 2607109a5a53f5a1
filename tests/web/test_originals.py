"""Showing what stands behind a placeholder: as a job, once, and kept nowhere."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi.testclient import TestClient

from builders.forms import assert_inert, csrf_of, send
from builders.hostile import HOSTILE
from builders.pagesettings import BASE, GROUPS, SECRET, team_settings
from builders.reread import open_portal
from findback.steps import revieworiginal
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.mine import MineRequest, mine
from findback.steps.review import open_desk
from findback.steps.reviewspans import SpanPlace
from findback.web import jobs, originals
from findback.web.app import create_app
from findback.web.jobs import Worker
from findback.web.oidc import Claims
from findback.web.sessions import start_session
from findback.web.site import Site
from findback.workspace import open_workspace

WORDS = "Minh Tran"


class Page(NamedTuple):
    site: Site
    client: TestClient
    key: str

    @property
    def worker(self) -> Worker:
        return self.client.app.state.worker  # type: ignore[attr-defined,no-any-return]

    def log_in(self, name: str) -> TestClient:
        """Return a browser of another reviewer."""
        made = TestClient(self.client.app, base_url=BASE, headers={"accept": "text/html"}, follow_redirects=False)
        claims = Claims(f"issuer|{name}", name, (GROUPS["reviewer"],))
        made.cookies.set(self.site.cookie, start_session(self.site, claims))
        return made

    def ask(self, **more: Any) -> str:
        """Ask for the person's name in the question; return where that leads."""
        page = self.client.get(f"/items/{self.key}").text
        form = [one for one in re.findall(r"<form.*?</form>", page, re.DOTALL) if "/original" in one][-1]
        fields = dict(re.findall(r'name="(place|position|start|end)" value="([^"]*)"', form))
        sent = send(self.client, f"/items/{self.key}/original", **fields, do="original", reason="a product?", **more)
        assert sent.status_code == 303
        return str(sent.headers["location"])

    def everything_kept(self) -> bytes:
        private = self.site.workspace.private
        return b"".join(one.read_bytes() for one in private.rglob("*") if one.is_file())

    def outcomes(self) -> list[Any]:
        return [one.details["outcome"] for one in self.site.bench.events() if one.kind == "original"]


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    workspace, export = open_portal(tmp_path, tmp_path / "slack.zip", packed=True, settings=team_settings())
    mine(workspace, MineRequest(exports=(export,)))
    workspace = open_workspace(workspace.root, environment={**workspace.environment, SECRET: "none of it"})
    key = open_workspace_key(workspace)
    with open_bench(workspace, key) as bench, open_desk(workspace, bench, key=key) as desk:
        site = Site(desk=desk, local=False, base_url=BASE)
        app = create_app(site)
        made = TestClient(app, base_url=BASE, headers={"accept": "text/html"}, follow_redirects=False)
        made.cookies.set(site.cookie, start_session(site, Claims("issuer|ana", "ana", (GROUPS["reviewer"],))))
        (stored,) = bench.list_candidates()
        yield Page(site, made, stored.candidate.key)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """An export that takes long to read: until the event is set, a thread of it comes now and then."""
    go_on = threading.Event()
    real = revieworiginal.read_raw

    def read(*given: Any) -> Any:
        progress = given[-1]
        progress.start("reading", None)
        while not go_on.wait(0.02):
            progress.advance()
        return real(*given)

    monkeypatch.setattr(revieworiginal, "read_raw", read)
    monkeypatch.setattr(jobs, "SOON", 0.1)
    monkeypatch.setattr(jobs, "BEAT", 0.05)
    yield go_on
    go_on.set()


def test_words_are_shown_once_and_can_be_given_back(page: Page) -> None:
    """The page that shows them is not stored, a second look is told so, and giving back needs no second reading."""
    there = page.ask()
    shown = page.client.get(there)
    assert WORDS in shown.text
    assert shown.headers["cache-control"] == "no-store"
    again = page.client.get(there)
    assert again.status_code == 404
    assert WORDS not in again.text
    assert "shown once" in again.text
    assert WORDS.encode() not in page.everything_kept()
    assert page.outcomes() == ["asked", "shown"]
    (number,) = re.findall(r'name="job" value="(\d+)"', shown.text)
    fields = {"do": "restore", "job": number, "revision": 0}
    assert send(page.client, f"/items/{page.key}", **fields).status_code == 303
    assert WORDS in page.client.get(f"/items/{page.key}").text
    assert page.site.bench.job(int(number)).request == {}


def test_words_are_for_whoever_asked(page: Page) -> None:
    """Neither the page of the job nor giving back works for a colleague, nor for another candidate."""
    there = page.ask()
    number = int(there.rpartition("=")[2])
    other = page.log_in("bo")
    assert other.get(there).status_code == 404
    assert other.get(f"/jobs/{number}").status_code == 404
    assert f"/jobs/{number}" not in page.log_in("cy").get("/jobs").text
    page.client.get(there)
    refused = send(other, f"/items/{page.key}", do="restore", job=number, revision=0)
    assert refused.status_code == 422
    assert WORDS not in refused.text


def test_a_long_reading_shows_how_far_it_is(page: Page, slow: threading.Event) -> None:
    """A page that loads itself, without a script: progress, then the words; the queue's filters come along."""
    sent = page.ask()
    waiting = page.client.get(sent)
    assert 'http-equiv="refresh"' in waiting.text
    assert waiting.headers["cache-control"] == "no-store"
    assert "Cancel" in waiting.text
    number = int(sent.rpartition("=")[2])
    for _ in range(200):
        if "threads so far" in page.client.get(sent).text:
            break
        threading.Event().wait(0.05)
    else:
        pytest.fail("no progress came")
    slow.set()
    assert page.worker.wait_for(number, 20).state == "done"
    assert WORDS in page.client.get(sent).text


def test_a_long_reading_can_be_cancelled(page: Page, slow: threading.Event) -> None:
    """It stops at its next step, and nothing is shown; nobody else can stop it."""
    there = page.ask()
    number = int(there.rpartition("=")[2])
    theirs = page.log_in("bo")
    assert send(theirs, f"/items/{page.key}/original", do="cancel", job=number).status_code == 404
    assert page.site.bench.job(number).state == "running"
    back = send(page.client, f"/items/{page.key}/original", do="cancel", job=number)
    assert (back.status_code, back.headers["location"]) == (303, f"/items/{page.key}")
    assert page.worker.wait_for(number, 20).state == "cancelled"
    assert "nothing was shown" in page.client.get(there).text
    assert page.outcomes() == ["asked"]
    assert page.site.bench.job(number).request == {}


def test_a_reading_goes_on_at_the_next_server(page: Page, slow: threading.Event) -> None:
    """A server that is stopped leaves it to the next, which has the words for whoever asked there."""
    there = page.ask()
    number = int(there.rpartition("=")[2])
    page.worker.stop()
    assert page.site.bench.job(number).state == "running"
    slow.set()
    next_one = create_app(Site(desk=page.site.desk, local=False, base_url=BASE, now=page.site.now))
    page.site.bench.beat_job(number, done=0, total=None, now=page.site.now() - 2 * jobs.STALE)
    assert next_one.state.worker.work_once()
    client = TestClient(next_one, base_url=BASE, headers={"accept": "text/html"}, follow_redirects=False)
    client.cookies.set(page.site.cookie, page.client.cookies[page.site.cookie])
    assert page.client.get(there).status_code == 404
    assert WORDS in client.get(there).text


def test_words_that_nobody_comes_for_are_gone_after_ten_minutes(page: Page) -> None:
    """They lie in memory for a while and no longer, and are asked for again."""
    there = page.ask()
    number = int(there.rpartition("=")[2])
    late = page.site.now() + originals.KEPT
    assert page.site.originals.show(number, "issuer|ana", page.key, now=late) is None
    assert page.client.get(there).status_code == 404
    assert page.outcomes() == ["asked"]


def test_words_are_only_words(page: Page) -> None:
    """Whatever stood in the export is text on the page."""
    number = int(page.ask().rpartition("=")[2])
    at = SpanPlace("query", 0, 0, 3)
    page.site.originals.put(number, "issuer|ana", page.key, at, HOSTILE, now=page.site.now())
    assert_inert(page.client.get(f"/items/{page.key}/original?job={number}").text)


def test_an_export_that_is_gone_is_said(page: Page) -> None:
    """The words cannot be read: the page says what is left to do, and the log that nothing was shown."""
    for one in page.site.workspace.root.parent.glob("slack.zip"):
        one.unlink()
    answer = page.client.get(page.ask())
    assert answer.status_code == 404
    assert "keep the placeholder" in answer.text
    assert page.outcomes() == ["asked", "unreadable"]


def test_a_number_that_is_no_job_of_this_kind_opens_nothing(page: Page) -> None:
    """Other jobs, missing ones and nonsense are all the same."""
    number = page.site.bench.add_job("gaps", {}, reviewer="issuer|ana", now=page.site.now())
    for asked, status in ((number, 404), (10**6, 404), (0, 422), ("x", 422)):
        assert page.client.get(f"/items/{page.key}/original", params={"job": asked}).status_code == status
    csrf = csrf_of(page.client)
    answer = page.client.post(f"/items/{page.key}/original", data={"csrf": csrf, "do": "cancel", "job": number})
    assert answer.status_code == 404
