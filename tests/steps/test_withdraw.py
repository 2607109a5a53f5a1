"""Withdrawing cases."""

import json
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders.ready import Ready, portal, reviewed
from findback.errors import DataError, MissingError, UsageError
from findback.evalset.cases import read_cases
from findback.evalset.manifest import read_manifest
from findback.evalset.release import read_release
from findback.evalset.runs import load_run
from findback.llm.ask import Usage
from findback.llm.cache import Answers
from findback.steps.bench import open_bench
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.release import ReleaseRequest, release
from findback.steps.withdraw import Withdrawn, WithdrawRequest, withdraw
from findback.workspace import Workspace
from findback.writing.describe import Description

DAY = datetime(2024, 6, 3, tzinfo=UTC)
GONE = "c0000000003"
SECRET = "purple giraffe calendar of the third floor"


def publish(workspace: Workspace, ready: Ready) -> None:
    release(workspace, ReleaseRequest(message="more"), ready=ready, made=DAY)


def two_releases(tmp_path: Path) -> tuple[Workspace, Ready]:
    """Release 1 with four cases, release 2 with six; the fourth is what goes."""
    workspace = portal(tmp_path)
    cases = [reviewed(n) for n in range(3)] + [reviewed(3, query=SECRET), reviewed(4), reviewed(5)]
    ready = Ready(*cases[:4])
    publish(workspace, ready)
    ready.cases |= {f"key-{case.id}": case for case in cases[4:]}
    publish(workspace, ready)
    return workspace, ready


def take_back(workspace: Workspace, ready: Ready, *ids: str, reason: str = "asked to") -> Withdrawn:
    return withdraw(workspace, WithdrawRequest(cases=ids or (GONE,), reason=reason), ready=ready, made=DAY)


def files_with(folder: Path, text: str) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_a_tombstone_stays_and_nothing_else(tmp_path: Path) -> None:
    """The text is in no file of the set or the private folder; both releases read, with both digests written down."""
    workspace, ready = two_releases(tmp_path)
    evaluate(workspace, EvaluateRequest())
    before = [read_manifest(workspace.evalset / "releases" / n).digests for n in "12"]
    assert len(files_with(tmp_path, SECRET)) >= 3
    done = take_back(workspace, ready)
    assert (done.cases, done.releases, done.history) == ((GONE,), (1, 2), None)
    assert files_with(tmp_path, SECRET) == []
    for number, digests in zip("12", before, strict=True):
        read = read_release(workspace.evalset / "releases" / number)
        (entry,) = read.manifest.withdrawals
        assert (entry.before, entry.after, entry.cases) == (digests, read.manifest.digests, (GONE,))
        tombstone = next(case for case in read.content.cases if case.id == GONE)
        assert (tombstone.status, tombstone.judged, tombstone.query) == ("withdrawn", (), "⟦OTHER_1⟧")
        assert GONE not in {row.case for row in read.content.measured}
        assert read.manifest.counts.withdrawn == 1
    assert (workspace.evalset / "cases.jsonl").read_bytes() == (
        workspace.evalset / "releases" / "2" / "cases.jsonl"
    ).read_bytes()


def test_runs_evaluations_and_baselines_forget_it(tmp_path: Path) -> None:
    """Kept runs hold no answer for it, kept evaluations no miss, baselines no line; all others stay."""
    workspace, ready = two_releases(tmp_path)
    result = evaluate(workspace, EvaluateRequest())
    baselines = workspace.evalset / "baselines"
    baselines.mkdir()
    (baselines / "main.jsonl").write_text(f'{{"case":"{GONE}","ranks":[1]}}\n{{"case":"c0000000001","ranks":[2]}}\n')
    with closing(Answers(workspace.private_part("answers"))) as answers:
        answers.keep("k", Description(query=SECRET), Usage(1, 1), datetime.now(UTC))
    done = take_back(workspace, ready)
    assert done.dropped["answers of models"] == 1
    run = load_run(workspace.private / "runs" / str(result.retrievers[0].run))
    assert run.queries == tuple(f"c000000000{n}" for n in (0, 1, 2, 4, 5))
    assert [len(run.hits(at)) > 0 for at in range(5)] == [True] * 5
    assert (baselines / "main.jsonl").read_text() == '{"case":"c0000000001","ranks":[2]}\n'
    assert done.dropped["lines of baselines and scores"] == 1
    assert done.dropped["answers in runs"] == 1
    again = evaluate(workspace, EvaluateRequest())
    assert again.set.questions == 5


