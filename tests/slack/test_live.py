"""Socket Mode against Slack's side of it on this machine."""

import random
import string
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any

import pytest
from slack_bolt import App

from builders.slacksocket import SlackSocket, command, run_slack, shortcut
from findback.errors import EngineError
from findback.model.settings import SlackSettings
from findback.slack.answers import Answers
from findback.slack.app import LATER, make_app
from findback.slack.live import run_socket
from findback.steps.bench import open_bench
from findback.steps.slackflag import SlackDesk
from findback.workspace import Workspace

SECONDS = 20.0


@pytest.fixture
def slack() -> Iterator[SlackSocket]:
    with run_slack("xapp-" + "".join(random.choices(string.digits, k=24))) as slack:
        yield slack


@pytest.fixture
def running(answers: Answers, slack: SlackSocket) -> Iterator[None]:
    """Run the app until the test is over."""
    ready, stop = Event(), Event()
    app = make_app(answers, SlackSettings(url=f"{slack.address}/api"))
    task = Thread(
        target=run_socket,
        args=(app, slack.app_token),
        kwargs={"address": f"{slack.address}/api", "ready": ready.set, "stop": stop},
    )
    task.start()
    assert ready.wait(SECONDS)
    yield
    stop.set()
    task.join(SECONDS)
    assert not task.is_alive()


def queries(workspace: Workspace) -> list[str]:
    with open_bench(workspace) as bench:
        return [one.candidate.query.text for one in bench.list_candidates()]


@pytest.mark.usefixtures("running")
def test_command_is_acknowledged_with_what_happens_next(
    slack: SlackSocket, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    """The acknowledgement of the envelope carries the answer, for nobody else's eyes; no log has the words."""
    caplog.set_level("DEBUG")
    answered = slack.send(slack.wait(), "slash_commands", command("where is the card page"), "e1")
    assert answered["envelope_id"] == "e1"
    assert answered["payload"]["response_type"] == "ephemeral"
    assert answered["payload"]["text"].startswith("Kept")
    assert queries(workspace) == ["where is the card page"]
    assert "card page" not in caplog.text
    assert slack.app_token not in caplog.text


@pytest.mark.usefixtures("running")
def test_envelope_that_comes_twice_counts_once(slack: SlackSocket, workspace: Workspace) -> None:
    """Slack sends an envelope again that it thinks was lost: it is acknowledged and does nothing."""
    connection = slack.wait()
    slack.send(connection, "slash_commands", command("where is the card page"), "e1")
    assert slack.send(connection, "slash_commands", command("where is the card page"), "e1") == {"envelope_id": "e1"}
    with open_bench(workspace) as bench:
        assert [one.candidate.asked for one in bench.list_candidates()] == ["1"]


@pytest.mark.usefixtures("running")
def test_shortcut_answers_at_its_own_address(slack: SlackSocket, workspace: Workspace) -> None:
    """A shortcut is acknowledged empty; its answer goes to the response address, to one person alone."""
    message = {"type": "message", "user": "U7654321", "ts": "1790000000.000100", "text": "how do i get in from home"}
    payload = shortcut(message, f"{slack.address}/actions/T1/1/abc")
    assert slack.send(slack.wait(), "interactive", payload, "e1") == {"envelope_id": "e1"}
    answered = slack.responses.get(timeout=SECONDS)
    assert answered["response_type"] == "ephemeral"
    assert answered["text"].startswith("Kept")
    assert queries(workspace) == ["how do i get in from home"]


@pytest.mark.usefixtures("running")
def test_broken_connection_is_made_again(slack: SlackSocket, workspace: Workspace) -> None:
    """When Slack closes the socket, a new address is asked for, and the next command comes in there."""
    slack.wait().close()
    slack.send(slack.wait(), "slash_commands", command("where is the card page"), "e2")
    assert slack.opened == 2
    assert queries(workspace) == ["where is the card page"]


@pytest.mark.usefixtures("running")
def test_slack_may_ask_to_move(slack: SlackSocket, workspace: Workspace) -> None:
    """When Slack announces that it will close the socket, the app connects anew and goes on."""
    first = slack.wait()
    first.send('{"type": "disconnect", "reason": "refresh_requested", "debug_info": {}}')
    slack.send(slack.wait(), "slash_commands", command("where is the card page"), "e3")
    assert queries(workspace) == ["where is the card page"]


@pytest.mark.usefixtures("running")
def test_other_envelopes_are_acknowledged_and_do_nothing(slack: SlackSocket, workspace: Workspace) -> None:
    """What the app did not ask for, such as an event, is acknowledged, so that Slack does not send it again."""
    payload = {"type": "event_callback", "team_id": "T1", "event": {"type": "app_mention", "text": "hello"}}
    assert slack.send(slack.wait(), "events_api", payload, "e1") == {"envelope_id": "e1"}
    assert queries(workspace) == []


def test_answer_that_takes_long_comes_later(desk: SlackDesk, slack: SlackSocket, workspace: Workspace) -> None:
    """Slack waits three seconds: what takes longer is acknowledged at once, and answered at the response address."""
    ready, stop, go_on = Event(), Event(), Event()

    class Slow(Answers):
        def to_command(self, payload: Mapping[str, Any]) -> str:
            go_on.wait(SECONDS)
            return super().to_command(payload)

    settings = SlackSettings(url=f"{slack.address}/api")
    app = make_app(Slow(desk, settings, base_url=None, clock=lambda: datetime.now(UTC)), settings, patience=0.0)
    run = {"address": settings.url, "ready": ready.set, "stop": stop}
    task = Thread(target=run_socket, args=(app, slack.app_token), kwargs=run)
    task.start()
    payload = command("where is the card page", response_url=f"{slack.address}/commands/T1/1/abc")
    assert slack.send(slack.wait(), "slash_commands", payload, "e1")["payload"]["text"] == LATER
    go_on.set()
    assert slack.responses.get(timeout=SECONDS)["text"].startswith("Kept")
    stop.set()
    task.join(SECONDS)
    assert queries(workspace) == ["where is the card page"]


def test_refused_token_is_said_at_once(app: App, slack: SlackSocket) -> None:
    """A token Slack does not know ends it with Slack's reason, and without the token."""
    with pytest.raises(EngineError) as caught:
        run_socket(app, "xapp-wrong", address=f"{slack.address}/api", ready=Event().set, stop=Event())
    assert "invalid_auth" in str(caught.value)
    assert "xapp" not in str(caught.value)
