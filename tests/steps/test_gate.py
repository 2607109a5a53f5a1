"""Holding a system to a baseline, case by case."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builders.comparisons import question, question_set, questions, ranking
from findback.corpus.corpus import corpus_of
from findback.errors import DataError, MissingError, UsageError
from findback.evalset.baseline import read_baseline
from findback.evalset.gatelooks import read_gate_looks
from findback.measure.gating import bound_difference
from findback.model.case import Judgement
from findback.model.document import Document
from findback.model.gated import GateComparison, Gated
from findback.model.question import Question
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.gate import gate
from findback.steps.gate_night import list_night
from findback.steps.gaterequest import GateRequest
from findback.workspace import Workspace, open_workspace

Ranks = Mapping[int, int | Exception] | Sequence[int | Exception]
GONE = "no longer asked: retired, withdrawn, held out, or without an answer now"
RELABELLED = "relabelled since, and the baseline does not say where the new gold stood"


def workspace_in(folder: Path, settings: str = "") -> Workspace:
    if settings:
        (folder / "findback.toml").write_text(settings)
    return open_workspace(folder, environment={"HOME": str(folder)}, required=False)


def publish(workspace: Workspace, ranks: Ranks, asked: Sequence[Question], name: str = "main") -> Path:
    evaluate(workspace, EvaluateRequest(publish=name), systems=[ranking("a", ranks)], questions=question_set(asked))
    return workspace.evalset / "baselines" / f"{name}.jsonl"


def hold(workspace: Workspace, ranks: Ranks, asked: Sequence[Question], **options: Any) -> Gated:
    made = options.pop("made", None)
    documents = options.pop("documents", None)
    request = GateRequest.model_validate({"baseline": "main"} | options)
    systems = [ranking("a", ranks)]
    given = question_set(asked)
    return gate(workspace, request, systems=systems, questions=given, documents=documents, made=made)


def only(found: Gated) -> GateComparison:
    (one,) = found.comparisons
    return one


def left_out(found: Gated) -> dict[str, tuple[str, ...]]:
    return {one.why: one.cases for one in only(found).left_out}


def gold(*documents: str) -> dict[str, Any]:
    return {"judged": tuple(Judgement(doc=name, grade=3, found_by="resolver") for name in documents)}


def test_publish_keeps_ranks_and_nothing_else(tmp_path: Path) -> None:
    """A baseline has the rank of each gold, and neither queries nor ids of documents."""
    file = publish(workspace_in(tmp_path), [1, 3, 0, RuntimeError("down")][:3], questions(3))
    kept = read_baseline(file)
    assert [[one.rank for one in case.ranks] for case in kept.cases] == [[1], [3], [None]]
    assert (kept.head.retriever, kept.head.primary, kept.head.depth) == ("a", "RR@10", 100)
    text = file.read_text()
    assert "query 1" not in text
    assert '"d1"' not in text
    assert "x1" not in text


def test_publish_refuses_several_systems_and_failed_searches(tmp_path: Path) -> None:
    """A baseline holds one system; one whose searches failed leaves none behind."""
    workspace, asked = workspace_in(tmp_path), question_set(questions(3))
    two = [ranking("a", [1, 1, 1]), ranking("b", [1, 1, 1])]
    with pytest.raises(UsageError, match="a baseline holds one system"):
        evaluate(workspace, EvaluateRequest(publish="main"), systems=two, questions=asked)
    file = publish(workspace, [1, 1, RuntimeError("down")], questions(3))
    assert not file.exists()


def test_pairs_give_the_bounds_of_the_differences(tmp_path: Path) -> None:
    """The verdict rests on now minus before, case by case: 80 cases of which ten fell from rank 1 to 2."""
    workspace, asked = workspace_in(tmp_path), questions(80)
    publish(workspace, [1] * 80, asked)
    found = hold(workspace, [2] * 10 + [1] * 70, asked)
    one = only(found)
    gaps = np.array([-0.5] * 10 + [0.0] * 70)
    bounds = bound_difference(gaps, seed=20_251)
    assert gaps.mean() == pytest.approx(one.difference)
    assert (one.lower, one.upper, one.p) == pytest.approx((bounds.lower, bounds.upper, bounds.p))
    assert (one.before, one.now) == pytest.approx((1.0, 75 / 80))
    assert (found.verdict, one.lost, one.won, one.cases) == ("fail", 10, 0, 80)
    assert [(case.question, case.rank_before, case.rank_now) for case in one.changed[:2]] == [
        ("q0", 1, 2),
        ("q1", 1, 2),
    ]


def test_an_identical_run_passes_and_twelve_cases_do_not(tmp_path: Path) -> None:
    """The same ranks pass on 80 cases as identical; on 12 they are undecided, and 59 would be needed."""
    for count, verdict in ((80, "pass"), (12, "undecided")):
        folder = tmp_path / str(count)
        folder.mkdir()
        workspace, asked = workspace_in(folder), questions(count)
        publish(workspace, [1] * count, asked)
        one = only(hold(workspace, [1] * count, asked))
        assert one.verdict == verdict
        assert one.why.startswith(f"identical on these {count}")
        assert one.needed == 59 if count < 59 else one.needed is not None


def test_margin_policy_and_settings(tmp_path: Path) -> None:
    """What fails with a margin of .05 passes with one of .2, from settings or request; significance fails still."""
    workspace, asked = workspace_in(tmp_path, "[gate]\nbaseline = 'main'\nmargin = 0.2\n"), questions(80)
    publish(workspace, [1] * 80, asked)
    now = [2] * 10 + [1] * 70
    assert hold(workspace, now, asked, baseline=None).verdict == "pass"
    assert hold(workspace, now, asked, margin=0.05).verdict == "fail"
    assert hold(workspace, now, asked, policy="significance").verdict == "fail"


def test_failed_searches_are_undecided_at_best(tmp_path: Path) -> None:
    """One failed search of an otherwise identical run: bounds and no value; half of them failing is no pass either."""
    workspace, asked = workspace_in(tmp_path), questions(80)
    publish(workspace, [1] * 80, asked)
    one = only(hold(workspace, [RuntimeError("down"), *[1] * 79], asked))
    assert (one.verdict, one.difference, one.errors, one.now) == ("undecided", None, 1, None)
    assert (one.lowest, one.highest) == pytest.approx((-1 / 80, 0))
    assert one.changed[0].rank_now is None
    lost: list[int | Exception] = [RuntimeError("down"), *[0] * 40, *[1] * 39]
    assert only(hold(workspace, lost, asked)).verdict == "fail"


def test_cases_added_and_retired_are_named(tmp_path: Path) -> None:
    """Added cases are left out on one side, those no longer asked on the other, and each is named."""
    workspace = workspace_in(tmp_path)
    publish(workspace, [1] * 20, questions(20))
    now = [*questions(22)[2:], question(30, judged=(), no_answer_reason="nowhere")]
    found = hold(workspace, dict.fromkeys(range(31), 1), now)
    assert only(found).cases == 18
    assert left_out(found) == {"added since": ("q20", "q21"), GONE: ("q0", "q1")}


def test_relabelled_cases_are_scored_again_where_ranks_are_kept(tmp_path: Path) -> None:
    """Gold that was judged before keeps its rank and is scored again on both sides; new gold is left out by name."""
    workspace = workspace_in(tmp_path)
    wrong = Judgement(doc="x0", grade=0, found_by="reviewer")
    before = [question(n, judged=(*gold(f"d{n}")["judged"], wrong)) for n in range(10)]
    publish(workspace, [2] * 10, before)
    now = [question(0, **gold("x0")), question(1, **gold("x1")), question(2, **gold("d2", "x0")), *before[3:]]
    found = hold(workspace, [2] * 10, now)
    one = only(found)
    assert one.rescored == ("q0", "q2")
    assert left_out(found) == {RELABELLED: ("q1",)}
    # x0 stood first: both sides score 1 on the relabelled ones, and 1/2 on the seven others.
    assert (one.before, one.now) == pytest.approx(((1 + 1 + 7 / 2) / 9,) * 2)


def test_renamed_documents_are_found_by_their_former_names(tmp_path: Path) -> None:
    """A gold document that moved keeps the rank it had under its old id."""
    workspace = workspace_in(tmp_path)
    publish(workspace, [1] * 10, questions(10))
    moved = corpus_of([Document(id=f"new/d{n}", text="text", aliases=(f"d{n}",)) for n in range(10)])
    now = [question(n, **gold(f"new/d{n}")) for n in range(10)]
    one = only(hold(workspace, [1] * 10, now, documents=moved))
    assert (one.cases, one.before, one.now) == (10, 1.0, 1.0)
    assert not one.left_out


@pytest.mark.parametrize("primary", ["RR", "Success@3", "P@5", "nDCG@10", "AP", "Rprec", "PartRecall@10", "Judged@5"])
def test_every_metric_is_scored_again_as_it_was(tmp_path: Path, primary: str) -> None:
    """From the ranks kept each metric gives what the run itself gave: with several golds, wrong documents and ties."""
    workspace = workspace_in(tmp_path, f"[measures]\nprimary = '{primary}'\n")
    wrong = Judgement(doc="x2", grade=0, found_by="reviewer")
    other = Judgement(doc="x4", grade=1, part=2, found_by="reviewer")
    asked = [question(n, judged=(*gold(f"d{n}")["judged"], other, wrong)) for n in range(10)]
    ranks = [1, 2, 3, 4, 5, 8, 11, 0, 1, 7]
    publish(workspace, ranks, asked)
    one = only(hold(workspace, ranks, asked))
    assert (one.cases, one.lost, one.won) == (10, 0, 0)
    assert one.now is not None
    assert one.now == pytest.approx(one.before)


def test_tied_results_of_a_recorded_run_stay_tied(tmp_path: Path) -> None:
    """Gold tied with two others at rank 2 has the expected value on both sides."""
    workspace = workspace_in(tmp_path)
    rows = [
        f"q{n} Q0 {doc} 1 {score} r\n" for n in range(10) for doc, score in (("x", 3), ("y", 2), (f"d{n}", 2), ("z", 2))
    ]
    file = tmp_path / "old.trec"
    file.write_text("".join(rows))
    given = question_set(questions(10))
    found = gate(workspace, GateRequest(baseline=str(file), run=file), questions=given)
    one = only(found)
    assert (one.before, one.now, one.lost) == (pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3), one.before, 0)
    assert found.notes == ()


def test_floors_hold_together(tmp_path: Path) -> None:
    """A type above its floor passes, one below fails, one with too few cases or none is undecided: the worst counts."""
    settings = """
    [gate.floors]
    wording.plain = 0.5
    wording.vague = 0.5
    language.de = 0.5
    answer.cross-doc = 0.1
    """
    workspace = workspace_in(tmp_path, settings)
    asked = [
        question(n, wording="plain" if n < 60 else "vague", language="de" if n >= 95 else "en") for n in range(100)
    ]
    ranks = [1] * 60 + [4, 5] * 20
    publish(workspace, ranks, asked)
    found = hold(workspace, ranks, asked)
    assert only(found).verdict == "pass"
    floors = {f"{one.axis}.{one.value}": one for one in found.floors}
    assert {name: one.verdict for name, one in floors.items()} == {
        "wording.plain": "pass",
        "wording.vague": "fail",
        "language.de": "undecided",
        "answer.cross-doc": "undecided",
    }
    assert floors["wording.plain"].lower == pytest.approx((0.05 / 4) ** (1 / 60))
    assert floors["answer.cross-doc"].why == "the set has no such case"
    assert found.verdict == "fail"
    assert any("4 together (Bonferroni)" in line for line in found.method)


def test_nights_are_budgeted_written_down_and_compared(tmp_path: Path) -> None:
    """Each night shares one alarm a year over its tests; the second is compared with the first as well."""
    workspace, asked = workspace_in(tmp_path), questions(80)
    publish(workspace, [1] * 80, asked)
    day = datetime(2024, 6, 3, tzinfo=UTC)
    first = hold(workspace, [1] * 80, asked, nightly=True, made=day)
    second = hold(workspace, [2] * 3 + [1] * 77, asked, nightly=True, made=day + timedelta(days=1))
    third = hold(workspace, [2] * 6 + [1] * 74, asked, nightly=True, made=day + timedelta(days=2))
    assert [one.role for one in first.comparisons] == ["anchor"]
    assert [(one.role, one.lost) for one in second.comparisons] == [("anchor", 3), ("last night", 3)]
    assert [(one.role, one.lost) for one in third.comparisons] == [("anchor", 6), ("last night", 3)]
    assert [found.alarm for found in (first, second)] == pytest.approx([1 / 365, 1 / 730])
    assert [found.nightly.look for found in (first, second, third) if found.nightly] == [1, 2, 3]
    looks = read_gate_looks(workspace.evalset)
    assert [(one.at, one.baseline, one.verdict) for one in looks] == [
        (found.made, "main", found.verdict) for found in (first, second, third)
    ]
    assert any("365 looks and 2 tests a look (Bonferroni)" in line for line in second.method)


def test_more_looks_than_planned_share_the_same_alarms(tmp_path: Path) -> None:
    """With two looks a year planned, the third within a year has a third of the alarms."""
    workspace, asked = workspace_in(tmp_path, "[gate]\nlooks_a_year = 2\nalarms_a_year = 0.06\n"), questions(20)
    publish(workspace, [1] * 20, asked)
    day = datetime(2024, 6, 3, tzinfo=UTC)
    alarms = [hold(workspace, [1] * 20, asked, nightly=True, made=day + timedelta(days=n)).alarm for n in range(3)]
    assert alarms == pytest.approx([0.03, 0.015, 0.01])


def test_small_losses_add_up_against_the_anchor(tmp_path: Path) -> None:
    """Five of 100 cases are lost every night: no night fails against the one before, the anchor fails in the end."""
    workspace, asked = workspace_in(tmp_path), questions(100)
    publish(workspace, [1] * 100, asked)
    nights = [hold(workspace, [0] * lost + [1] * (100 - lost), asked, nightly=True) for lost in range(5, 45, 5)]
    assert [one.verdict for found in nights for one in found.comparisons if one.role == "last night"].count("fail") == 0
    assert nights[-1].comparisons[0].verdict == "fail"


def test_a_night_with_errors_is_not_what_tomorrow_is_compared_with(tmp_path: Path) -> None:
    """Failed searches are looked at and written down, and the night before them stays the last one."""
    workspace, asked = workspace_in(tmp_path), questions(20)
    file = publish(workspace, [1] * 20, asked)
    hold(workspace, [RuntimeError("down"), *[1] * 19], asked, nightly=True)
    assert len(read_gate_looks(workspace.evalset)) == 1
    assert len(list_night(workspace, read_baseline(file))) == 1


def test_a_release_number_and_files_are_baselines_too(tmp_path: Path) -> None:
    """The newest baseline of a release, and a copy elsewhere, serve as well as a name."""
    workspace, asked = workspace_in(tmp_path), questions(60)
    released = question_set(asked).model_copy(update={"kind": "release", "release": 7})
    for name, rank in (("old", 3), ("new", 1)):
        systems = [ranking("a", [rank] * 60)]
        evaluate(workspace, EvaluateRequest(publish=name), systems=systems, questions=released)
    assert only(hold(workspace, [1] * 60, asked, baseline="7")).name == "new"
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes((workspace.evalset / "baselines" / "old.jsonl").read_bytes())
    assert only(hold(workspace, [1] * 60, asked, baseline=str(copy))).before == pytest.approx(1 / 3)
    with pytest.raises(MissingError, match="no baseline was published on release 8"):
        hold(workspace, [1] * 60, asked, baseline="8")


def test_what_cannot_be_said_is_asked_for(tmp_path: Path) -> None:
    """No baseline named, none of that name, a night held to a file, two systems: each says what to do."""
    workspace, asked = workspace_in(tmp_path), questions(20)
    with pytest.raises(UsageError, match="say what to compare with"):
        hold(workspace, [1] * 20, asked, baseline=None)
    with pytest.raises(MissingError, match="is no baseline of"):
        hold(workspace, [1] * 20, asked)
    file = publish(workspace, [1] * 20, asked)
    with pytest.raises(UsageError, match="held to a published baseline"):
        hold(workspace, [1] * 20, asked, baseline=str(file), nightly=True)
    with pytest.raises(UsageError, match="recorded results are tested instead"):
        hold(workspace, [1] * 20, asked, run=str(file))
    with pytest.raises(MissingError, match=r"there is no \[retrievers.other\]"):
        gate(workspace, GateRequest(baseline="main", retriever="other"), questions=question_set(asked))


def test_nothing_to_pair_is_an_error(tmp_path: Path) -> None:
    """A baseline of other cases is no pass and no fail: it is said that nothing can be paired."""
    workspace = workspace_in(tmp_path)
    publish(workspace, [1] * 10, questions(10))
    with pytest.raises(DataError, match="none of the 10 cases of the baseline main can be paired"):
        hold(workspace, dict.fromkeys(range(20, 30), 1), questions(30)[20:])


def test_metrics_over_passages_are_refused(tmp_path: Path) -> None:
    """A baseline keeps ranks of documents, so that a metric over passages cannot be its primary one."""
    workspace = workspace_in(tmp_path, "[measures]\nprimary = 'AnchorSuccess@10'\n")
    with pytest.raises(UsageError, match="about passages"):
        publish(workspace, [1] * 10, questions(10))


def test_queries_of_unreleased_sets_are_never_shown(tmp_path: Path) -> None:
    """Words are in the result only when they were asked for, and the set is a release."""
    workspace, asked = workspace_in(tmp_path), questions(20)
    publish(workspace, [1] * 20, asked)
    found = hold(workspace, [2] * 20, asked, show_queries=True)
    assert {case.query for case in only(found).changed} == {None}
    assert "queries are not shown: this set is not released" in found.notes
    released = question_set(asked).model_copy(update={"kind": "release", "release": 1})
    for show in (True, False):
        request = GateRequest(baseline="main", show_queries=show)
        again = gate(workspace, request, systems=[ranking("a", [2] * 20)], questions=released)
        assert all((case.query is not None) is show for case in only(again).changed)


def test_a_metric_deeper_than_depth_is_named(tmp_path: Path) -> None:
    """With a depth of 5 the primary metric still looks at ten, and the gate says that the search did too."""
    workspace, asked = workspace_in(tmp_path, "[measures]\ndepth = 5\n"), questions(60)
    publish(workspace, [1] * 60, asked)
    assert "searched 10 deep, not 5: RR@10 needs it" in hold(workspace, [1] * 60, asked).notes
