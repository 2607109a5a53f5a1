"""Releasing a set."""

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import findback.steps.release as module
from builders.ready import Ready, portal, reviewed
from builders.slack import SlackExport
from findback.cli.main import app
from findback.errors import DataError, RefusedError, UsageError
from findback.evalset.cases import read_cases, write_cases
from findback.evalset.manifest import read_manifest
from findback.evalset.release import (
    Content,
    check_set,
    list_numbers,
    read_release,
    release_folder,
    write_release,
)
from findback.model.case import Case
from findback.steps.doctor import DoctorRequest, doctor
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.release import ReleaseRequest, ReleaseResult, release
from findback.steps.releases import DiffRequest, compare_releases, list_releases
from findback.steps.status import status
from findback.steps.withdraw import WithdrawRequest, withdraw
from findback.workspace import Workspace, open_workspace

DAY = datetime(2024, 6, 3, 9, tzinfo=UTC)


def publish(workspace: Workspace, ready: Ready, message: str = "first", *, dry_run: bool = False) -> ReleaseResult:
    return release(workspace, ReleaseRequest(message=message, dry_run=dry_run), ready=ready, made=DAY)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def change_head(workspace: Workspace, id_: str, **changes: object) -> None:
    path = workspace.evalset / "cases.jsonl"
    cases = [Case.model_validate(one.model_dump() | changes) if one.id == id_ else one for one in read_cases(path)]
    write_cases(path, cases)


def test_a_release_holds_what_is_ready(tmp_path: Path) -> None:
    """Cases, figures and digests stand in a numbered folder, the head is the same, the candidates are released."""
    workspace, ready = portal(tmp_path), Ready(*(reviewed(n) for n in range(12)))
    result = publish(workspace, ready)
    assert (result.number, result.parent, result.obstacles) == (1, None, ())
    folder = workspace.evalset / "releases" / "1"
    assert sorted(path.name for path in folder.iterdir()) == [
        "cases.jsonl",
        "documents.jsonl",
        "manifest.json",
        "measured.jsonl",
    ]
    read = read_release(folder)
    assert (folder / "cases.jsonl").read_bytes() == (workspace.evalset / "cases.jsonl").read_bytes()
    assert {case.added_in for case in read.content.cases} == {1}
    assert len(read.content.measured) == 12
    assert {row.tokenizer for row in read.content.measured} == {read.manifest.tokenizer}
    assert len(read.content.documents) == 6
    assert all(row.sha256 is not None for row in read.content.documents)
    assert (read.manifest.outside, read.manifest.date.isoformat()) == ((), "2024-06-03")
    assert read.manifest.counts.by["origin"] == {"mined": 12}
    assert len(ready.released) == 12
    assert result.diff.added == tuple(case.id for case in read.content.cases)


def test_same_state_same_bytes(tmp_path: Path) -> None:
    """Two workspaces with the same key, head and candidates, in any order, give the same folder byte for byte."""
    cases = [reviewed(n) for n in range(70)]
    one, two = portal(tmp_path / "a"), portal(tmp_path / "b")
    publish(one, Ready(*cases))
    key = one.private / "workbench" / "hmac.key"
    target = two.private_part("workbench") / "hmac.key"
    shutil.copy(key, target)
    publish(two, Ready(*reversed(cases)))
    assert bytes_of(one.evalset) == bytes_of(two.evalset)


def test_everything_in_the_way_is_listed_and_nothing_written(tmp_path: Path) -> None:
    """An address, a broken invariant and a candidate that is no case are all named, by place and rule, not by text."""
    workspace = portal(tmp_path)
    address = "noor" + "@" + "example.org"
    ready = Ready(
        reviewed(1, query=f"who is {address} and why"),
        reviewed(2, judged=[], no_answer_reason=None),
        reviewed(3),
        blocked={"key-x": ["query: a suggestion is not decided"]},
    )
    result = publish(workspace, ready, message=f"for {address}")
    assert result.number is None
    found = {(one.case, one.candidate, one.place.partition(",")[0]) for one in result.obstacles}
    assert found == {
        (None, "key-x", "candidate"),
        (None, None, "message"),
        ("c0000000001", None, "query"),
        ("c0000000002", None, "case"),
    }
    assert address not in result.model_dump_json()
    assert not workspace.evalset.exists()
    assert not ready.released


