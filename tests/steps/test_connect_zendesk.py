"""Zendesk read by its incremental export, from an account of this machine that answers like Zendesk."""

import random
import string
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders.loopback import serve
from builders.portal import write_portal
from builders.zendeskapi import SITE, ZendeskAccount
from findback.errors import EngineError, SettingsError
from findback.sources.connectors.zendesk_api import ZendeskApi
from findback.steps import mine as mining
from findback.steps.bench import open_bench
from findback.steps.erase import ExcludeRequest, exclude
from findback.steps.mine import Mined, MineRequest, mine
from findback.workspace import Workspace, open_workspace

NOW = datetime(2026, 9, 21, 12, tzinfo=UTC)
USER = "desk@example.org"


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mining, "now", lambda: NOW)


@pytest.fixture
def token() -> str:
    return "".join(random.choices(string.ascii_letters, k=40))


@pytest.fixture
def zendesk(token: str) -> ZendeskAccount:
    account = ZendeskAccount(USER, token)
    account.person(1, "Minh Tran")
    account.person(2, "Anja Roth", role="agent")
    account.person(3, "Ola Berg", role="agent")
    account.ticket(11, 1, 2, "I lost my card, ask Ola Berg how to block it", "howto/badge", "2026-09-01")
    account.ticket(12, 1, 2, "how do I get in from home", "howto/vpn", "2026-09-02")
    account.ticket(13, 1, 2, "where do I book time off", "policies/leave", "2026-09-03")
    account.ticket(14, 1, 2, "is business class fine", "policies/travel", "2026-09-04", status="open")
    return account


@pytest.fixture
def address(zendesk: ZendeskAccount) -> Iterator[str]:
    with serve(zendesk) as address:
        yield address


def make_workspace(tmp_path: Path, address: str, token: str) -> Workspace:
    table = (
        f"[connectors.desk]\nkind = 'zendesk'\ntoken = 'env:DESK_TOKEN'\nuser = 'env:DESK_USER'\nurl = '{address}'\n"
    )
    root = write_portal(tmp_path / "portal", f"base_url = '{SITE}/'\n[mining]\nnames = false\n{table}")
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "DESK_TOKEN": token, "DESK_USER": USER}
    return open_workspace(root, environment=environment)


@pytest.fixture
def workspace(tmp_path: Path, address: str, token: str) -> Workspace:
    return make_workspace(tmp_path, address, token)


def run(workspace: Workspace, **more: Any) -> Mined:
    return mine(workspace, MineRequest(connector=("desk",), **more), ask=lambda _: True)


def queries(workspace: Workspace) -> list[str]:
    with open_bench(workspace) as bench:
        return sorted(one.candidate.query.text for one in bench.list_candidates())


SOLVED = ["I lost my card, ask ⟦PERSON_1⟧ how to block it", "how do I get in from home", "where do I book time off"]


def test_solved_tickets_become_candidates(workspace: Workspace, zendesk: ZendeskAccount) -> None:
    """Tickets solved with a page are candidates, an agent who is only talked about is redacted; open ones wait."""
    mined = run(workspace)
    assert mined.stored == {"new": 3}
    assert queries(workspace) == SOLVED
    assert mined.exports[0].skipped == {"tickets not solved yet, which come again when they are": 1}
    assert "tickets/14/audits.json" not in [path for path, _ in zendesk.calls]


def test_second_run_begins_at_the_cursor(workspace: Workspace, zendesk: ZendeskAccount) -> None:
    """What was read is not asked for again; a ticket that was solved since comes in."""
    run(workspace)
    zendesk.calls.clear()
    zendesk.ticket(14, 1, 2, "is business class fine", "policies/travel", "2026-09-20")
    assert run(workspace).stored == {"new": 1}
    asked = [query.get("cursor") for path, query in zendesk.calls if path.startswith("incremental")]
    assert asked == ["c4"]


def test_repeated_tickets_count_once(workspace: Workspace, zendesk: ZendeskAccount) -> None:
    """Pages that overlap and tickets that changed twice give each ticket once."""
    zendesk.repeats = 1
    zendesk.log.append(zendesk.log[0] | {"updated_at": "2026-09-05T10:00:00Z"})
    run(workspace)
    assert queries(workspace) == SOLVED


def test_deleted_ticket_leaves_the_workbench(workspace: Workspace, zendesk: ZendeskAccount) -> None:
    """A ticket that the export later calls deleted, and one whose audits are gone, are taken out again."""
    run(workspace)
    zendesk.log.append({"id": 11, "status": "deleted", "requester_id": 1, "assignee_id": 2, "subject": "SCRUBBED"})
    zendesk.log.append(zendesk.log[1] | {"updated_at": "2026-09-06T10:00:00Z"})
    del zendesk.events[12]
    mined = run(workspace)
    assert mined.exports[0].deleted == {"questions": 2}
    assert queries(workspace) == ["where do I book time off"]


