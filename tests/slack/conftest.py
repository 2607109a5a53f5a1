"""A desk that takes flags from Slack in, and the app in front of it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from slack_bolt import App

from builders.portal import write_portal
from findback.model.settings import SlackSettings
from findback.slack.answers import Answers
from findback.slack.app import make_app
from findback.steps.slackflag import SlackDesk, open_slack_desk
from findback.workspace import Workspace, open_workspace

NOW = datetime(2026, 9, 21, 12, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = write_portal(tmp_path / "portal", "[mining]\nnames = false\n")
    return open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})


@pytest.fixture
def desk(workspace: Workspace) -> Iterator[SlackDesk]:
    with open_slack_desk(workspace) as desk:
        yield desk


@pytest.fixture
def answers(desk: SlackDesk) -> Answers:
    return Answers(desk, SlackSettings(), base_url="https://findback.example.org/", clock=lambda: NOW)


@pytest.fixture
def app(answers: Answers) -> App:
    return make_app(answers, SlackSettings())
