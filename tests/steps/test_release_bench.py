"""From a reviewed candidate of a real workbench to a released case, and back out of it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builders.candidates import candidate, digest, line
from builders.ready import portal
from findback.cli.main import app
from findback.errors import MissingError
from findback.evalset.cases import read_cases
from findback.evalset.manifest import read_manifest
from findback.model.audit import Audit
from findback.model.candidate import DocumentLink
from findback.model.case import Judgement
from findback.model.review import Review, SpanDecision
from findback.model.reviewer import Reviewer
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.casemaking import BenchCases
from findback.steps.mined_sample import read_mined_sample
from findback.steps.release import ReleaseRequest, ReleaseResult, release
from findback.steps.review import submit
from findback.steps.reviewdesk import open_desk
from findback.steps.status import status
from findback.steps.withdraw import WithdrawRequest, withdraw
from findback.workspace import Workspace

NOW = datetime(2024, 6, 3, 9, tzinfo=UTC)
ABE = Reviewer("abe", "Abe", ("reviewer",), ("public",))
NOOR = Reviewer("noor", "Noor", ("reviewer",), ("public",))
GOLD = Judgement(doc="howto/badge.md", grade=3, found_by="reviewer")


def mined(tmp_path: Path, *names: str, overlap: float = 0.0) -> Workspace:
    workspace = portal(tmp_path, f"[review]\noverlap = {overlap}\n")
    with open_bench(workspace) as bench:
        bench.put([candidate(name) for name in names], now=NOW)
    return workspace


def decide(workspace: Workspace, name: str, who: Reviewer = NOOR, **changes: object) -> str:
    review = Review.model_validate({"wording": "plain", "judged": (GOLD,)} | changes)
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        return submit(desk, who, digest(name), review, revision=0, now=NOW + timedelta(minutes=1)).state


def publish(workspace: Workspace) -> ReleaseResult:
    return release(workspace, ReleaseRequest(message="reviewed"), reviewer="noor", made=NOW)


def states(workspace: Workspace) -> dict[str, int]:
    with open_bench(workspace) as bench:
        return {state: count for state, count in bench.count().items() if count}


def test_what_was_reviewed_is_released_and_only_that(tmp_path: Path) -> None:
    """A submitted review becomes a case in its asker's words; what nobody decided stays where it was."""
    workspace = mined(tmp_path, "badges", "trains")
    assert decide(workspace, "badges") == "ready"
    result = publish(workspace)
    assert result.obstacles == ()
    (case,) = read_cases(workspace.evalset / "releases" / "1" / "cases.jsonl")
    assert (case.query, case.judged[0].doc, case.added_in) == ("where is the page about badges?", "howto/badge.md", 1)
    assert states(workspace) == {"new": 1, "released": 1}
    with open_bench(workspace) as bench:
        (known,) = bench.cases()
    assert (known.case_id, known.release, known.split) == (case.id, 1, "dev")


def test_what_a_reviewer_redacted_is_not_in_the_release(tmp_path: Path) -> None:
    """Words that a reviewer covered are a placeholder in every file of the set."""
    workspace = mined(tmp_path, "orchid")
    start = len("where is the page about ")
    decide(
        workspace,
        "orchid",
        spans=(SpanDecision(place="query", start=start, end=start + 6, type="PERSON", action="redact"),),
    )
    assert publish(workspace).number == 1
    files = [path.read_text("utf-8") for path in workspace.evalset.rglob("*") if path.is_file()]
    assert not any("orchid" in text for text in files)
    (case,) = read_cases(workspace.evalset / "cases.jsonl")
    assert (case.query, case.redaction.types) == ("where is the page about ⟦PERSON_1⟧?", ("PERSON",))