class Killed(BaseException):
    """Stands for the end of the process."""


def test_killed_run_goes_on_where_it_was(
    workspace: Workspace, zendesk: ZendeskAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that dies in its second page has stored the first; the next begins with the second and doubles nothing."""
    with monkeypatch.context() as patch:
        audits = ZendeskApi.audits

        def die(api: ZendeskApi, ticket: str) -> Any:
            if ticket == "13":
                raise Killed
            return audits(api, ticket)

        patch.setattr(ZendeskApi, "audits", die)
        with pytest.raises(Killed):
            run(workspace)
    assert queries(workspace) == SOLVED[:2]
    zendesk.calls.clear()
    assert run(workspace).stored == {"new": 1}
    assert [query.get("cursor") for path, query in zendesk.calls if path.startswith("incremental")] == ["c2"]
    assert queries(workspace) == SOLVED


def test_pace_that_zendesk_asks_for_is_kept(workspace: Workspace, zendesk: ZendeskAccount) -> None:
    """Calls that Zendesk answers with 429 are made again, and nothing is missing."""
    zendesk.pace = {1: "0", 2: "0", 5: "0"}
    run(workspace)
    assert queries(workspace) == SOLVED


def test_forgotten_cursor_is_read_again_from_its_time(workspace: Workspace, zendesk: ZendeskAccount) -> None:
    """Where Zendesk no longer knows the cursor, reading goes on from the newest change that was seen, and says so."""
    run(workspace)
    zendesk.forgotten = {"c4"}
    zendesk.calls.clear()
    mined = run(workspace)
    assert queries(workspace) == SOLVED
    assert any("forgotten" in note for note in mined.exports[0].notes)
    starts = [query["start_time"] for path, query in zendesk.calls if "start_time" in query]
    assert starts == [str(int(datetime(2026, 9, 4, 10, tzinfo=UTC).timestamp()))]


def test_internal_notes_are_not_read(workspace: Workspace, zendesk: ZendeskAccount) -> None:
    """What agents wrote to each other does not make a candidate."""
    for audit in zendesk.events[12]:
        for event in audit["events"]:
            event.update({"public": False} if "public" in event else {})
    mined = run(workspace)
    assert queries(workspace) == [SOLVED[0], SOLVED[2]]
    assert mined.exports[0].skipped["internal notes"] == 2


def test_token_that_may_not_list_agents_is_enough(workspace: Workspace, zendesk: ZendeskAccount) -> None:
    """Where agents cannot be listed, those in tickets are known all the same, and it is said."""
    zendesk.forbidden = {"users.json"}
    mined = run(workspace)
    assert len(queries(workspace)) == 3
    assert any("may not list agents" in note for note in mined.exports[0].notes)


def test_export_that_stands_still_is_given_up(workspace: Workspace, zendesk: ZendeskAccount) -> None:
    """A page that names itself as the next one ends the run instead of going on for ever."""
    zendesk.page = 0
    with pytest.raises(EngineError, match="again and again"):
        run(workspace)


def test_excluded_group_is_not_asked_for(workspace: Workspace, zendesk: ZendeskAccount) -> None:
    """What was said in tickets of a group that objected is never fetched."""
    exclude(workspace, ExcludeRequest(channel=("zendesk:7",)))
    assert run(workspace).stored == {}
    assert not [path for path, _ in zendesk.calls if path.endswith("audits.json")]


def test_nothing_raw_is_written(tmp_path: Path, address: str, token: str) -> None:
    """Only the workbench grows, and neither a name, an address nor the token stands in it."""
    workspace = make_workspace(tmp_path, address, token)
    before = set(tmp_path.rglob("*"))
    run(workspace)
    new = [path for path in tmp_path.rglob("*") if path not in before and path.is_file()]
    assert {path.name for path in new} <= {"trust.json", *(path.name for path in workspace.private.glob("workbench/*"))}
    written = b"".join(path.read_bytes() for path in new)
    for secret in (token, USER, "Minh Tran", "Ola Berg", "u1@example.org"):
        assert secret.encode() not in written


def test_refused_token_says_what_to_do(tmp_path: Path, address: str, token: str) -> None:
    """A token Zendesk does not know is said so, without it."""
    with pytest.raises(EngineError) as caught:
        run(make_workspace(tmp_path, address, "wrong" + token))
    assert "401" in str(caught.value)
    assert token not in f"{caught.value}{caught.value.hint}"


def test_token_goes_over_https_only(tmp_path: Path, token: str) -> None:
    """A plain http address of another machine is refused before anything is sent."""
    with pytest.raises(SettingsError, match="https"):
        run(make_workspace(tmp_path, "http://desk.example.org", token))
