"""Answers recorded once and given again."""

import asyncio
import stat
import subprocess
from pathlib import Path

import pytest

from builders.asked import Query, an_ask, ask_all, ask_one
from findback.errors import DataError, MissingError
from findback.llm.ask import ItemFailedError, ScriptedModel
from findback.llm.replay import SUFFIX, RecordingModel, ReplayModel, find_foreign, read_recordings
from findback.steps.verify import VerifyRequest, verify
from findback.workspace import open_workspace

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def recorded(tmp_path):
    """A file with two recordings."""
    path = tmp_path / f"two{SUFFIX}"
    ask_all(RecordingModel(ScriptedModel(lambda ask: Query(query=ask.item)), path), an_ask(1), an_ask(2))
    return path


def test_what_was_recorded_is_given_again(recorded):
    """The same questions have the same answers, tokens and times, without the model; the file is the owner's alone."""
    model = ScriptedModel(lambda ask: Query(query=ask.item))
    asked = ask_all(model, an_ask(1))[0]
    replayed = ask_one(ReplayModel(recorded))
    assert (replayed.value, replayed.usage, replayed.at) == (asked.value, asked.usage, asked.at)
    assert ReplayModel(recorded).label == "scripted:scripted"
    assert stat.S_IMODE(recorded.stat().st_mode) == 0o600
    assert b"moored" not in recorded.read_bytes()


@pytest.mark.parametrize("changed", [{"user": "other"}, {"attempt": 2}, {"prompt": "describe@ffff"}])
def test_what_was_not_recorded_fails_its_item(recorded, changed):
    """Another question, attempt or prompt has no recording, and the error says so."""
    with pytest.raises(ItemFailedError, match=r"doc1\.md: no recording"):
        ask_one(ReplayModel(recorded), an_ask(1, **changed))


def test_files_that_are_no_recordings_are_named(tmp_path):
    """A missing file and broken lines are errors, each with its line."""
    with pytest.raises(MissingError):
        ReplayModel(tmp_path / "none")
    (tmp_path / "broken").write_text('{"format": 1}\nno json\n')
    with pytest.raises(DataError) as caught:
        ReplayModel(tmp_path / "broken")
    assert [fault.line for fault in caught.value.faults] == [1, 2]


def test_recordings_about_other_documents_are_found(recorded):
    """Each recording about a document that is none of the example's is named by its line."""
    assert find_foreign(recorded, {"doc1.md", "doc2.md"}) == []
    assert [fault.line for fault in find_foreign(recorded, {"doc1.md"})] == [2]


def test_the_example_is_the_one_in_this_repository():
    """The documents that recordings may be about are those of the Harbour example, all of them."""
    corpus = ROOT / "examples" / "harbour" / "docs"
    documents = {path.relative_to(corpus).as_posix() for path in corpus.rglob("*.md")}
    assert set((ROOT / "src/findback/llm/example.txt").read_text().splitlines()) == documents


def test_committed_recordings_are_about_the_example():
    """Every file of recordings in this repository is about documents of the Harbour example."""
    documents = (ROOT / "src/findback/llm/example.txt").read_text().splitlines()
    for folder in ("tests", "examples", "benchmarks", "docs", "src"):
        for path in (ROOT / folder).rglob(f"*{SUFFIX}"):
            assert read_recordings(path)
            assert find_foreign(path, documents) == []


def test_verify_finds_recordings_about_other_documents(recorded, tmp_path):
    """Among the set's files and those git knows, recordings about a team's own documents are findings by line."""
    root = tmp_path / "work"
    (root / "evalset").mkdir(parents=True)
    (root / "fixtures").mkdir()
    (root / "findback.toml").write_text("name = 'x'\n")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    assert verify(workspace, VerifyRequest()).clean
    harbour = ask_one_recorded(tmp_path / f"harbour{SUFFIX}", "services/portal-search.md")
    for folder, source in (("evalset", recorded), ("fixtures", recorded), ("fixtures", harbour)):
        (root / folder / source.name).write_bytes(source.read_bytes())
    found = verify(workspace, VerifyRequest()).findings
    assert [(one.where, one.line, one.rule) for one in found] == [
        (str(root / "evalset" / recorded.name), line, "recording.foreign") for line in (1, 2)
    ]
    for command in (["init", "-q"], ["add", "fixtures"]):
        subprocess.run(["git", "-C", str(root), *command], check=True)
    found = verify(workspace, VerifyRequest()).findings
    assert {Path(one.where).parent.name for one in found} == {"evalset", "fixtures"}
    assert len(found) == 4


def ask_one_recorded(path, document):
    ask_one(RecordingModel(ScriptedModel(lambda ask: Query(query="x")), path), an_ask(item=document))
    return path


def test_closing_closes_the_model(tmp_path):
    """Who closes the recorder closes the model it records."""
    closed = []

    class Closing(ScriptedModel):
        async def close(self):
            closed.append(True)

    asyncio.run(RecordingModel(Closing(lambda ask: Query(query="x")), tmp_path / "r").close())
    assert closed == [True]