def test_nobody_slips_in_through_the_head(tmp_path: Path) -> None:
    """A case that was written into the head by hand, another wording and a line taken out all stand in the way."""
    workspace = portal(tmp_path)
    publish(workspace, Ready(*(reviewed(n) for n in range(3))))
    path = workspace.evalset / "cases.jsonl"
    one, two, _ = read_cases(path)
    write_cases(path, [one, two.model_copy(update={"query": "a nicer question about it"}), reviewed(9)])
    result = publish(workspace, Ready(reviewed(10)), "second")
    assert {(o.case, o.place) for o in result.obstacles} == {
        ("c0000000001", "query"),
        ("c0000000002", "case"),
        ("c0000000009", "case"),
    }


def test_what_changed_is_told_by_type(tmp_path: Path) -> None:
    """Added, retired and relabelled cases are named and counted by type and stratum."""
    workspace, ready = portal(tmp_path), Ready(*(reviewed(n) for n in range(4)))
    publish(workspace, ready)
    change_head(workspace, "c0000000000", status="retired", retired_because="the page is gone")
    change_head(workspace, "c0000000001", judged=[{"doc": "howto/vpn.md", "grade": 1, "found_by": "reviewer"}])
    ready.cases["new"] = reviewed(5, wording="vague")
    diff = publish(workspace, ready, "second").diff
    assert (diff.added, diff.retired, diff.relabelled, diff.same) == (
        ("c0000000005",),
        ("c0000000000",),
        ("c0000000001",),
        2,
    )
    rows = {(row.axis, row.value): row.counts for row in diff.by}
    assert rows["wording", "vague"] == {"added": 1}
    assert rows["wording", "plain"] == {"retired": 1, "relabelled": 1}
    assert rows["stratum", "failure"] == {"added": 1, "retired": 1, "relabelled": 1}


def test_nothing_new_is_no_release(tmp_path: Path) -> None:
    """Without a change since the last release there is no next number."""
    workspace, ready = portal(tmp_path), Ready(reviewed(1))
    publish(workspace, ready)
    with pytest.raises(UsageError, match="nothing changed since release 1"):
        publish(workspace, ready)
    assert [path.name for path in (workspace.evalset / "releases").iterdir()] == ["1"]


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    """A dry run says what would be added and leaves set and candidates alone."""
    workspace, ready = portal(tmp_path), Ready(reviewed(1))
    result = publish(workspace, ready, dry_run=True)
    assert (result.number, result.diff.added) == (None, ("c0000000001",))
    assert not workspace.evalset.exists()
    assert not ready.released


def test_a_used_number_is_never_used_for_other_bytes(tmp_path: Path) -> None:
    """Writing the same release again is nothing; another content under its number is refused and changes nothing."""
    workspace = portal(tmp_path)
    publish(workspace, Ready(reviewed(1)))
    folder = workspace.evalset / "releases" / "1"
    before, read = bytes_of(folder), read_release(folder)
    write_release(workspace.evalset, read.manifest, read.content)
    with pytest.raises(RefusedError, match="never changes"):
        write_release(workspace.evalset, read.manifest, Content((reviewed(2),), (), ()))
    assert bytes_of(folder) == before


@pytest.mark.parametrize("name", ["cases.jsonl", "measured.jsonl", "documents.jsonl"])
def test_everything_opened_is_checked(tmp_path: Path, name: str) -> None:
    """A release with one byte changed in any file is refused, with the file named."""
    workspace = portal(tmp_path)
    publish(workspace, Ready(reviewed(1)))
    file = workspace.evalset / "releases" / "1" / name
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(DataError, match=name):
        read_release(file.parent)
    with pytest.raises(DataError, match=name):
        publish(workspace, Ready(reviewed(2)))


