"""Slack read by its API, from a workspace of this machine that answers like Slack."""

import random
import string
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from builders.loopback import serve
from builders.portal import write_portal
from builders.slack import SlackExport
from builders.slackapi import SlackWorkspace
from findback.errors import EngineError, SettingsError, UntrustedError
from findback.sources.connectors.slack_api import SlackApi
from findback.steps import mine as mining
from findback.steps.bench import open_bench
from findback.steps.erase import ExcludeRequest, PurgeRequest, exclude, purge
from findback.steps.mine import Mined, MineRequest, mine
from findback.workspace import Workspace, open_workspace

SITE = "https://docs.example.org"
NOW = datetime(2026, 9, 21, 12, tzinfo=UTC)


def stamp(**back: float) -> str:
    """Return the ts of a moment that long before the run."""
    return f"{int((NOW - timedelta(**back)).timestamp())}.000100"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    """Have every run begin at a set time; give what sets another."""

    def turn(moment: datetime) -> None:
        monkeypatch.setattr(mining, "now", lambda: moment)

    turn(NOW)
    return turn


@pytest.fixture
def token() -> str:
    return "xoxb-" + "".join(random.choices(string.digits, k=24))


@pytest.fixture
def slack(token: str) -> SlackWorkspace:
    """Return a workspace with two failures in a help channel, and places that must not be read."""
    slack = SlackWorkspace(token)
    slack.person("U1", "Minh Tran", "minh.tran")
    slack.person("U2", "Anja Roth", "anja.roth")
    slack.person("U3", "Helper", "helper", is_bot=True)
    slack.channel("C1", "help-desk")
    slack.channel("C2", "ask-hr")
    slack.channel("C3", "help-other", is_member=False)
    slack.channel("C4", "help-secret", is_private=True)
    ask(slack, "C1", days=3, text="cant find where to get a new card, ask Minh Tran?", page="howto/badge")
    ask(slack, "C1", days=2, text="how do i get in from home", page="howto/vpn")
    ask(slack, "C2", days=2, text="how do i hand in my notice?", page="policies/leave")
    ask(slack, "C3", days=2, text="where is the travel page?", page="policies/travel")
    ask(slack, "C4", days=2, text="where is the deploy page?", page="runbooks/deploy")
    return slack


def ask(slack: SlackWorkspace, channel: str, *, days: float, text: str, page: str, user: str = "U1") -> str:
    """Put a question into a channel that somebody answers in its thread with a page; return its ts."""
    other = "U2" if user == "U1" else "U1"
    ts = slack.post(channel, stamp(days=days), user, text)
    slack.post(channel, stamp(days=days, minutes=-1), other, f"<@{user}> see <{SITE}/{page}>", ts)
    slack.post(channel, stamp(days=days, minutes=-2), user, "thanks, that was it", ts)
    return ts


@pytest.fixture
def address(slack: SlackWorkspace) -> Iterator[str]:
    with serve(slack) as address:
        yield address


def make_workspace(tmp_path: Path, address: str, token: str | None, more: str = "") -> Workspace:
    table = f"[connectors.chat]\nkind = 'slack'\ntoken = 'env:CHAT_TOKEN'\nurl = '{address}/api'\n{more}"
    root = write_portal(tmp_path / "portal", f"base_url = '{SITE}/'\n[mining]\nnames = false\n{table}")
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")} | ({"CHAT_TOKEN": token} if token else {})
    return open_workspace(root, environment=environment)


@pytest.fixture
def workspace(tmp_path: Path, address: str, token: str) -> Workspace:
    return make_workspace(tmp_path, address, token)


def run(workspace: Workspace, **more: Any) -> Mined:
    return mine(workspace, MineRequest(connector=("chat",), **more), ask=lambda _: True)


def queries(workspace: Workspace) -> list[str]:
    with open_bench(workspace) as bench:
        return sorted(one.candidate.query.text for one in bench.list_candidates())


def test_failures_of_invited_channels_become_candidates(workspace: Workspace, slack: SlackWorkspace) -> None:
    """Only the public channel the bot was invited to is read; nothing else is even asked for."""
    mined = run(workspace)
    assert mined.stored == {"new": 2}
    assert queries(workspace) == ["cant find where to get a new card, ask ⟦PERSON_1⟧?", "how do i get in from home"]
    assert {form["channel"] for _, form in slack.calls if "channel" in form} == {"C1"}
    skipped = mined.exports[0].skipped
    assert skipped["channels the bot was not invited to"] == 1
    assert skipped["excluded channels"] == 1


