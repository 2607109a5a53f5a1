"""Which reader takes a path for its own."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from builders.chats import mattermost_export, write_lines
from builders.slack import small_export
from findback import registry
from findback.errors import DataError, MissingError, UsageError
from findback.sources.format import SourceOptions
from findback.sources.recognise import GROUP, recognise
from findback.sources.scope import Scope, fold_name, load_excluded

CHAT = {
    "slack": "findback.sources.chat.slack",
    "teams": "findback.sources.chat.teams",
    "discord": "findback.sources.mapped:discord",
    "mattermost": "findback.sources.mapped:mattermost",
    "zulip": "findback.sources.mapped:zulip",
}


@pytest.fixture
def offered(monkeypatch):
    """Let the registry offer the readers of chat, and more of them on request."""

    def offer(**more: str) -> None:
        points = {name: EntryPoint(name, value, GROUP) for name, value in (CHAT | more).items()}
        monkeypatch.setattr(registry, "_found", lambda group: points if group == GROUP else {})

    offer()
    return offer


def test_each_export_has_one_reader_and_a_reason(tmp_path: Path, offered):
    """The reader is named with what it went by."""
    export = small_export()
    export.post("help-network", "U1AAAA", 0, "vpn?")
    assert recognise(export.write(tmp_path / "slack")).name == "slack"
    found = recognise(write_lines(tmp_path / "import.jsonl", mattermost_export([])))
    assert (found.name, found.reason.partition(" of")[0]) == ("mattermost", "lines")


def test_what_nobody_knows_is_said_with_a_way_out(tmp_path: Path, offered):
    """Nothing there, nobody's and several readers' each have their own outcome."""
    with pytest.raises(MissingError):
        recognise(tmp_path / "absent")
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(DataError) as caught:
        recognise(tmp_path / "notes.txt")
    assert "--as" in caught.value.hint
    assert "slack" in caught.value.hint
    offered(second="findback.sources.chat.slack")
    export = small_export()
    export.post("help-network", "U1AAAA", 0, "vpn?")
    with pytest.raises(UsageError) as several:
        recognise(export.write(tmp_path / "slack"))
    assert "--as" in several.value.hint


@pytest.mark.parametrize(
    "name",
    [
        "hr", "ask-hr", "hr_berlin", "People-Ops", "legal", "legal-emea", "mental-health", "security-incident-2026",
        "csirt", "works-council", "betriebsrat-nord", "Kündigungen", "arret-maladie", "rrhh", "sindicato", "jurídico",
        "労働組合", "人事部", "#HR",
    ],
)  # fmt: skip
def test_sensitive_channels_are_excluded_in_several_languages(name: str):
    """Personnel, law, health, security incidents and employee representation are never read by default."""
    scope = Scope(SourceOptions(exclude=load_excluded()))
    assert scope.refuse(["C1", name], "public") == "excluded channels"


@pytest.mark.parametrize(
    "name", ["chrome", "through-put", "help-desk", "delegates", "incident-review", "unionfs", "healthchecks"]
)
def test_names_that_only_contain_such_letters_are_read(name: str):
    """A word counts between hyphens, underscores, dots or blanks."""
    assert Scope(SourceOptions(exclude=load_excluded())).refuse(["C1", name], "public") is None


def test_naming_a_place_opens_it_and_excluding_it_by_name_is_stronger():
    """Full names open; the user's own exclusion of the same name closes again."""
    opened = SourceOptions(channels=("ask-hr", "core"), exclude=load_excluded())
    assert Scope(opened).refuse(["C1", "ask-hr"], "public") is None
    assert Scope(opened).refuse(["C2", "core"], "private") is None
    assert Scope(opened).refuse(["C3", "general"], "public") == "channels not asked for"
    closed = SourceOptions(channels=("core",), exclude=(*load_excluded(), "core"))
    assert Scope(closed).refuse(["C2", "core"], "private") == "excluded channels"
    glob = SourceOptions(channels=("ask-*",), exclude=load_excluded())
    assert Scope(glob).refuse(["C1", "ask-hr"], "public") == "excluded channels"


@pytest.mark.parametrize(
    ("name", "helps"),
    [("help", True), ("help-network", True), ("it-help", True), ("ask-platform", True), ("hilfe", True), ("質問", True),
     ("helpers-guild", False), ("task-force", False), ("general", False)],
)  # fmt: skip
def test_help_channels_are_known_by_name(name: str, helps: bool):
    """Words for help in several languages, as words of the name."""
    assert Scope(SourceOptions()).is_help(name) is helps
    assert Scope(SourceOptions(help_channels=("gen*",))).is_help("general")


def test_names_are_folded_alike():
    """Case, hash, underscores and width do not count."""
    assert fold_name("#Ask_HR  Berlin") == fold_name("ask-hr-berlin") == "ask-hr-berlin"
