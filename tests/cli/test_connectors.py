"""`findback mine --connector` and `findback slack` as programs of their own."""

import hashlib
import hmac
import json
import os
import random
import signal
import string
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest

from builders.loopback import serve
from builders.portal import write_portal
from builders.slackapi import SlackWorkspace
from builders.slacksocket import SECONDS, command, run_slack
from findback.steps.bench import open_bench
from findback.steps.opening import trusted_items
from findback.trust import digest_of
from findback.workspace import Workspace, open_workspace

SITE = "https://docs.example.org"


def secret() -> str:
    return "".join(random.choices(string.digits, k=24))


def stamp(hours: float) -> str:
    return f"{int(datetime.now(UTC).timestamp() - 3600 * hours)}.000100"


@pytest.fixture
def slack() -> SlackWorkspace:
    """Three channels with a failed search each, all of the last day."""
    slack = SlackWorkspace("xoxb-" + secret())
    slack.person("U1", "Minh Tran", "minh.tran")
    slack.person("U2", "Anja Roth", "anja.roth")
    pages = ("howto/badge", "howto/vpn", "policies/leave")
    for at, page in enumerate(pages):
        channel = f"C{at}"
        slack.channel(channel, f"help-{at}")
        asked = slack.post(channel, stamp(5 + at), "U1", f"where is the page of {page.partition('/')[2]}")
        slack.post(channel, stamp(4.9 + at), "U2", f"<{SITE}/{page}>", asked)
    return slack


@pytest.fixture
def address(slack: SlackWorkspace) -> Iterator[str]:
    with serve(slack) as address:
        yield address


def environment_of(workspace: Workspace, **more: str) -> dict[str, str]:
    """Return what a program that nobody watches is given: the agreement, and its secrets."""
    digest = digest_of(workspace.root, trusted_items(workspace))
    kept = {"PATH": os.environ["PATH"], "FINDBACK_TRUST": digest}
    return kept | dict(workspace.environment) | more


def make_workspace(tmp_path: Path, table: str, **secrets: str) -> Workspace:
    root = write_portal(tmp_path / "portal", f"base_url = '{SITE}/'\n[mining]\nnames = false\n{table}")
    home = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    return open_workspace(root, environment=home | secrets)


def findback(workspace: Workspace, *words: str, **more: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "findback", *words],
        cwd=workspace.root,
        env=environment_of(workspace),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def count(workspace: Workspace) -> int:
    with open_bench(workspace) as bench:
        return len(bench.list_candidates())


def test_killed_program_goes_on_where_it_was(tmp_path: Path, slack: SlackWorkspace, address: str) -> None:
    """Killed while it asks for its second channel, it has the first; started again it has all three, each once."""
    table = f"[connectors.chat]\nkind = 'slack'\ntoken = 'env:CHAT_TOKEN'\nurl = '{address}/api'\n"
    workspace = make_workspace(tmp_path, table, CHAT_TOKEN=slack.token)
    killed: list[int] = []

    def kill(method: str, form: dict[str, str]) -> None:
        if method == "conversations.replies" and form["channel"] == "C1" and not killed:
            killed.append(running.pid)
            os.kill(running.pid, signal.SIGKILL)

    slack.before = kill
    running = findback(workspace, "mine", "--connector", "chat")
    running.communicate(timeout=120)
    assert running.returncode == -signal.SIGKILL
    assert count(workspace) == 1
    again = findback(workspace, "mine", "--connector", "chat", "--json")
    said, errors = again.communicate(timeout=120)
    assert again.returncode == 0, errors
    assert json.loads(said)["stored"] == {"unchanged": 1, "new": 2}
    assert count(workspace) == 3
    for told in (said, errors):
        assert slack.token not in told


def test_unknown_connector_names_those_there_are(tmp_path: Path) -> None:
    """A name findback.toml does not have is a missing thing, and those it has are listed."""
    table = "[connectors.chat]\nkind = 'slack'\ntoken = 'env:CHAT_TOKEN'\n"
    running = findback(make_workspace(tmp_path, table), "mine", "--connector", "desk")
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 6
    assert "known: chat" in errors


def test_slack_program_takes_flags_until_it_is_told_to_stop(tmp_path: Path) -> None:
    """`findback slack` connects, answers a command, and ends well when it is terminated."""
    with run_slack("xapp-" + secret()) as slack:
        table = f"[slack]\napp_token = 'env:APP_TOKEN'\nurl = '{slack.address}/api'\n"
        workspace = make_workspace(tmp_path, table, APP_TOKEN=slack.app_token)
        running = findback(workspace, "slack")
        try:
            answered = slack.send(slack.wait(), "slash_commands", command("where is the card page"), "e1")
            assert answered["payload"]["text"].startswith("Kept")
            running.send_signal(signal.SIGTERM)
            said, errors = running.communicate(timeout=SECONDS * 2)
        finally:
            running.kill()
        assert (running.returncode, said, errors) == (0, "", "connected to Slack\n")
        assert count(workspace) == 1


def test_slack_program_listens_where_there_is_no_socket(tmp_path: Path) -> None:
    """With a signing secret alone it listens on this machine, answers what is signed, and ends well when terminated."""
    signing = secret()
    workspace = make_workspace(tmp_path, "[slack]\nsigning_secret = 'env:SIGNING'\nport = 0\n", SIGNING=signing)
    running = findback(workspace, "slack")
    try:
        assert running.stderr is not None
        address = running.stderr.readline().removeprefix("listening on ").strip()
        body, at = urlencode(command("where is the card page")).encode(), str(int(datetime.now(UTC).timestamp()))
        signed = hmac.new(signing.encode(), f"v0:{at}:".encode() + body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": at,
            "X-Slack-Signature": f"v0={signed}",
        }
        answered = httpx2.post(address, content=body, headers=headers, trust_env=False, timeout=SECONDS)
        assert answered.json()["text"].startswith("Kept")
        running.send_signal(signal.SIGTERM)
        said, errors = running.communicate(timeout=SECONDS * 2)
    finally:
        running.kill()
    assert (running.returncode, said, errors) == (0, "", "")
    assert count(workspace) == 1


def test_slack_without_secrets_says_what_to_set(tmp_path: Path) -> None:
    """Without a token or a signing secret it ends with the line that is missing."""
    running = findback(make_workspace(tmp_path, ""), "slack")
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 4
    assert 'app_token = "env:SLACK_APP_TOKEN"' in errors


def test_slack_without_its_library_names_the_extra(tmp_path: Path) -> None:
    """Where slack-bolt is not installed, the line that installs it is named."""
    workspace = make_workspace(tmp_path, "[slack]\napp_token = 'env:APP_TOKEN'\n", APP_TOKEN="xapp-" + secret())
    hide = "import sys; sys.modules['slack_bolt'] = None; from findback.cli.main import main; main()"
    running = subprocess.run(
        [sys.executable, "-c", hide, "slack"],
        cwd=workspace.root,
        env=environment_of(workspace),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert running.returncode == 7
    assert "pip install 'findback[slack]'" in running.stderr