def test_gold_outside_the_corpus_is_named(tmp_path: Path) -> None:
    """Gold that is no document is a warning and has no digest; without a corpus it reads as not checked."""
    gone = [{"doc": "howto/gone.md", "grade": 2, "found_by": "reviewer"}]
    workspace = portal(tmp_path)
    result = publish(workspace, Ready(reviewed(1), reviewed(2, judged=gone)))
    assert any("howto/gone.md" in warning for warning in result.warnings)
    folder = workspace.evalset / "releases" / "1"
    assert read_manifest(folder).outside == ("howto/gone.md",)
    rows = [json.loads(line) for line in (folder / "documents.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows if row["sha256"] is None] == ["howto/gone.md"]
    other = portal(tmp_path / "other")
    (other.root / "findback.toml").write_text("")
    bare = open_workspace(other.root, environment=other.environment)
    publish(bare, Ready(reviewed(1)))
    manifest = json.loads((bare.evalset / "releases" / "1" / "manifest.json").read_text())
    assert (manifest["corpus"], manifest["outside"]) == ("none", None)


DRAWN = st.fixed_dictionaries(
    {
        "wording": st.sampled_from(["plain", "vague", "symptom-first"]),
        "stratum": st.sampled_from(["failure", "control"]),
        "cluster": st.sampled_from([f"t{n}" for n in range(12)]),
        "golds": st.lists(st.sampled_from([f"d{n}.md" for n in range(8)]), max_size=3, unique=True),
        "twin": st.booleans(),
        "paraphrase": st.booleans(),
    }
)


def make_cases(drawn: Sequence[dict[str, Any]], start: int) -> list[Case]:
    """Sound cases from what was drawn: twins of the query before, no-answer cases, paraphrases of the case before."""
    made: list[Case] = []
    for number, one in enumerate(drawn, start):
        judged = [{"doc": doc, "grade": 2, "found_by": "reviewer"} for doc in one["golds"]]
        changes: dict[str, Any] = {key: one[key] for key in ("wording", "stratum", "cluster")} | {"judged": judged}
        if not judged:
            changes["no_answer_reason"] = "nobody wrote it"
        if one["twin"] and made:
            changes["query"] = made[-1].query.upper()
        root = made[-1] if made else None
        if one["paraphrase"] and root is not None and root.origin != "paraphrase":
            taken = {key: getattr(root, key) for key in ("judged", "no_answer_reason", "wording", "cluster")}
            changes |= taken | {"origin": "paraphrase", "root": root.id}
        made.append(reviewed(number, **changes))
    return made


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    first=st.lists(DRAWN, min_size=1, max_size=120),
    second=st.lists(DRAWN, max_size=20),
    retired=st.sets(st.integers(0, 119), max_size=10),
    relabelled=st.sets(st.integers(0, 119), max_size=10),
    shuffle=st.randoms(use_true_random=False),
)
def test_any_head_and_any_ready_list_give_a_sound_release(
    first: list[dict[str, Any]],
    second: list[dict[str, Any]],
    retired: set[int],
    relabelled: set[int],
    shuffle: Random,
) -> None:
    """Whatever is ready and however the head was edited: checks hold, splits last, the same gives the same bytes."""
    new, later = make_cases(first, 0), make_cases(second, 500)
    results = []
    with TemporaryDirectory() as folder:
        for name in ("one", "two"):
            root = Path(folder, name)
            root.mkdir()
            (root / "findback.toml").write_text("")
            environment = {"XDG_STATE_HOME": str(root / "state"), "FINDBACK_KEY": "ab" * 32}
            workspace = open_workspace(root, environment=environment)
            shuffle.shuffle(new)
            ready = Ready(*new)
            assert publish(workspace, ready).number == 1
            path = workspace.evalset / "cases.jsonl"
            write_cases(path, edit(read_cases(path), retired, relabelled))
            shuffle.shuffle(later)
            ready.cases |= {f"key-{case.id}": case for case in later}
            with suppress(UsageError):
                publish(workspace, ready, "second")
            results.append(bytes_of(workspace.evalset))
            assert not check_set(workspace.evalset)
            releases = [read_release(release_folder(workspace.evalset, n)) for n in list_numbers(workspace.evalset)]
            old, last = releases[0].content.cases, releases[-1].content.cases
            assert {case.id for case in last} == {case.id for case in (*new, *(later if len(releases) > 1 else []))}
            now = {case.id: case for case in last}
            for case in old:
                kept = now[case.id]
                assert (kept.query, kept.split, kept.added_in) == (case.query, case.split, case.added_in)
            sides = [{j.doc for c in old if c.split == side for j in c.gold} for side in ("dev", "holdout")]
            assert not sides[0] & sides[1]
            assert len({case.cluster for case in old if case.split == "holdout"}) in (0, *range(30, 121))
            assert len(ready.released) == len(last)
    assert results[0] == results[1]


def edit(cases: Sequence[Case], retired: set[int], relabelled: set[int]) -> list[Case]:
    """Retire and relabel some cases, paraphrases with their roots."""
    done = []
    for case in cases:
        number, changes = int((case.root or case.id)[1:]), dict[str, object]()
        if number in relabelled:
            changes |= {"judged": (), "no_answer_reason": "it is gone"}
        if int(case.id[1:]) in retired:
            changes |= {"status": "retired", "retired_because": "out of date"}
        done.append(case.model_copy(update=changes))
    return done


def test_people_of_an_export_at_hand_are_looked_for(tmp_path: Path) -> None:
    """A reason that a reviewer wrote with a colleague's first name in it is stopped, and so is one in the message."""
    slack = SlackExport()
    slack.person("U1", "Oluwaseun Adeyemi", "seun")
    slack.post(slack.channel("C1", "help"), "U1", 10, "where is the form?")
    export = slack.write(tmp_path / "export")
    workspace = portal(tmp_path, f"[sources.chat]\nkind = 'slack'\npath = '{export}'\n")
    ready = Ready(reviewed(1, judged=[], no_answer_reason="nobody wrote it, ask Oluwaseun"), reviewed(2))
    result = publish(workspace, ready, "with thanks to oluwaseun adeyemi")
    assert {(one.case, one.place.partition(",")[0], one.rule.partition(" ")[0]) for one in result.obstacles} == {
        ("c0000000001", "no_answer_reason", "PERSON"),
        (None, "message", "PERSON"),
    }
    assert "luwaseun" not in result.model_dump_json()


def test_what_reviewers_gave_back_is_no_obstacle(tmp_path: Path) -> None:
    """A value that a review called no address stays; the same kind of value that nobody gave back does not."""
    workspace = portal(tmp_path)
    example, other = "ops" + "@" + "example.org", "noor" + "@" + "example.org"
    ready = Ready(reviewed(1, query=f"is {example} a real mailbox"), reviewed(2, query=f"is {other} on leave"))
    ready.given_back.add(example)
    assert [one.case for one in publish(workspace, ready).obstacles] == ["c0000000002"]


def test_two_releases_at_once_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes second finds the number taken and has changed nothing; the next try gets the next number."""
    workspace = portal(tmp_path)
    slow, fast = Ready(reviewed(1)), Ready(reviewed(2))
    real = module.measure_golds

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(module, "measure_golds", real)
        assert publish(workspace, fast).number == 1
        return real(*arguments, **options)

    monkeypatch.setattr(module, "measure_golds", meanwhile)
    with pytest.raises(RefusedError, match="release 1 is there already"):
        publish(workspace, slow)
    assert [case.id for case in read_cases(workspace.evalset / "cases.jsonl")] == ["c0000000002"]
    assert not slow.released
    assert publish(workspace, slow).number == 2
    assert not check_set(workspace.evalset)


def test_a_head_that_is_edited_meanwhile_keeps_the_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judgement changed while a release is made is not lost: the head gets what was added, and the change stays."""
    workspace, ready = portal(tmp_path), Ready(reviewed(1))
    publish(workspace, ready)
    ready.cases["new"] = reviewed(2)
    real = module.measure_golds

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        change_head(workspace, "c0000000001", judged=[{"doc": "howto/badge.md", "grade": 1, "found_by": "reviewer"}])
        return real(*arguments, **options)

    monkeypatch.setattr(module, "measure_golds", meanwhile)
    assert publish(workspace, ready, "second").number == 2
    one, two = read_cases(workspace.evalset / "cases.jsonl")
    assert (one.judged[0].doc, two.added_in) == ("howto/badge.md", 2)
    monkeypatch.setattr(module, "measure_golds", real)
    assert publish(workspace, ready, "third").diff.relabelled == ("c0000000001",)


def test_a_lost_head_is_restored_from_the_newest_release(tmp_path: Path) -> None:
    """Without cases.jsonl the next release begins from the newest one, and nothing of it is missing."""
    workspace, ready = portal(tmp_path), Ready(reviewed(1), reviewed(2))
    publish(workspace, ready)
    (workspace.evalset / "cases.jsonl").unlink()
    ready.cases["new"] = reviewed(3)
    result = publish(workspace, ready, "second")
    assert (result.number, result.finished, result.diff.same) == (2, 1, 2)


def test_a_stricter_leak_limit_stands_in_the_way_and_makes_nothing_unreadable(tmp_path: Path) -> None:
    """What was released under another limit still reads and scores; the next release names it."""
    workspace = portal(tmp_path)
    made = {"origin": "generated", "filter": {"leak": 0.3, "measure": "leak words-1"}}
    publish(workspace, Ready(reviewed(1, **made), reviewed(2)))
    settings_file = workspace.root / "findback.toml"
    settings_file.write_text(settings_file.read_text() + "[measures]\nleak_limit = 0.2\n")
    strict = open_workspace(workspace.root, environment=workspace.environment)
    assert read_release(strict.evalset / "releases" / "1").manifest.number == 1
    result = publish(strict, Ready(reviewed(3)), "second")
    assert [(one.case, "above the limit" in one.rule) for one in result.obstacles] == [("c0000000001", True)]


def test_a_number_that_the_head_knows_is_not_used_again(tmp_path: Path) -> None:
    """Release 2 moved away: what it added is not taken for new, and the missing folder is named."""
    workspace, ready = portal(tmp_path), Ready(reviewed(1))
    publish(workspace, ready)
    ready.cases["new"] = reviewed(2)
    publish(workspace, ready, "second")
    (workspace.evalset / "releases" / "2").rename(tmp_path / "away")
    ready.released.clear()
    ready.cases = {"third": reviewed(3)}
    result = publish(workspace, ready, "third")
    assert [one.case for one in result.obstacles] == ["c0000000002"]
    assert any("releases/2 is not there" in line and "the next one is 3" in line for line in result.warnings)


def newer(workspace: Workspace) -> None:
    path = workspace.evalset / "releases" / "1" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 2, "more": []}))


