"""How much of a moved score is the system, and how much the exam."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders.ready import Ready, portal, reviewed
from findback.cli.main import app
from findback.errors import UsageError
from findback.evalset.cases import read_cases, write_cases
from findback.model.case import Case
from findback.model.compared import Comparison
from findback.retrievers.memory import MemoryRetriever
from findback.steps.compare import CompareRequest, compare
from findback.steps.decompose import DecomposeRequest, decompose
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.kept import newest
from findback.steps.release import ReleaseRequest, release
from findback.steps.withdraw import WithdrawRequest, withdraw
from findback.workspace import Workspace

DAY = datetime(2024, 6, 3, tzinfo=UTC)


def alone(number: int) -> Case:
    """A case that shares gold with no other."""
    return reviewed(number, judged=[{"doc": f"page-{number}.md", "grade": 3, "found_by": "resolver"}])


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Two releases of 12 and 16 cases, with a run from between them and one from after."""
    made = portal(tmp_path)
    for number in range(16):
        (made.root / "docs" / f"page-{number}.md").write_text(f"# Page {number}\n\nabout nothing else\n")
    ready = Ready(*map(alone, range(12)))
    release(made, ReleaseRequest(message="first"), ready=ready, made=DAY)
    run(made, {f"page-{number}.md" for number in range(6)})
    for number in range(12, 16):
        ready.cases[f"new {number}"] = alone(number)
    release(made, ReleaseRequest(message="second"), ready=ready, made=DAY)
    run(made, {f"page-{number}.md" for number in (*range(9), 12, 13, 14, 15)})
    return made


def run(workspace: Workspace, found: set[str]) -> None:
    """Evaluate a system that puts the gold of some cases first, and finds that of no other."""
    answers = {}
    for case in read_cases(workspace.evalset / "cases.jsonl"):
        gold = case.judged[0].doc
        answers[case.query] = [gold if gold in found else "policies/leave.md"]
    evaluate(workspace, EvaluateRequest(), systems=[MemoryRetriever(answers, name="a")])


def test_system_and_exam_add_up(workspace: Workspace) -> None:
    """Three of 12 more are the system, four easy cases are the exam, and together they are the whole move."""
    (effect,) = decompose(workspace, DecomposeRequest(before=1, after=2)).effects
    assert effect.earlier is not None
    assert effect.by_system is not None
    assert effect.by_exam is not None
    assert (effect.earlier.value, effect.after.value) == (pytest.approx(6 / 12), pytest.approx(13 / 16))
    assert effect.by_system.value == pytest.approx(3 / 12)
    assert effect.by_exam.value == pytest.approx(13 / 16 - 9 / 12)
    assert effect.by_system.value + effect.by_exam.value == pytest.approx(13 / 16 - 6 / 12)
    for part in (effect.by_system, effect.by_exam):
        assert part.low is not None
        assert part.high is not None
        assert part.low < part.value < part.high  # type: ignore[operator]


def test_a_release_that_only_relabels_has_a_system_part_too(tmp_path: Path) -> None:
    """No added case tells its runs apart; the release's day does: one more hit is the system, one the new label."""
    made = portal(tmp_path)
    for number in range(12):
        (made.root / "docs" / f"page-{number}.md").write_text(f"# Page {number}\n\nabout nothing else\n")
    ready = Ready(*map(alone, range(12)))
    release(made, ReleaseRequest(message="first"), ready=ready, made=DAY)
    run(made, {f"page-{number}.md" for number in range(6)})
    head = made.evalset / "cases.jsonl"
    cases = read_cases(head)
    label = cases[11].judged[0].model_copy(update={"doc": "page-0.md"})
    write_cases(head, [*cases[:11], cases[11].model_copy(update={"judged": (label,)})])
    release(made, ReleaseRequest(message="second"), ready=ready, made=datetime.now(UTC))
    answers = {case.query: [f"page-{at}.md" if at < 7 else "page-0.md"] for at, case in enumerate(cases)}
    evaluate(made, EvaluateRequest(), systems=[MemoryRetriever(answers, name="a")])
    (effect,) = decompose(made, DecomposeRequest(before=1, after=2)).effects
    assert effect.by_system is not None
    assert effect.by_exam is not None
    assert (effect.by_system.value, effect.by_exam.value) == (pytest.approx(1 / 12), pytest.approx(1 / 12))
    (unknown,) = decompose(made, DecomposeRequest(before=1)).effects
    assert unknown.by_system is None


def test_the_command_says_both_with_intervals(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`findback decompose 1 2` prints before, system, exam and now; JSON holds the same."""
    monkeypatch.chdir(workspace.root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def said(*words: str) -> str:
        app(list(words), exit_on_error=False, result_action="return_value")
        return capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ")

    text = said("decompose", "1", "2")
    assert "from release 1 to release 2" in text
    for line in ("before: earlier run, earlier exam", "system", "exam", "now: newest run, later exam"):
        assert line in text
    assert "+.250 [" in text
    assert json.loads(said("decompose", "1", "2", "--json"))["effects"][0]["by_system"]["value"] == pytest.approx(0.25)
    assert "from release 1 to the head" in said("decompose", "1")


def test_kept_runs_of_a_release_are_compared(workspace: Workspace) -> None:
    """Runs kept for an earlier and for the newest release meet on the cases that both were asked."""
    folder = workspace.private / "runs"
    ids = sorted(path.name for path in folder.iterdir())
    result = compare(workspace, CompareRequest(systems=tuple(ids)))
    assert (result.set.heading, result.compared, result.left_out) == ("release 2", 12, 4)
    assert result.pairs[0].difference.value == pytest.approx(3 / 12)
    older = compare(workspace, CompareRequest(systems=tuple(ids), release=1))
    assert (older.set.heading, older.compared, older.left_out) == ("release 1", 12, 0)


def test_a_withdrawn_case_is_in_no_kept_comparison(workspace: Workspace) -> None:
    """After a withdrawal the kept comparison holds neither id nor query, and can still be read."""
    ids = tuple(sorted(path.name for path in (workspace.private / "runs").iterdir()))
    result = compare(workspace, CompareRequest(systems=ids))
    gone = result.cases[0]
    withdraw(workspace, WithdrawRequest(cases=(gone.question,), reason="asked to"), ready=Ready())
    kept = newest(workspace, Comparison)
    assert kept.result is not None
    assert kept.unreadable == ()
    text = kept.result.model_dump_json()
    assert gone.question not in text
    assert gone.query not in text
    assert len(kept.result.cases) == len(result.cases) - 1


def test_one_release_twice_is_no_move(workspace: Workspace) -> None:
    """The same release on both sides is refused."""
    with pytest.raises(UsageError, match="two different releases; got 1 twice"):
        decompose(workspace, DecomposeRequest(before=1, after=1))
