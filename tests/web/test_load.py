"""Many reviewers at once, on one server and on two over one database."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import httpx2
import pytest

from builders.programs import make_program
from builders.reviewload import Person, check_all, make_questions, review_all
from builders.reviewteam import Team, open_team, run_site, run_sites, write_team
from findback.workspace import Workspace

REVIEWERS = 20
CANDIDATES = 100
"""The benchmark does 2,000."""


@pytest.fixture(params=["sqlite", "postgresql"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """A workspace whose workbench lies in each database."""
    sqlite = request.param == "sqlite"
    url = str(tmp_path / "database" / "bench") if sqlite else request.getfixturevalue("postgresql_url")
    return write_team(tmp_path / "team", url)


@pytest.fixture
def two(workspace: Workspace) -> Iterator[list[Team]]:
    """Two servers with connections of their own."""
    again = open_team(workspace.root, workspace.environment["BENCH"])
    with run_sites([workspace, again]) as running:
        running[0].site.bench.put(make_questions(12), now=running[0].clock())
        yield running


def everybody(team: Team, count: int, first: int = 0) -> list[Person]:
    return [Person(f"reviewer {n}", team.log_in(f"reviewer {n}")) for n in range(first, first + count)]


def key_of(team: Team, number: int) -> str:
    return team.site.bench.list_candidates()[number].candidate.key


def token_of(page: str) -> str:
    return page.split('name="csrf" value="')[1].partition('"')[0]


def test_twenty_reviewers_lose_and_double_nothing(workspace: Workspace) -> None:
    """Every decision the server acknowledged is stored once, and every candidate is where its reviews put it."""
    with run_site(workspace) as team:
        team.site.bench.put(make_questions(CANDIDATES), now=team.clock())
        people = everybody(team, REVIEWERS)
        review_all(people)
        states = check_all(team.site, people)
        assert sum(states.values()) == CANDIDATES
        assert states["ready"] > CANDIDATES / 2
        assert set(states) <= {"ready", "rejected", "second-opinion"}
        assert sum(bool(person.told) for person in people) >= REVIEWERS / 2


def test_two_servers_over_one_database_agree(two: list[Team]) -> None:
    """Reviewers on two servers decide at the same time; both servers count and show the same."""
    one, other = two
    people = [*everybody(one, 4), *everybody(other, 4, first=4)]
    review_all(people)
    assert check_all(one.site, people) == check_all(other.site, people)
    rows = [[(row.candidate.key, row.state, row.version) for row in team.site.bench.list_candidates()] for team in two]
    assert rows[0] == rows[1]


def test_a_review_goes_on_at_another_server(two: list[Team]) -> None:
    """A login and a draft of one server are there on the other, and what it takes back is gone on the first."""
    one, other = two
    here = one.log_in("ana")
    there = other.open_browser(cookies=dict(here.cookies))
    address = f"/items/{key_of(one, 1)}"
    csrf = token_of(here.get(address).text)
    assert here.post(address, data={"csrf": csrf, "revision": "0", "do": "wording-vague"}).status_code == 303
    page = there.get(address).text
    assert 'aria-pressed="true" aria-describedby="meaning-2">vague' in page
    assert token_of(page) == csrf
    assert there.post(address, data={"csrf": csrf, "revision": "1", "do": "undo"}).status_code == 303
    assert 'aria-pressed="true" aria-describedby="meaning-2"' not in here.get(address).text


def test_of_two_windows_on_two_servers_one_is_told_of_the_other(two: list[Team]) -> None:
    """Of two changes made from one revision one is kept; the other is answered 409 with both versions on the page."""
    clients = [team.log_in("ana") for team in two]
    barrier = Barrier(2)
    for round_ in range(4):
        address = f"/items/{key_of(two[0], round_)}"
        tokens = [token_of(client.get(address).text) for client in clients]

        def change(number: int, address: str = address, tokens: list[str] = tokens) -> httpx2.Response:
            barrier.wait()
            wording = ("wording-plain", "wording-vague")[number]
            return clients[number].post(address, data={"csrf": tokens[number], "revision": "0", "do": wording})

        answers = _at_once(change)
        assert sorted(answer.status_code for answer in answers) == [303, 409]
        refused = 0 if answers[0].status_code == 409 else 1
        said, kept = (("plain", "vague"), ("vague", "plain"))[refused]
        page = answers[refused].text
        assert f"what: wording-{said}" in page
        assert page.split('aria-pressed="true"')[1].split(">")[1].startswith(kept)
        (stored,) = two[0].site.bench.reviews_of(key_of(two[0], round_))
        assert (stored.revision, stored.review.wording) == (1, kept)


def test_a_program_is_told_of_a_conflict(two: list[Team]) -> None:
    """A review that was changed at the other server is answered with 409 and the one error shape."""
    one = two[0]
    token = make_program(one.site, "reviewer")
    path = f"/v1/items/{key_of(one, 2)}/review"
    body = {"revision": 0, "review": {"wording": "plain"}}
    headers = {"authorization": f"Bearer {token}"}
    first, second = (team.open_browser(headers=headers).put(path, json=body) for team in two)
    assert (first.status_code, first.json()["revision"]) == (200, 1)
    assert (second.status_code, second.json()["code"]) == (409, "conflict")


def test_a_reservation_holds_at_both_servers_until_it_is_over(two: list[Team]) -> None:
    """Who opened a candidate has it for half an hour; at the other server others are given the next one till then."""
    one, other = two
    ana, bo = one.log_in("ana"), other.log_in("bo")
    first, second = (f"/items/{key_of(one, number)}" for number in (0, 1))
    ana.get(first)
    assert "somebody else is working on it" in bo.get(first).text
    csrf = token_of(bo.get("/queue").text)
    assert bo.post("/next", data={"csrf": csrf}).headers["location"] == second
    other.clock.ahead = timedelta(minutes=29)
    assert "somebody else is working on it" in other.log_in("bo").get(first).text
    other.clock.ahead = timedelta(minutes=31)
    assert "somebody else is working on it" not in other.log_in("bo").get(first).text


def test_who_asks_at_the_same_moment_gets_another_candidate(two: list[Team]) -> None:
    """Eight people who press "next" at once, on two servers, are given eight candidates."""
    clients = [two[number % 2].log_in(f"reviewer {number}") for number in range(8)]
    tokens = [token_of(client.get("/queue").text) for client in clients]
    barrier = Barrier(8)

    def press(number: int) -> httpx2.Response:
        barrier.wait()
        return clients[number].post("/next", data={"csrf": tokens[number]})

    given = [answer.headers["location"] for answer in _at_once(press, 8)]
    assert len(set(given)) == 8
    assert all(address.startswith("/items/") for address in given)


def test_what_is_skipped_is_free_for_others(two: list[Team]) -> None:
    """Skipping a candidate lets go of it."""
    one, other = two
    ana, bo = one.log_in("ana"), other.log_in("bo")
    first = f"/items/{key_of(one, 0)}"
    csrf = token_of(ana.get(first).text)
    assert ana.post(first, data={"csrf": csrf, "do": "skip"}).status_code == 303
    assert "somebody else is working on it" not in bo.get(first).text


def _at_once(call: Callable[[int], httpx2.Response], count: int = 2) -> list[httpx2.Response]:
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(call, range(count)))