def lines_of(workspace: Workspace, query: str) -> list[str]:
    with open_bench(workspace) as bench:
        found = next(one.candidate for one in bench.list_candidates() if one.candidate.query.text == query)
    return [line.body.text for line in found.thread]


@pytest.mark.parametrize("more", ["open = ['private']", "channels = ['help-secret', 'help-desk']"])
def test_private_channels_are_read_when_they_are_opened(
    tmp_path: Path, address: str, token: str, slack: SlackWorkspace, more: str
) -> None:
    """A private channel the bot was invited to is read where the settings open private ones, or name it."""
    assert run(make_workspace(tmp_path, address, token, more)).stored == {"new": 3}
    asked = next(form for method, form in slack.calls if method == "conversations.list")
    assert asked["types"] == "public_channel,private_channel"


def test_second_run_reads_from_where_the_first_came_to(workspace: Workspace, slack: SlackWorkspace) -> None:
    """A second run stores nothing new, asks for thirty days before the mark, and reads no quiet thread again."""
    run(workspace)
    with open_bench(workspace) as bench:
        for one in bench.list_candidates():
            bench.reject(one.candidate.key, "out", reviewer="lead", version=one.version, now=NOW)
    slack.calls.clear()
    assert run(workspace).stored == {}
    assert next(form["oldest"] for method, form in slack.calls if method == "conversations.history") == stamp(
        days=32, minutes=-2
    )
    assert "conversations.replies" not in [method for method, _ in slack.calls]


def test_late_reply_brings_an_older_question_up_to_date(
    workspace: Workspace, slack: SlackWorkspace, clock: Callable[[datetime], None]
) -> None:
    """A reply that comes ten days later to a thread of an earlier run is read with its whole thread."""
    run(workspace)
    clock(NOW + timedelta(days=10))
    slack.post("C1", stamp(days=-9), "U2", "there is a shorter page now", stamp(days=2))
    assert run(workspace).stored == {"updated": 1, "unchanged": 1}
    assert lines_of(workspace, "how do i get in from home")[-1] == "there is a shorter page now"


def test_question_asked_before_and_answered_later_is_found(
    workspace: Workspace, slack: SlackWorkspace, clock: Callable[[datetime], None]
) -> None:
    """What nobody had answered when it was first read becomes a candidate once somebody does."""
    open_ = slack.post("C1", stamp(days=1), "U1", "where do i book trains for the fair")
    assert "where do i book trains for the fair" not in (run(workspace), queries(workspace))[1]
    clock(NOW + timedelta(days=5))
    slack.post("C1", stamp(days=-4), "U2", f"<{SITE}/policies/travel>", open_)
    run(workspace)
    assert "where do i book trains for the fair" in queries(workspace)


def test_talk_without_threads_is_mined_once(workspace: Workspace, slack: SlackWorkspace) -> None:
    """Where people answer below each other, a conversation is a candidate once, also when talk goes on after it."""
    slack.messages["C1"].clear()
    slack.post("C1", stamp(days=1), "U1", "where do i book trains for the fair")
    slack.post("C1", stamp(days=1, minutes=-2), "U2", f"<{SITE}/policies/travel>")
    assert run(workspace).stored == {"new": 1}
    for at in range(3):
        slack.post("C1", stamp(hours=2, minutes=-at), "U2", "lunch at noon")
    mined = run(workspace)
    assert queries(workspace) == ["where do i book trains for the fair"]
    assert mined.stored == {"unchanged": 1}


def test_edited_question_is_read_anew(workspace: Workspace, slack: SlackWorkspace) -> None:
    """What the asker changed after it was read stands in the workbench afterwards."""
    run(workspace)
    asked = next(one for one in slack.messages["C1"] if one["text"].startswith("how do i"))
    asked |= {"text": "how do i get in from my home", "edited": {"user": "U1", "ts": stamp(days=-0.1)}}
    assert run(workspace).stored["updated"] == 1
    assert "how do i get in from my home" in queries(workspace)


def test_deleted_messages_leave_the_workbench(workspace: Workspace, slack: SlackWorkspace) -> None:
    """A deleted question goes whole, of a thread that goes on its deleted reply; both are counted."""
    run(workspace)
    slack.delete("C1", stamp(days=3))
    slack.delete("C1", stamp(days=2, minutes=-2))
    mined = run(workspace)
    assert mined.exports[0].deleted == {"questions": 1, "lines": 1}
    assert queries(workspace) == ["how do i get in from home"]
    assert len(lines_of(workspace, "how do i get in from home")) == 2