def test_an_unmarked_candidate_is_marked_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the head and the workbench, the second run finishes: one release, the candidate released once."""
    workspace = mined(tmp_path, "badges")
    decide(workspace, "badges")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(BenchCases, "mark_released", die)
        with pytest.raises(KeyboardInterrupt):
            publish(workspace)
    assert states(workspace) == {"ready": 1}
    result = publish(workspace)
    assert (result.number, result.finished) == (1, 1)
    assert states(workspace) == {"released": 1}
    assert [path.name for path in (workspace.evalset / "releases").iterdir()] == ["1"]


def test_a_withdrawn_case_leaves_the_workbench_for_good(tmp_path: Path) -> None:
    """Its candidate is erased, no byte of its words is left, and mining it again does not bring it back."""
    workspace = mined(tmp_path, "quetzalcoatlus")
    decide(workspace, "quetzalcoatlus")
    publish(workspace)
    (case,) = read_cases(workspace.evalset / "cases.jsonl")
    done = withdraw(workspace, WithdrawRequest(cases=(case.id,), reason="asked to"), made=NOW)
    assert done.dropped["candidates"] == 1
    left = [path for path in tmp_path.rglob("*") if path.is_file() and b"quetzalcoatlus" in path.read_bytes()]
    assert left == []
    with open_bench(workspace) as bench:
        bench.put([candidate("quetzalcoatlus")], now=NOW + timedelta(days=1))
    assert states(workspace) == {}


def test_the_manifest_says_how_far_two_people_agree(tmp_path: Path) -> None:
    """Twenty candidates decided by two people, the same gold each time: doubles and full agreement stand there."""
    names = [f"thing-{n}" for n in range(20)]
    workspace = mined(tmp_path, *names, overlap=1.0)
    for at, name in enumerate(names):
        gold = {"judged": (GOLD.model_copy(update={"doc": ("howto/badge.md", "howto/vpn.md")[at % 2]}),)}
        assert decide(workspace, name, NOOR, **gold) == "second-opinion"
        assert decide(workspace, name, ABE, **gold) == "ready"
    assert publish(workspace).number == 1
    agreement = read_manifest(workspace.evalset / "releases" / "1").agreement
    assert agreement is not None
    assert (agreement.doubles, agreement.second_looks, agreement.top_gold.kappa) == (20, 0, 1.0)
    assert (agreement.answerable.kappa, agreement.answerable.reason is None) == (None, False)


def test_the_command_releases_or_lists_what_stands_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`findback release -m` exits with 1 and a list while something is in the way, and with 0 once it is released."""
    workspace = mined(tmp_path, "badges")
    decide(workspace, "badges")
    monkeypatch.chdir(workspace.root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(*words: str) -> tuple[int, str]:
        status = app(["release", *words], exit_on_error=False, result_action="return_value")
        return status, capsys.readouterr().out

    status, out = run("-m", "for noor" + "@" + "example.org")
    assert (status, "message, character 5" in out, "noor@" in out) == (1, True, False)
    assert run("-m", "first", "--dry-run")[0] == 0
    assert states(workspace) == {"ready": 1}
    status, out = run("-m", "first")
    assert (status, "release 1 is in" in out) == (0, True)
    assert states(workspace) == {"released": 1}


@pytest.mark.parametrize("objects", [False, True])
def test_an_erasure_names_the_cases_that_are_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, objects: bool
) -> None:
    """Purged or kept out, whoever asked a released question has its id named with the command; others' are not."""
    workspace = portal(tmp_path, "[review]\noverlap = 0.0\n")
    hmac = open_workspace_key(workspace).hmac
    with open_bench(workspace) as bench:
        for name, person in (("badges", "U1"), ("trains", "U2"), ("flights", "U1")):
            made = candidate(name)
            first = made.thread[0].model_copy(update={"author_hmac": hmac(person)})
            bench.put([made.model_copy(update={"thread": (first,)})], now=NOW)
    decide(workspace, "badges")
    decide(workspace, "trains")
    publish(workspace)
    (case,) = (one for one in read_cases(workspace.evalset / "cases.jsonl") if "badges" in one.query)
    monkeypatch.chdir(workspace.root)
    monkeypatch.setenv("XDG_STATE_HOME", workspace.environment["XDG_STATE_HOME"])
    command = ["privacy", "exclude"] if objects else ["purge"]
    app([*command, "--person", "U1"], result_action="return_value")
    said = capsys.readouterr()
    line = f"findback withdraw {case.id} --reason 'erased on request'"
    assert f"to erase that too: {line}\n" in said.out
    assert said.err == f"warning: the published set still holds what became of them: {case.id}\n"
    app([*command, "--person", "U1"], result_action="return_value")
    assert "findback withdraw" not in capsys.readouterr().out