def test_doing_it_again_changes_nothing(tmp_path: Path) -> None:
    """A second withdrawal of the same case leaves every byte as it is."""
    workspace, ready = two_releases(tmp_path)
    take_back(workspace, ready)
    before = {path: path.read_bytes() for path in workspace.evalset.rglob("*") if path.is_file()}
    take_back(workspace, ready)
    assert {path: path.read_bytes() for path in workspace.evalset.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("written", [0, 1, 2, 3])
def test_an_interrupted_withdrawal_is_refused_and_then_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    """Stopped after any file of a release, the release reads as damaged; withdrawing again makes it whole."""
    workspace, ready = two_releases(tmp_path)
    import findback.evalset.withdrawal as module

    real, left = module.write_atomically, written

    def stop(path: Path, data: bytes, **options: bool) -> None:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        real(path, data, **options)

    monkeypatch.setattr(module, "write_atomically", stop)
    with pytest.raises(KeyboardInterrupt):
        take_back(workspace, ready)
    monkeypatch.setattr(module, "write_atomically", real)
    folder = workspace.evalset / "releases" / "1"
    if written:
        with pytest.raises(DataError, match="not release 1 as it was published"):
            read_release(folder)
    take_back(workspace, ready)
    assert files_with(tmp_path, SECRET) == []
    assert [len(read_release(folder.with_name(n)).manifest.withdrawals) for n in "12"] == [1, 1]


def test_an_altered_release_is_not_blessed(tmp_path: Path) -> None:
    """A release with foreign bytes is refused, so that a withdrawal cannot pass a manipulation off as published."""
    workspace, ready = two_releases(tmp_path)
    file = workspace.evalset / "releases" / "1" / "cases.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"grade":3', b'"grade":1'))
    with pytest.raises(DataError, match="as it was published"):
        take_back(workspace, ready)


def test_paraphrases_go_with_their_root(tmp_path: Path) -> None:
    """What was written from a withdrawn wording goes too, and what is left still holds together."""
    workspace = portal(tmp_path)
    root = reviewed(3, query=SECRET)
    made = reviewed(
        7, origin="paraphrase", root=root.id, query=f"{SECRET} again", judged=root.judged, cluster=root.cluster
    )
    ready = Ready(root, made, reviewed(1))
    publish(workspace, ready)
    assert take_back(workspace, ready).cases == (root.id, made.id)
    assert [case.status for case in read_cases(workspace.evalset / "cases.jsonl")] == [
        "active",
        "withdrawn",
        "withdrawn",
    ]


def test_a_withdrawn_case_does_not_come_back(tmp_path: Path) -> None:
    """The next release keeps the tombstone; a head that has the case again stands in the way."""
    workspace, ready = two_releases(tmp_path)
    old = (workspace.evalset / "cases.jsonl").read_bytes()
    take_back(workspace, ready)
    ready.cases["new"] = reviewed(8)
    (workspace.evalset / "cases.jsonl").write_bytes(old)
    refused = release(workspace, ReleaseRequest(message="back"), ready=ready, made=DAY)
    assert [(one.case, one.place) for one in refused.obstacles] == [(GONE, "status")]


def test_a_case_and_a_reason_are_needed(tmp_path: Path) -> None:
    """Unknown ids, no reason, and a reason that names somebody are refused before anything changes."""
    workspace, ready = two_releases(tmp_path)
    with pytest.raises(MissingError, match="no case cnothere"):
        take_back(workspace, ready, "cnothere")
    with pytest.raises(UsageError, match="say why"):
        take_back(workspace, ready, reason=" ")
    with pytest.raises(UsageError, match="EMAIL") as caught:
        take_back(workspace, ready, reason="for noor" + "@" + "example.org")
    assert "noor" not in str(caught.value)
    assert len(files_with(workspace.evalset, SECRET)) == 3


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Noor", "-c", "user.email=noor@example.org", "-c", "init.defaultBranch=main"]
    return subprocess.run(
        ["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_the_history_is_searched_and_the_commands_work(tmp_path: Path) -> None:
    """The commits that brought the text in are named, with the branch that holds it and commands that take it out."""
    workspace, ready = two_releases(tmp_path)
    root = workspace.root
    git(root, "init", "-q")
    (root / ".gitignore").write_text("*.html\n")
    git(root, "add", "findback.toml")
    git(root, "commit", "-qm", "settings")
    git(root, "add", "evalset")
    git(root, "commit", "-qm", "release")
    (root / "notes.md").write_text(f"we asked: {SECRET}\n")
    git(root, "add", "notes.md")
    git(root, "commit", "-qm", "notes")
    git(root, "tag", "v1")
    notes, released, settings = git(root, "log", "--format=%H").split()
    history = take_back(workspace, ready).history
    assert history is not None
    assert set(history.commits) == {notes, released}
    assert settings not in history.commits
    assert set(history.references) == {"refs/heads/main", "refs/tags/v1"}
    assert history.commands[0].startswith("git add evalset && git commit")
    named = history.commands[1].split()
    blobs = {git(root, "rev-parse", f"{notes}:{path}") for path in ("notes.md", "evalset/cases.jsonl")}
    blobs |= {git(root, "rev-parse", f"{notes}:evalset/releases/{n}/cases.jsonl") for n in "12"}
    assert blobs == {word for word in named if len(word) == 40}
    git(root, "add", "evalset")
    git(root, "commit", "-qm", "withdraw")
    again = take_back(workspace, ready).history
    assert again is not None
    assert set(again.commits) == {released}, "the text is known no more, the lines of the case still are"
    assert again.references == ("refs/tags/v1",)


def test_nothing_of_it_is_said(tmp_path: Path) -> None:
    """What a withdrawal reports holds no word of what it erased."""
    workspace, ready = two_releases(tmp_path)
    assert "giraffe" not in json.dumps(take_back(workspace, ready).model_dump(mode="json"))


def test_the_history_of_a_case_says_that_it_was_withdrawn(tmp_path: Path) -> None:
    """From the command line too: what, why and by whom, once, however often it is asked for."""
    workspace, ready = two_releases(tmp_path)
    with open_bench(workspace) as bench:
        bench.add_case_change(GONE, "judged", role="lead", now=DAY, why=SECRET, reviewer="ana")
    asked = WithdrawRequest(cases=(GONE,), reason="asked to")
    for _ in range(2):
        withdraw(workspace, asked, ready=ready, made=DAY, reviewer="noor")
    with open_bench(workspace) as bench:
        newest, *rest = bench.case_changes(GONE)
    assert (newest.what, newest.why, newest.role, newest.at) == ("withdrawn", "asked to", "lead", DAY)
    assert [one.what for one in rest] == ["judged"]
