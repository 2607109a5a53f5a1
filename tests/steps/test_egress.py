"""What is sent to an endpoint is counted, and nothing of it is kept."""

import multiprocessing
import re
from pathlib import Path

import pytest

from builders.portal import write_portal
from findback.cli.egress import egress
from findback.departures import Departure, Departures, carrying
from findback.errors import UntrustedError
from findback.steps.egress import open_departures, read_egress
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.workspace import Workspace, open_workspace
from retrievers.builders import json_reply, serving


def open_trusted(root: Path, environment: dict[str, str]) -> Workspace:
    """Open a workspace and agree to what it names."""
    try:
        evaluate(open_workspace(root, environment=environment), EvaluateRequest(set=root / "asked.jsonl"))
    except UntrustedError as error:
        digest = (error.hint or "").rpartition("FINDBACK_TRUST=")[2]
        environment = environment | {"FINDBACK_TRUST": digest}
    return open_workspace(root, environment=environment)


def test_an_evaluation_says_what_it_sent_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Six questions to an engine at the level it was given, and document ids apart; no word of any question."""
    with serving(json_reply([{"id": "howto/vpn.md"}])) as server:
        root = write_portal(
            tmp_path / "portal",
            f"[retrievers.far]\nkind = 'http'\nurl = '{server.url}/s?q={{{{query}}}}'\nhits = '$[*]'\n"
            f"id = '$.id'\negress = 'external'\nexists.url = '{server.url}/d/{{{{id}}}}'\n"
            "[egress]\nunreviewed_to = ['far']\n",
        )
        workspace = open_trusted(root, {"XDG_STATE_HOME": str(tmp_path / "state")})
        assert read_egress(workspace).sent == ()
        evaluate(workspace, EvaluateRequest(set=root / "asked.jsonl", depth=1))
        asked = [one for one in server.seen if one.path.startswith("/s")]
        looked_up = [one for one in server.seen if one.path.startswith("/d")]
    found = read_egress(workspace)
    assert [(one.endpoint, one.level, one.state, one.count) for one in found.sent] == [
        (server.url, "external", "document", len(looked_up)),
        (server.url, "external", "unreviewed", len(asked)),
    ]
    assert (len(looked_up), len(asked)) == (6, 6)
    content = Path(found.file).read_text()
    assert not re.search("hammering|card|vpn", content)
    assert Path(found.file).stat().st_mode & 0o777 == 0o600
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    egress()
    assert re.search(r"external +unreviewed +6 ", capsys.readouterr().out)


def test_a_program_that_passes_queries_on_is_counted(tmp_path: Path) -> None:
    """A function or program whose level is not local counts by its name; one that stays here does not."""
    root = tmp_path / "portal"
    settings = "[retrievers.{}]\nkind = 'python'\nfunction = 'asker:search'\n"
    write_portal(
        root,
        settings.format("near") + settings.format("far") + "egress = 'internal'\n[egress]\nunreviewed_to = ['far']\n",
    )
    (root / "asker.py").write_text("def search(query, k):\n    return ['howto/vpn.md']\n")
    workspace = open_trusted(root, {"XDG_STATE_HOME": str(tmp_path / "state")})
    evaluate(workspace, EvaluateRequest(set=root / "asked.jsonl"))
    assert [(one.endpoint, one.level, one.state, one.count) for one in read_egress(workspace).sent] == [
        ("python far", "internal", "unreviewed", 6)
    ]


def test_what_finds_no_connection_was_not_sent(tmp_path: Path) -> None:
    """A server that is not there got nothing."""
    root = write_portal(
        tmp_path / "portal",
        "[retrievers.gone]\nkind = 'http'\nurl = 'http://127.0.0.1:9/s?q={{query}}'\nhits = '$[*]'\nretries = 0\n",
    )
    workspace = open_trusted(root, {"XDG_STATE_HOME": str(tmp_path / "state")})
    evaluate(workspace, EvaluateRequest(set=root / "asked.jsonl"))
    assert read_egress(workspace).sent == ()


def test_counts_are_handed_over_once() -> None:
    """By state; a second closing hands over what came since."""
    kept: list[dict[Departure, int]] = []
    departures = Departures(lambda counts: kept.append(dict(counts)))
    departures.add("https://e.example.org:443", "external")
    with carrying("reviewed"):
        departures.add("https://e.example.org:443", "external")
        departures.add("https://e.example.org:443", "external")
    departures.flush()
    departures.flush()
    assert [{key.state: count for key, count in one.items()} for one in kept] == [{"unreviewed": 1, "reviewed": 2}]


def count_often(root: Path, state: str) -> None:
    departures = open_departures(open_workspace(root, environment={"XDG_STATE_HOME": state}))
    for _ in range(50):
        departures.add("https://e.example.org:443", "external")
        departures.flush()


def test_processes_lose_none_of_each_others_counts(tmp_path: Path) -> None:
    """Two processes write at once, and every count is there; a line cut short by a crash is said and left out."""
    root = write_portal(tmp_path / "portal")
    state = str(tmp_path / "state")
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=count_often, args=(root, state)) for _ in range(2)]
    for one in others:
        one.start()
    for one in others:
        one.join()
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": state})
    (sent,) = read_egress(workspace).sent
    assert sent.count == 100
    with Path(read_egress(workspace).file).open("ab") as file:
        file.write(b'{"format":1,"at"')
    assert (read_egress(workspace).sent[0].count, read_egress(workspace).unreadable) == (100, 1)