def test_what_became_a_case_is_no_real_sample_of_the_set(tmp_path: Path) -> None:
    """Of two candidates one is released: the sample holds the other and counts it; with both released there is none."""
    link = DocumentLink(document="howto/badge.md", line=1, by="resolver", kind="url-in-text")
    reply = line("r", "bo", "see there", 1, role="resolver")
    workspace = portal(tmp_path, "[review]\noverlap = 0.0\n")
    with open_bench(workspace) as bench:
        bench.put([candidate(name, replies=[reply], links=(link,)) for name in ("badges", "trains")], now=NOW)
    decide(workspace, "badges")
    publish(workspace)
    sample = read_mined_sample(workspace, None)
    assert [one.query for one in sample.questions] == ["where is the page about trains?"]
    assert sample.notes[-1] == "1 more have become cases of the set already and are left out"
    decide(workspace, "trains")
    publish(workspace)
    with pytest.raises(MissingError, match="all 2 have become cases"):
        read_mined_sample(workspace, None)


def test_the_next_step_follows_the_workbench(tmp_path: Path) -> None:
    """Candidates that wait are reviewed, ready ones released, and then the set is scored."""
    workspace = mined(tmp_path, "badges", "trains")
    assert status(workspace).next == "findback review (2 waiting)"
    decide(workspace, "badges")
    assert status(workspace).next == 'findback review (1 waiting), or findback release -m "…" (1 ready)'
    decide(workspace, "trains")
    assert status(workspace).next == 'findback release -m "…" (2 ready)'
    publish(workspace)
    assert status(workspace).next == "findback evaluate"
    assert {one.what: one.state for one in status(workspace).items}["workbench"] == "2 released"


def test_a_number_is_not_used_again_when_its_folder_is_gone(tmp_path: Path) -> None:
    """Release 1 and the head moved away: the next release is 2, of no parent, and says which folder is missing."""
    workspace = mined(tmp_path, "badges", "trains")
    decide(workspace, "badges")
    publish(workspace)
    workspace.evalset.rename(tmp_path / "away")
    decide(workspace, "trains")
    result = publish(workspace)
    assert (result.number, result.parent, result.obstacles) == (2, None, ())
    assert any("releases/1 is not there" in line and "restore" in line for line in result.warnings)


def test_the_newest_release_is_audited_where_no_set_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`findback audit --real candidates` takes release 1, and the candidates that are no case of it."""
    link = DocumentLink(document="howto/badge.md", line=1, by="resolver", kind="url-in-text")
    reply = line("r", "bo", "see there", 1, role="resolver")
    workspace = portal(tmp_path, "[review]\noverlap = 0.0\n")
    with open_bench(workspace) as bench:
        bench.put([candidate(name, replies=[reply], links=(link,)) for name in ("badges", "trains")], now=NOW)
    decide(workspace, "badges")
    publish(workspace)
    monkeypatch.chdir(workspace.root)
    monkeypatch.setenv("XDG_STATE_HOME", workspace.environment["XDG_STATE_HOME"])
    assert app(["audit", "--real", "candidates", "--json"], result_action="return_value") == 0
    found = Audit.model_validate_json(capsys.readouterr().out)
    assert found.sample is not None
    assert (found.set.set.heading, found.sample.set.questions) == ("release 1", 1)


def test_named_sources_that_were_never_mined_are_the_next_step(tmp_path: Path) -> None:
    """A workspace that names an export and has no workbench is told to mine."""
    workspace = portal(tmp_path, "[sources.chat]\npath = 'slack.zip'\n")
    assert status(workspace).next.startswith("findback mine")