def test_deleted_whole_thread_leaves_the_workbench(workspace: Workspace, slack: SlackWorkspace) -> None:
    """A question that is gone with everything under it is asked for once more by itself, and then goes."""
    run(workspace)
    slack.messages["C1"] = [one for one in slack.messages["C1"] if one.get("thread_ts", one["ts"]) != stamp(days=3)]
    assert run(workspace).exports[0].deleted == {"questions": 1}
    assert queries(workspace) == ["how do i get in from home"]


def test_decided_questions_stay_when_deleted(workspace: Workspace, slack: SlackWorkspace) -> None:
    """What a person has decided on already is not taken away by a deletion in Slack."""
    run(workspace)
    with open_bench(workspace) as bench:
        for one in bench.list_candidates():
            bench.reject(one.candidate.key, "out", reviewer="lead", version=one.version, now=NOW)
    slack.delete("C1", stamp(days=3))
    assert run(workspace).exports[0].deleted == {}
    assert len(queries(workspace)) == 2


def test_killed_run_goes_on_where_it_was(workspace: Workspace, slack: SlackWorkspace) -> None:
    """A run that dies in its second channel has stored the first; the next neither loses nor doubles anything."""
    slack.channel("C9", "help-late")
    ask(slack, "C9", days=1, text="where is the page on leave", page="policies/leave")

    with pytest.raises(Killed):
        run_until(workspace, "C9")
    assert len(queries(workspace)) == 2
    slack.calls.clear()
    assert run(workspace).stored == {"unchanged": 2, "new": 1}
    windows = [(form["channel"], form["oldest"]) for method, form in slack.calls if method == "conversations.history"]
    oldest = dict(reversed(windows))
    assert float(oldest["C1"]) > float(oldest["C9"])
    assert len(queries(workspace)) == 3


class Killed(BaseException):
    """Stands for the end of the process."""


def run_until(workspace: Workspace, channel: str) -> None:
    """Run, and end when a channel is asked for."""
    before = SlackApi.history

    def history(api: SlackApi, named: str, window: Any) -> Any:
        if named == channel:
            raise Killed
        return before(api, named, window)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SlackApi, "history", history)
        run(workspace)


def test_pace_that_slack_asks_for_is_kept(workspace: Workspace, slack: SlackWorkspace) -> None:
    """Calls that Slack answers with 429 are made again, and nothing is missing."""
    slack.pace = {1: "0", 3: "0", 4: "0", 6: "0"}
    assert run(workspace).stored == {"new": 2}


