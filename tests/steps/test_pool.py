"""The unreleased pool: what a model wrote, scored by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from builders.candidates import NOON, candidate, described, digest, paraphrased
from builders.ready import portal
from builders.sets import case
from findback.cli.main import app
from findback.errors import MissingError, UsageError
from findback.evalset.cases import write_cases
from findback.model.evaluation import Evaluation
from findback.retrievers.memory import MemoryRetriever
from findback.steps.bench import open_bench
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.kept import newest
from findback.steps.opening import open_documents
from findback.steps.pool import open_pool
from findback.steps.runs import RunsRequest, list_runs
from findback.workbench.store import Workbench
from findback.workspace import Workspace

BADGE, LEAVE, VPN = "howto/badge.md", "policies/leave.md", "howto/vpn.md"
FOUND = {"card gone": [BADGE], "time away": [VPN, LEAVE], "lost my pass": [LEAVE]}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return portal(tmp_path)


@pytest.fixture
def bench(workspace: Workspace) -> Iterator[Workbench]:
    with open_bench(workspace) as opened:
        yield opened


def fill(workspace: Workspace, bench: Workbench) -> None:
    """Two generated, one paraphrase, one that people asked, one rejected, and cases they rest on."""
    root = case(1, query="where is my badge", judged=[{"doc": BADGE, "grade": 2, "found_by": "resolver"}])
    held = case(2, query="how do i get in from home", split="holdout")
    write_cases(workspace.evalset / "cases.jsonl", [root, held])
    bench.put(
        [
            described("a", BADGE, VPN, query="card gone"),
            described("b", LEAVE, query="time away"),
            described("gone", VPN, query="thrown out"),
            paraphrased("p", root.id, query="lost my pass"),
            paraphrased("h", held.id, query="reach it from the sofa"),
            candidate("mined", query="people asked this"),
        ],
        now=NOON,
    )
    bench.reject(digest("gone"), "no good", reviewer="ana", version=1, now=NOON)


def test_the_pool_is_what_a_model_wrote_and_nobody_decided(workspace: Workspace, bench: Workbench) -> None:
    """The described documents count as answers, a paraphrase has its case's; what is held out stays out."""
    fill(workspace, bench)
    pool = open_pool(workspace, EvaluateRequest(pool=True), open_documents(workspace, EvaluateRequest()))
    assert (pool.kind, pool.heading) == ("unreleased pool", "unreleased pool, n = 3")
    assert {one.query: [(gold.doc, gold.grade) for gold in one.gold] for one in pool.questions} == {
        "card gone": [(BADGE, 3), (VPN, 3)],
        "time away": [(LEAVE, 3)],
        "lost my pass": [(BADGE, 2)],
    }
    assert {one.query: (one.origin, one.stratum, one.cluster) for one in pool.questions} == {
        "card gone": ("generated", "control", None),
        "time away": ("generated", "control", None),
        "lost my pass": ("paraphrase", "failure", "k1"),
    }
    assert any("nobody has confirmed" in note for note in pool.notes)
    assert "left out: 1 paraphrases of cases that are held out" in pool.notes


def test_the_pool_is_scored_under_its_own_heading_and_kept_apart(workspace: Workspace, bench: Workbench) -> None:
    """Origins stand apart in it; its runs are marked, and who asks for the newest scores does not get it."""
    fill(workspace, bench)
    retriever = MemoryRetriever(FOUND, name="portal")
    result = evaluate(workspace, EvaluateRequest(pool=True), systems=[retriever])
    assert result.set.heading == "unreleased pool, n = 3"
    scored = {group.value: group for group in result.retrievers[0].groups if group.axis == "origin"}
    assert scored.keys() == {"generated", "paraphrase"}
    rank = next(score for score in scored["generated"].scores if score.metric == "RR@10")
    # The badge first, leave second.
    assert rank.estimate.value == pytest.approx((1 + 1 / 2) / 2)
    assert newest(workspace, Evaluation).result is None
    assert [file.name.partition("-")[0] for file in (workspace.private / "evaluations").iterdir()] == ["pool"]
    (run,) = list_runs(workspace, RunsRequest()).runs
    assert (run.pool, run.retriever) == (True, "portal")
    assert any("never reviewed and released" in line for line in result.limits)


def test_a_release_is_scored_without_the_pool(workspace: Workspace, bench: Workbench) -> None:
    """A set that is named is all that is asked."""
    fill(workspace, bench)
    retriever = MemoryRetriever({"where is my badge": [BADGE]}, name="portal")
    evaluate(workspace, EvaluateRequest(set=workspace.evalset), systems=[retriever])
    assert {query.text for query, _ in retriever.asked} == {"where is my badge"}
    (run,) = list_runs(workspace, RunsRequest()).runs
    assert run.pool is False


@pytest.mark.parametrize("options", [{"release": 1}, {"set": Path("golden.jsonl")}, {"holdout": True}])
def test_the_pool_is_never_scored_with_anything_else(
    workspace: Workspace, bench: Workbench, options: dict[str, object]
) -> None:
    """Neither with a release, nor with a set, nor as a holdout."""
    fill(workspace, bench)
    with pytest.raises(UsageError):
        evaluate(workspace, EvaluateRequest(pool=True, **options), systems=[MemoryRetriever({})])


def test_an_empty_pool_says_so(workspace: Workspace) -> None:
    """Before anything was generated, and where only people asked."""
    with pytest.raises(MissingError, match="no model has written anything"):
        evaluate(workspace, EvaluateRequest(pool=True), systems=[MemoryRetriever({})])
    with open_bench(workspace) as bench:
        bench.put([candidate("mined")], now=NOON)
    with pytest.raises(MissingError, match="nothing that a model wrote waits"):
        evaluate(workspace, EvaluateRequest(pool=True), systems=[MemoryRetriever({})])


def test_the_command_line_scores_the_pool(
    workspace: Workspace, bench: Workbench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`findback evaluate --pool` prints the heading over its figures."""
    fill(workspace, bench)
    monkeypatch.chdir(workspace.root)
    for name, value in workspace.environment.items():
        monkeypatch.setenv(name, value)
    assert app(["evaluate", "--pool"], result_action="return_value") == 0
    assert "unreleased pool, n = 3" in capsys.readouterr().out
