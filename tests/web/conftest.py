"""A site over a real workbench, a small corpus, and a set with two releases."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from builders.candidates import candidate, full, line, text
from builders.pagesettings import BASE, GROUPS, SECRET, team_settings
from builders.portal import write_portal
from builders.ready import Ready, reviewed
from findback.model.candidate import Candidate, DocumentLink
from findback.model.case import Case
from findback.model.settings import RoleName
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.release import ReleaseRequest, release
from findback.steps.review import open_desk
from findback.web.app import create_app
from findback.web.oidc import Claims
from findback.web.sessions import local_visitor, start_session
from findback.web.site import Site
from findback.workspace import Workspace, open_workspace

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
TEAM = f"[review]\noverlap = 0.0\n{team_settings()}"

Client = Callable[..., TestClient]


class Clock:
    """The time of a site, moved by hand."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


def make_candidates() -> list[Candidate]:
    """Three questions: one with a thread and the resolver's link, one full of odd characters, one plain."""
    link = DocumentLink(document="howto/vpn.md", line=1, by="resolver", kind="url-in-text", created_before=True)
    thread = [line("vpn-1", "bo", text("try this, {}", "ana"), 2, role="resolver")]
    return [
        candidate("vpn", "ana", thread, query="cant get in from home since monday", links=(link,)),
        full("odd").model_copy(update={"audience": "public"}),
        candidate("badge", "cy", query="lost my card for the door"),
    ]


def make_cases() -> list[Case]:
    """Twelve cases with gold, and three that nothing answers, two of which are about one thing."""
    gap = {"judged": [], "wording": "vague"}
    return [
        *(reviewed(number) for number in range(12)),
        reviewed(20, query="how do i renew the parking permit", no_answer_reason="nobody wrote it down", **gap),
        reviewed(21, query="parking garage closed at night?", no_answer_reason="nowhere", asked="5-19", **gap),
        reviewed(22, query="who feeds the aquarium fish", no_answer_reason="nobody knows", asked="1", **gap),
    ]


def open_portal(folder: Path) -> Workspace:
    """Open the workspace in a folder; everything of it, private things included, lies in there."""
    variables = {"HOME": str(folder), "FINDBACK_PRIVATE": str(folder / "private"), SECRET: "not a secret"}
    return open_workspace(folder / "portal", environment=variables)


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace whose set has two releases, and whose workbench has candidates; to be copied."""
    folder = tmp_path_factory.mktemp("released")
    write_portal(folder / "portal", TEAM)
    made = open_portal(folder)
    cases = make_cases()
    ready = Ready(*cases[:6])
    release(made, ReleaseRequest(message="first"), ready=ready, made=NOW - timedelta(days=60))
    ready.cases |= Ready(*cases[6:]).cases
    release(made, ReleaseRequest(message="second"), ready=ready, made=NOW - timedelta(days=30))
    with open_bench(made) as bench:
        bench.put(make_candidates(), now=NOW - timedelta(days=1))
    return folder


@pytest.fixture
def workspace(tmp_path: Path, released: Path) -> Workspace:
    """A workspace whose set has two releases."""
    shutil.copytree(released, tmp_path / "site")
    return open_portal(tmp_path / "site")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make_site(workspace: Workspace, clock: Clock) -> Iterator[Callable[..., Site]]:
    """Open sites over the one workbench; all are closed at the end."""
    with ExitStack() as stack:
        key = open_workspace_key(workspace)
        bench = stack.enter_context(open_bench(workspace, key))
        desk = stack.enter_context(open_desk(workspace, bench, key=key))
        yield lambda *, local: Site(desk=desk, local=local, base_url=BASE, now=clock)


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    """The site of one person on this machine."""
    return make_site(local=True)


@pytest.fixture
def client(site: Site) -> Iterator[TestClient]:
    """Somebody logged in with every role, in local mode."""
    made = TestClient(create_app(site), base_url=BASE, headers={"accept": "text/html"}, follow_redirects=False)
    made.cookies.set(site.cookie, start_session(site, local_visitor()))
    yield made
    made.close()


@pytest.fixture
def team_site(make_site: Callable[..., Site]) -> Site:
    """The same site for a team."""
    return make_site(local=False)


@pytest.fixture
def team_client(team_site: Site) -> Iterator[Client]:
    """Return clients of a team, each logged in with the roles named; without any, a stranger."""
    app = create_app(team_site)
    made: list[TestClient] = []

    def open_client(*roles: RoleName, name: str = "ana") -> TestClient:
        one = TestClient(app, base_url=BASE, headers={"accept": "text/html"}, follow_redirects=False)
        if roles:
            claims = Claims(f"issuer {name}", name, tuple(GROUPS[role] for role in roles))
            one.cookies.set(team_site.cookie, start_session(team_site, claims))
        made.append(one)
        return one

    yield open_client
    for one in made:
        one.close()
