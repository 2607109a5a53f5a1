"""What is done with a release: evaluated, held out, copied, verified, compared."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders.ready import Ready, portal, reviewed
from findback.cli.main import app
from findback.errors import MissingError, UsageError
from findback.evalset.cases import read_cases, write_cases
from findback.model.case import Case
from findback.model.evaluation import Evaluation
from findback.retrievers.memory import MemoryRetriever
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.opening import SetRequest, find_set
from findback.steps.release import ReleaseRequest, release
from findback.steps.releases import DiffRequest, compare_releases, list_releases
from findback.steps.verify import VerifyRequest, verify
from findback.workspace import Workspace, open_workspace

DAY = datetime(2024, 6, 3, tzinfo=UTC)


def alone(number: int) -> Case:
    """A case that shares gold with no other."""
    return reviewed(number, judged=[{"doc": f"page-{number}.md", "grade": 3, "found_by": "resolver"}])


def large(tmp_path: Path, count: int = 95) -> Workspace:
    """A workspace with one release whose cases share no gold, so that some are held out."""
    workspace = portal(tmp_path)
    for number in range(count):
        (workspace.root / "docs" / f"page-{number}.md").write_text(f"# Page {number}\n\nabout nothing else\n")
    release(workspace, ReleaseRequest(message="first"), ready=Ready(*map(alone, range(count))), made=DAY)
    return workspace


def score(workspace: Workspace, **options: object) -> Evaluation:
    return evaluate(workspace, EvaluateRequest.model_validate(options))


def relabel(workspace: Workspace, id_: str, doc: str) -> None:
    path = workspace.evalset / "cases.jsonl"
    judged = [{"doc": doc, "grade": 3, "found_by": "reviewer"}]
    cases = [
        Case.model_validate(one.model_dump() | {"judged": judged}) if one.id == id_ else one for one in read_cases(path)
    ]
    write_cases(path, cases)


def test_the_newest_release_is_what_is_scored(tmp_path: Path) -> None:
    """Without --set the newest release is scored, and its number stands over the figures."""
    workspace, ready = portal(tmp_path), Ready(reviewed(1), reviewed(2))
    release(workspace, ReleaseRequest(message="first"), ready=ready, made=DAY)
    ready.cases["new"] = reviewed(3)
    release(workspace, ReleaseRequest(message="second"), ready=ready, made=DAY)
    assert (score(workspace).set.heading, score(workspace).set.questions) == ("release 2", 3)
    assert (score(workspace, release=1).set.heading, score(workspace, release=1).set.questions) == ("release 1", 2)


def test_dev_and_holdout_are_never_mixed(tmp_path: Path) -> None:
    """An evaluation asks dev cases only; with --holdout it asks the others, and the two have no case in common."""
    workspace = large(tmp_path)
    cases = read_cases(workspace.evalset / "cases.jsonl")
    held = {one.id for one in cases if one.split == "holdout"}
    assert len(held) == 30
    asked: list[set[str]] = []
    by_query = {one.query: one.id for one in cases}

    class Listening(MemoryRetriever):
        async def search(self, query, k):  # type: ignore[no-untyped-def]
            asked[-1].add(by_query[query.text])
            return await super().search(query, k)

    for holdout in (False, True):
        asked.append(set())
        evaluate(workspace, EvaluateRequest(holdout=holdout), systems=[Listening({}, name="a")])
    assert asked == [set(by_query.values()) - held, held]


def test_a_look_at_the_holdout_gives_aggregates_and_is_written_down(tmp_path: Path) -> None:
    """No query, id or run of a held-out case is in the result or kept; each look is a line, the eleventh says so."""
    workspace = large(tmp_path)
    held = [one for one in read_cases(workspace.evalset / "cases.jsonl") if one.split == "holdout"]
    result = score(workspace, holdout=True)
    assert result.set.heading == "release 1, holdout, look 1"
    assert result.retrievers[0].run is None
    kept = "".join(path.read_text() for path in (workspace.private / "evaluations").iterdir())
    for text in (result.model_dump_json(), kept):
        assert not any(one.query in text or one.id in text for one in held)
    runs = workspace.private / "runs"
    assert not runs.is_dir() or not list(runs.iterdir())
    looks = workspace.evalset / "looks.jsonl"
    assert json.loads(looks.read_text())["retrievers"] == ["bm25"]
    looks.write_text(looks.read_text() * 10)
    assert score(workspace, holdout=True).set.heading == "release 1, holdout, look 11: no longer unseen"
    assert len(looks.read_text().splitlines()) == 11


def test_too_small_a_holdout_is_none(tmp_path: Path) -> None:
    """A release that holds out nothing, and a set that is no release, have no holdout to look at."""
    workspace = portal(tmp_path)
    release(workspace, ReleaseRequest(message="first"), ready=Ready(reviewed(1)), made=DAY)
    with pytest.raises(UsageError, match="holds out 0 clusters"):
        score(workspace, holdout=True)
    with pytest.raises(UsageError, match="only releases"):
        score(workspace, holdout=True, set=workspace.root / "asked.jsonl")
    assert not (workspace.evalset / "looks.jsonl").exists()


def test_a_copy_without_the_private_folder_does_all_of_it(tmp_path: Path) -> None:
    """The committed files alone, elsewhere, evaluate to the same scores, list, compare and verify clean."""
    workspace, ready = portal(tmp_path / "here"), Ready(reviewed(1), reviewed(2))
    release(workspace, ReleaseRequest(message="first"), ready=ready, made=DAY)
    ready.cases["new"] = reviewed(3)
    release(workspace, ReleaseRequest(message="second"), ready=ready, made=DAY)
    there = tmp_path / "there"
    shutil.copytree(workspace.root, there)
    copy = open_workspace(there, environment={"XDG_STATE_HOME": str(tmp_path / "empty"), "HOME": str(tmp_path)})
    mine, theirs = score(workspace).retrievers[0], score(copy).retrievers[0]
    assert mine.groups == theirs.groups
    assert [one.manifest.number for one in list_releases(copy).releases] == [2, 1]
    assert compare_releases(copy, DiffRequest(before=1, after=2)).diff.added == ("c0000000003",)
    assert verify(copy, VerifyRequest()).clean


def test_verify_says_what_is_not_as_published(tmp_path: Path) -> None:
    """A changed byte in a release and a broken line of the head are named, and the set is not clean."""
    workspace = portal(tmp_path)
    release(workspace, ReleaseRequest(message="first"), ready=Ready(reviewed(1), reviewed(2)), made=DAY)
    assert verify(workspace, VerifyRequest()).clean
    measured = workspace.evalset / "releases" / "1" / "measured.jsonl"
    measured.write_bytes(measured.read_bytes().replace(b"1", b"2", 1))
    head = workspace.evalset / "cases.jsonl"
    head.write_bytes(head.read_bytes().replace(b'"grade":3', b'"grade":7', 1))
    found = verify(workspace, VerifyRequest())
    assert not found.clean
    assert any("measured.jsonl" in line for line in found.damaged)
    assert any("cases.jsonl:1" in line and "grade" in line for line in found.damaged)


def test_the_exam_is_told_from_the_system(tmp_path: Path) -> None:
    """A relabelled case moves a fixed run's score by the exam alone; another system's run moves it as the system."""
    workspace, ready = portal(tmp_path), Ready(*(reviewed(n) for n in range(4)))
    release(workspace, ReleaseRequest(message="first"), ready=ready, made=DAY)
    gold = {one.query: one.judged[0].doc for one in read_cases(workspace.evalset / "cases.jsonl")}
    queries = list(gold)

    def run(right: int) -> None:
        answers = {query: [gold[query] if at < right else "policies/leave.md"] for at, query in enumerate(queries)}
        evaluate(workspace, EvaluateRequest(), systems=[MemoryRetriever(answers, name="a")])

    run(2)
    relabel(workspace, "c0000000000", "policies/travel.md")
    ready.cases["new"] = reviewed(10)
    result = release(workspace, ReleaseRequest(message="second"), ready=ready, made=DAY)
    (effect,) = result.effects
    assert (effect.before.value, effect.after.value, effect.not_asked) == (0.5, 0.25, 1)
    assert (effect.exam, effect.system) == (-0.25, None)
    run(1)
    (effect,) = compare_releases(workspace, DiffRequest(before=1, after=2)).effects
    assert (effect.earlier.value if effect.earlier else None, effect.before.value) == (0.5, 0.25)
    assert (effect.system, effect.not_asked) == (-0.25, 0)
    assert effect.after.value == 0
    assert effect.by_system is not None
    assert effect.by_exam is not None
    assert (effect.by_system.value, effect.by_exam.value) == (-0.25, pytest.approx(effect.exam))
    assert effect.by_system.reason == "too few: 4 clusters, 8 needed"


def test_there_is_nothing_to_compare_before_a_release(tmp_path: Path) -> None:
    """Without a release, and with a number that is none, the error says what to do."""
    workspace = portal(tmp_path)
    with pytest.raises(MissingError, match="nothing has been released"):
        compare_releases(workspace, DiffRequest())
    release(workspace, ReleaseRequest(message="first"), ready=Ready(reviewed(1)), made=DAY)
    with pytest.raises(MissingError, match="no release 7"):
        compare_releases(workspace, DiffRequest(before=7))


def test_commands_print_what_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`releases`, `diff` and `withdraw` say it in lines a person reads, and JSON holds the same."""
    workspace, ready = portal(tmp_path), Ready(reviewed(1), reviewed(2))
    release(workspace, ReleaseRequest(message="the first one"), ready=ready, made=DAY)
    ready.cases["new"] = reviewed(3)
    release(workspace, ReleaseRequest(message="the second one"), ready=ready, made=DAY)
    monkeypatch.chdir(workspace.root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def said(*words: str) -> str:
        app(list(words), exit_on_error=False, result_action="return_value")
        return capsys.readouterr().out

    assert "the second one" in said("releases")
    assert "1 added" in said("diff", "1", "2")
    assert json.loads(said("diff", "1", "2", "--json"))["diff"]["added"] == ["c0000000003"]
    assert "withdrawn: c0000000002" in said("withdraw", "c0000000002", "--reason", "asked to")
    assert "withdrawn from" in said("releases")


def test_a_set_and_a_release_contradict_each_other(tmp_path: Path) -> None:
    """Whoever names both is told, in place of one of them being passed over."""
    with pytest.raises(UsageError, match="a set and a release"):
        find_set(open_workspace(tmp_path, required=False), SetRequest(set=tmp_path / "set.jsonl", release=1))
