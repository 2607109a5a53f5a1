"""A team's login, against a real provider."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fastapi.testclient import TestClient

from builders.pagesettings import SECRET, team_settings
from builders.provider import RunningProvider, log_in_at_provider, run_provider
from findback.model.settings import RoleName
from findback.steps.bench import open_bench
from findback.steps.review import open_desk
from findback.web.app import create_app
from findback.web.site import Site
from findback.workspace import open_workspace

BASE = "http://127.0.0.1:8327"
GROUPS: dict[RoleName, str] = {"lead": "search-leads", "reviewer": "search-reviewers", "privacy": "privacy"}


class Clock:
    """A time that tests move."""

    def __init__(self) -> None:
        self.time = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture(scope="module")
def provider() -> Iterator[RunningProvider]:
    with run_provider(f"{BASE}/login/back") as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def client(tmp_path: Path, provider: RunningProvider, clock: Clock) -> Iterator[TestClient]:
    settings = team_settings(base=BASE, issuer=provider.issuer, groups=GROUPS)
    (tmp_path / "findback.toml").write_text(f'private = "private"\n{settings}')
    workspace = open_workspace(tmp_path, environment={SECRET: "not a secret in a test"})
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        site = Site(desk=desk, local=False, base_url=BASE, now=clock)
        with TestClient(create_app(site), base_url=BASE, follow_redirects=False) as running:
            yield running


def log_in(client: TestClient, name: str, there: str = "/queue") -> httpx2.Response:
    began = client.get("/login", params={"next": there})
    assert began.status_code == 302
    back = log_in_at_provider(began.headers["location"], name)
    parts = urlsplit(back)
    return client.get(parts.path, params={key: value[0] for key, value in parse_qs(parts.query).items()})


def test_a_reviewer_comes_in_and_goes_where_they_were_going(client: TestClient) -> None:
    """Somebody whose group has a role gets a cookie that scripts cannot read, and the page they wanted."""
    sent = client.get("/queue", headers={"accept": "text/html"})
    assert (sent.status_code, sent.headers["location"]) == (303, "/login?next=/queue")
    back = log_in(client, "rafi")
    assert (back.status_code, back.headers["location"]) == (303, "/queue")
    cookie = back.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert client.get("/queue").status_code == 200


def test_the_request_to_the_provider_carries_pkce_state_and_nonce(client: TestClient) -> None:
    """What the browser takes to the provider cannot be used by whoever reads it."""
    asked = parse_qs(urlsplit(client.get("/login").headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert all(len(asked[name][0]) >= 20 for name in ("state", "nonce", "code_challenge"))


@pytest.mark.parametrize("there", ["https://example.org/", "//example.org", "/\\example.org", "javascript:alert(1)"])
def test_nobody_is_sent_to_another_site(client: TestClient, there: str) -> None:
    """An address of another site in `next` becomes the start page."""
    assert log_in(client, "rafi", there).headers["location"] == "/"


def test_somebody_without_a_role_stays_out(client: TestClient) -> None:
    """A login at the provider is not enough: one of the groups must have a role."""
    assert log_in(client, "omar").status_code == 403
    assert client.get("/queue").status_code in (303, 401)


def test_an_answer_with_another_state_or_code_is_refused(client: TestClient) -> None:
    """A forged or repeated answer of the provider lets nobody in."""
    began = client.get("/login")
    back = urlsplit(log_in_at_provider(began.headers["location"], "rafi"))
    asked = {key: value[0] for key, value in parse_qs(back.query).items()}
    assert client.get("/login/back", params={**asked, "state": "another"}).status_code == 403
    began = client.get("/login")
    back = urlsplit(log_in_at_provider(began.headers["location"], "rafi"))
    asked = {key: value[0] for key, value in parse_qs(back.query).items()}
    assert client.get("/login/back", params={**asked, "code": "forged"}).status_code == 403
    assert client.get("/login/back", params=asked).status_code == 403
    assert client.get("/queue").status_code in (303, 401)


def test_a_forged_cookie_is_nobody(client: TestClient) -> None:
    """A cookie that no login made opens nothing."""
    client.cookies.set("findback", "x" * 43)
    assert client.get("/queue", headers={"accept": "application/json"}).status_code == 401


def test_an_idle_session_ends_after_half_an_hour(client: TestClient, clock: Clock) -> None:
    """What nobody used for thirty minutes is over; what is used goes on, and no longer than twelve hours."""
    log_in(client, "rafi")
    clock.time += timedelta(minutes=9)
    assert client.get("/queue").status_code == 200
    clock.time += timedelta(minutes=31)
    assert client.get("/queue").status_code in (303, 401)


def test_no_session_outlives_twelve_hours(client: TestClient, clock: Clock) -> None:
    """Somebody who works all day logs in again after twelve hours."""
    log_in(client, "rafi")
    for _ in range(12 * 60 // 9 - 1):
        clock.time += timedelta(minutes=9)
        last = client.get("/queue").status_code
    assert last == 200
    clock.time += timedelta(minutes=9)
    assert client.get("/queue").status_code in (303, 401)


def test_a_group_that_was_taken_away_takes_the_role_away(
    client: TestClient, clock: Clock, provider: RunningProvider
) -> None:
    """Groups are read again while somebody works, not only at the next login."""
    log_in(client, "lena")
    httpx2.get(f"{provider.issuer}/move?who=lena&to=kitchen", trust_env=False)
    assert client.get("/queue").status_code == 200
    clock.time += timedelta(minutes=11)
    assert client.get("/queue").status_code == 403
    httpx2.get(f"{provider.issuer}/move?who=lena&to=search-leads", trust_env=False)


def test_somebody_who_left_is_logged_out(client: TestClient, clock: Clock, provider: RunningProvider) -> None:
    """Whom the provider no longer knows is out within minutes."""
    log_in(client, "pia")
    assert client.get("/").status_code == 303
    httpx2.get(f"{provider.issuer}/leave?who=pia", trust_env=False)
    clock.time += timedelta(minutes=11)
    assert client.get("/", headers={"accept": "application/json"}).status_code == 401


def test_logging_out_ends_the_session_for_good(client: TestClient) -> None:
    """The cookie of a session that was logged out opens nothing any more, even when somebody kept it."""
    log_in(client, "rafi")
    kept = client.cookies["findback"]
    token = client.get("/queue").text.split('name="csrf" value="')[1].split('"')[0]
    assert client.post("/logout", data={"csrf": token}).status_code == 200
    client.cookies.set("findback", kept)
    assert client.get("/queue", headers={"accept": "application/json"}).status_code == 401