@pytest.mark.parametrize(
    "reading",
    [
        lambda there: publish(there, Ready(reviewed(2)), "second"),
        lambda there: compare_releases(there, DiffRequest()),
        lambda there: evaluate(there, EvaluateRequest()),
        lambda there: withdraw(there, WithdrawRequest(cases=("c0000000001",), reason="asked to")),
    ],
)
def test_a_release_of_a_newer_format_is_said_to_be_one(tmp_path: Path, reading: Callable[[Workspace], object]) -> None:
    """Whatever reads it stops and says which format it has, and never to restore what is whole."""
    workspace = portal(tmp_path)
    publish(workspace, Ready(reviewed(1)))
    newer(workspace)
    said = "made by a newer findback: its format is 2, this one knows 1; upgrade"
    with pytest.raises(DataError, match=said) as caught:
        reading(workspace)
    assert "restore" not in (caught.value.hint or "")
    assert said in list_releases(workspace).unreadable[0]


def test_a_broken_head_says_how_to_mend_it_and_is_noticed(tmp_path: Path) -> None:
    """The error names a command's own way out; doctor has a failed check, status a line."""
    workspace = portal(tmp_path)
    publish(workspace, Ready(reviewed(1)))
    head = workspace.evalset / "cases.jsonl"
    assert doctor(workspace, DoctorRequest(offline=True)).well
    head.write_text(head.read_text() + "{\n")
    with pytest.raises(DataError) as caught:
        publish(workspace, Ready(reviewed(2)), "second")
    assert caught.value.hint == f"mend the line, or restore {head} from version control"
    (fault,) = (one for one in doctor(workspace, DoctorRequest(offline=True)).items if one.state == "fault")
    assert (fault.what, f"{head}:2" in fault.found) == ("set", True)
    assert any(one.what == "cannot be read" and f"{head}:2" in one.state for one in status(workspace).items)


def test_relabelled_cases_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of twelve relabelled cases `findback diff` names ten, and says how many more there are."""
    workspace = portal(tmp_path)
    publish(workspace, Ready(*(reviewed(n) for n in range(12))))
    for number in range(12):
        change_head(workspace, f"c{number:010}", judged=[{"doc": "howto/vpn.md", "grade": 1, "found_by": "reviewer"}])
    monkeypatch.chdir(workspace.root)
    app(["diff"], result_action="return_value")
    named = ", ".join(f"c{number:010}" for number in range(10))
    assert f"relabelled: {named} and 2 more\n" in capsys.readouterr().out