def test_nothing_raw_is_written_and_no_token_is_told(
    tmp_path: Path, address: str, token: str, slack: SlackWorkspace, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Beside the workbench no file appears in home, temp or the current folder; neither token nor name is in any."""
    home, temp, here = (tmp_path / name for name in ("home", "temp", "here"))
    for folder in (home, temp, here):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(temp))
    monkeypatch.chdir(here)
    caplog.set_level("DEBUG")
    workspace = make_workspace(tmp_path, address, token)
    before = set(tmp_path.rglob("*"))
    run(workspace)
    new = [path for path in tmp_path.rglob("*") if path not in before and path.is_file()]
    private = workspace.private
    assert {path.relative_to(private).parts[0] for path in new if path.is_relative_to(private)} == {"workbench"}
    assert [path for path in new if not path.is_relative_to(private)] == [tmp_path / "state/findback/trust.json"]
    written = b"".join(path.read_bytes() for path in new)
    for secret in (token, "Minh Tran", "minh.tran@example.org", "C1"):
        assert secret.encode() not in written.replace(b"[connectors.chat] C1", b"")
    assert token not in caplog.text
    assert "Minh" not in caplog.text


def test_nobody_agreed_and_nothing_is_sent(workspace: Workspace, slack: SlackWorkspace) -> None:
    """Host and variable are part of the trust question; without a yes Slack is never asked."""
    with pytest.raises(UntrustedError) as caught:
        mine(workspace, MineRequest(connector=("chat",)))
    assert "CHAT_TOKEN" in str(caught.value)
    assert "http://127.0.0.1:" in str(caught.value)
    assert slack.calls == []


def test_who_and_what_objected_is_not_kept(workspace: Workspace, slack: SlackWorkspace) -> None:
    """An excluded channel is not even asked for; what an excluded person asked, or wrote elsewhere, is not stored."""
    slack.channel("C8", "help-more")
    ask(slack, "C8", days=1, text="where is the page on leave", page="policies/leave", user="U2")
    exclude(workspace, ExcludeRequest(person=("U2",), channel=("slack:C1",)))
    mined = run(workspace)
    assert mined.stored == {"excluded": 1}
    assert "C1" not in {form.get("channel") for _, form in slack.calls}
    assert mined.exports[0].skipped["channels that were excluded or erased"] == 1


def test_purged_person_stays_purged(workspace: Workspace, slack: SlackWorkspace) -> None:
    """What was erased does not come back with the next run, nor with late replies."""
    run(workspace)
    purge(workspace, PurgeRequest(person=("U1",)))
    slack.post("C1", stamp(days=-1), "U2", "any luck?", stamp(days=2))
    run(workspace)
    assert queries(workspace) == []


def test_refused_token_says_what_to_do(tmp_path: Path, address: str) -> None:
    """A token Slack does not know is said so, without the token."""
    workspace = make_workspace(tmp_path, address, "xoxb-wrong")
    with pytest.raises(EngineError) as caught:
        run(workspace)
    assert "invalid_auth" in str(caught.value)
    assert "xoxb" not in str(caught.value)


def test_missing_token_names_its_variable(tmp_path: Path, address: str) -> None:
    """A variable that is not set is named before anything is asked."""
    with pytest.raises(SettingsError, match="CHAT_TOKEN"):
        run(make_workspace(tmp_path, address, None))


def test_long_first_run_is_read_in_stretches(tmp_path: Path, address: str, token: str, slack: SlackWorkspace) -> None:
    """A year is read a month at a time, each stored before the next; a thread across an edge is whole."""
    ask(slack, "C1", days=200, text="where was the travel page", page="policies/travel")
    ask(slack, "C1", days=60.0001, text="where is the page on leave", page="policies/leave")
    workspace = make_workspace(tmp_path, address, token, "first_days = 240")
    assert run(workspace).stored == {"new": 4}
    windows = [form["oldest"] for method, form in slack.calls if method == "conversations.history"]
    assert len(dict.fromkeys(windows)) == 8
    assert len(lines_of(workspace, "where is the page on leave")) == 3


def test_many_runs_find_what_one_export_holds(
    tmp_path: Path, workspace: Workspace, slack: SlackWorkspace, clock: Callable[[datetime], None]
) -> None:
    """Sixty days of threads and late replies, read in nine runs, give the candidates that the whole export gives."""
    draw = random.Random(7)
    everything: list[dict[str, Any]] = []
    pages = ("howto/badge", "howto/vpn", "policies/leave", "policies/travel", "runbooks/deploy")
    for number in range(40):
        asked = draw.uniform(0, 58)
        ts = stamp(days=-asked)
        said = [(0.0, "U1", f"how do i do number {number} here")]
        said += [(draw.uniform(0.01, 25), "U2", f"<{SITE}/{draw.choice(pages)}>")] if draw.random() < 0.7 else []
        said += [(draw.uniform(0.01, 25), "U1", "thanks") for _ in range(draw.randrange(3))]
        for late, user, text in said:
            message = {"type": "message", "ts": stamp(days=-asked - late), "user": user, "text": text}
            everything.append(message | ({"thread_ts": ts} if len(said) > 1 else {}))
    slack.messages["C1"].clear()
    for day in (*range(5, 90, 11), 90):
        moment = NOW + timedelta(days=day)
        clock(moment)
        slack.messages["C1"][:] = [one for one in everything if float(one["ts"]) <= moment.timestamp()]
        run(workspace)
    export = SlackExport()
    export.lists["users.json"] = slack.users
    export.channel("C1", "help-desk")
    export.messages["help-desk"] = everything
    # A last day on which nothing was said: up to then the export is whole.
    export.files["help-desk/2026-12-20.json"] = b"[]"
    again = make_workspace(tmp_path / "again", "http://127.0.0.1:9", None)
    mine(again, MineRequest(exports=(export.zip(tmp_path / "slack.zip"),)))
    with open_bench(again) as bench:
        kinds = {hit.rule for one in bench.list_candidates(limit=500) for hit in one.candidate.rules}
    assert {"link", "link-thanks", "no-answer"} <= kinds
    assert len(queries(again)) > 30
    assert queries(workspace) == queries(again)
    for query in queries(again):
        assert lines_of(workspace, query) == lines_of(again, query)
