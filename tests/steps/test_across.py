"""Comparing systems across two sets."""

from pathlib import Path

import numpy as np
import pytest

import findback
from builders.across import NAMES, across, across_systems, documents_for, two_sides
from builders.comparisons import question, question_set, questions, ranking
from builders.gaterepo import DAY, write_repository
from builders.portal import GOLDEN, write_portal, write_set
from builders.ready import Ready, asked
from builders.sets import case
from findback.errors import DataError, UsageError
from findback.model.across import Across
from findback.steps.across import AcrossRequest, compare_across
from findback.steps.kept import newest
from findback.steps.release import ReleaseRequest, release
from findback.steps.withdraw import _clean_kept
from findback.workspace import Workspace, open_workspace

SYSTEMS = "".join(
    f"[retrievers.{name}]\nkind = 'bm25'\nb = {b}\nfactors = {{length = '{length}'}}\n"
    for name, b, length in (("plain", 0.75, "some"), ("flat", 0.0, "none"))
)


def reopen(root: Path) -> Workspace:
    return open_workspace(root, environment={"HOME": str(root.parent), "XDG_STATE_HOME": str(root.parent / "state")})


def test_a_reversed_pair_is_named_with_both_sides() -> None:
    """Two systems that change places between generated and mined cases are reversed; who leads on mined is first."""
    result = across()
    assert result.verdict == "changed"
    turned = [pair for pair in result.pairs if pair.reversed]
    assert {(pair.first, pair.second) for pair in turned} >= {("dense", "bm25")}
    (pair,) = [pair for pair in turned if (pair.first, pair.second) == ("dense", "bm25")]
    here, there = pair.differences
    assert here.high < 0 < there.low
    assert pair.between.value == pytest.approx(here.value - there.value)
    assert (pair.differs, pair.opposed) == (True, True)
    assert [side.name for side in result.sides] == ["generated", "mined"]
    assert [(side.n, side.clusters) for side in result.sides] == [(120, 120), (60, 60)]
    assert [one.name for one in result.systems] == list(NAMES)


def test_levels_are_the_means_of_each_side(tmp_path: Path) -> None:
    """Ranks 1 and 2 on the generated side, 4 and 2 on the mined one: 1 and .5, .25 and .5."""
    ranks = [1] * 10 + [4] * 9, [2] * 19
    result = across_systems(tmp_path, [ranking("a", ranks[0]), ranking("b", ranks[1])], two_sides(19, 10))
    assert [tuple(level.value for level in one.levels) for one in result.systems] == [(1.0, 0.25), (0.5, 0.5)]
    assert (result.tau, result.reason) == (None, "fewer than 5 systems: pairs only")
    (pair,) = result.pairs
    assert (pair.first, pair.second) == ("b", "a")
    assert [one.value for one in pair.differences] == [-0.5, 0.25]
    assert result.overlap is None


def test_overlap_is_weighted_where_gold_texts_are(tmp_path: Path) -> None:
    """With documents each system's generated score is weighted to the mined side's overlap, beside both scores."""
    result = across()
    assert result.overlap is not None
    assert result.overlap.refusal is None
    assert sum(bucket.shares[0] for bucket in result.overlap.buckets) == pytest.approx(1.0)
    # All questions share as much with their document, so nothing moves.
    for one in result.systems:
        assert one.reweighted.value == pytest.approx(one.levels[0].value)
    sample = [ranking(name, [1] * 19) for name in ("a", "b")]
    few = across_systems(tmp_path, sample, two_sides(19, 5), documents_for(19))
    assert few.overlap is not None
    assert "5 for 100% of those aimed at" in (few.overlap.refusal or "")
    assert few.systems[0].reweighted.value is None


def test_cases_on_which_a_search_failed_are_left_out_and_said(tmp_path: Path) -> None:
    """One error takes its case from the order of all systems, and a note says so."""
    failing = ranking("a", [1] * 12 + [RuntimeError("down")] + [2] * 12)
    result = across_systems(tmp_path, [failing, ranking("b", [2] * 25)], two_sides(25, 12))
    assert [(side.n, side.failed) for side in result.sides] == [(12, 0), (12, 1)]
    assert any("mined: cases left out, as a search failed on them: 1" in note for note in result.notes)


def test_shared_clusters_are_said(tmp_path: Path) -> None:
    """Paraphrases of mined cases on the other side are no independent cases."""
    asked = [question(at, origin="mined" if at < 10 else "paraphrase", cluster=f"c{at % 10}") for at in range(20)]
    systems = [ranking("a", [1] * 20), ranking("b", [2] * 20)]
    result = across_systems(tmp_path, systems, asked, across="mined,paraphrase")
    assert any(note.startswith("clusters with cases on both sides: 10") for note in result.notes)


def test_strata_and_types_are_sides_too(tmp_path: Path) -> None:
    """Failure and control, or two wordings, may be the sides."""
    asked = [question(at, stratum="failure" if at % 2 else "control", wording="vague" if at < 9 else "plain")
             for at in range(18)]  # fmt: skip
    systems = [ranking("a", [1] * 18), ranking("b", [2] * 18)]
    for sides in ("failure,control", "plain,vague"):
        result = across_systems(tmp_path, systems, asked, across=sides)
        assert [side.n for side in result.sides] == [9, 9]


def test_a_side_without_scored_cases_is_refused(tmp_path: Path) -> None:
    """A part whose questions have no answer cannot be compared."""
    asked = [*questions(9, origin="mined"), question(9, origin="generated", judged=(), no_answer_reason="none")]
    with pytest.raises(DataError, match="no answerable question of generated"):
        across_systems(tmp_path, [ranking("a", [1] * 10), ranking("b", [2] * 10)], asked)


def test_one_system_has_no_order(tmp_path: Path) -> None:
    """Two systems are needed."""
    with pytest.raises(UsageError, match="two systems or more"):
        across_systems(tmp_path, [ranking("a", [1] * 9)], two_sides(9, 4))


def test_two_files_are_sides_and_runs_are_used_again(tmp_path: Path) -> None:
    """Both sets are searched once; what was searched for is found again, though a part of it is compared next."""
    root = write_portal(tmp_path / "portal", SYSTEMS)
    workspace = reopen(root)
    asked = f"{root / 'golden.jsonl'},{root / 'asked.jsonl'}"
    result = compare_across(workspace, AcrossRequest(across=asked))
    assert [(side.name, side.n) for side in result.sides] == [("golden.jsonl", 6), ("asked.jsonl", 6)]
    assert (result.verdict, result.why) == ("cannot tell", "too few: 6 clusters on one side, 8 needed")
    assert not any(note.startswith("kept runs") for note in result.notes)
    again = compare_across(workspace, AcrossRequest(across=asked))
    assert any(note.startswith("kept runs were used: plain (") for note in again.notes)
    assert again.systems[0].runs == result.systems[0].runs
    assert newest(workspace, Across).result == again
    fresh = compare_across(workspace, AcrossRequest(across=asked, fresh=True))
    assert fresh.systems[0].runs != result.systems[0].runs


def test_what_is_kept_names_no_case(tmp_path: Path) -> None:
    """Withdrawing cases leaves what is kept of orders as it is, and readable."""
    root = write_portal(tmp_path / "portal", SYSTEMS)
    workspace = reopen(root)
    compare_across(workspace, AcrossRequest(across=f"{root / 'golden.jsonl'},{root / 'asked.jsonl'}", by=("length",)))
    notes: list[str] = []
    assert _clean_kept(workspace, {"g1"}, {GOLDEN[0][1]}, notes) == 0
    assert notes == []
    (file,) = (workspace.private / "evaluations").glob("across-*.json")
    assert GOLDEN[0][1] not in file.read_text()
    assert '"g1"' not in file.read_text()


def test_effects_of_factors_across_sides(tmp_path: Path) -> None:
    """With a factor its effect stands on both sides, with what differs between them."""
    root = write_portal(tmp_path / "portal", SYSTEMS)
    rows = [(f"a{at}", query, gold) for at, (_, query, gold) in enumerate(GOLDEN * 2)]
    write_set(root / "more.jsonl", rows)
    asked = f"{root / 'golden.jsonl'},{root / 'more.jsonl'}"
    result = compare_across(reopen(root), AcrossRequest(across=asked, by=("length",)))
    (effect,) = result.effects
    assert (effect.factor, effect.first, effect.second, effect.settings) == ("length", "some", "none", 1)
    assert len(effect.gains) == 2
    assert effect.between is not None
    assert effect.gains[0].value == pytest.approx(
        result.systems[0].levels[0].value - result.systems[1].levels[0].value, abs=1e-9
    )


def test_the_same_seed_gives_the_same_record() -> None:
    """Nothing but the time differs between two runs."""
    first, second = across(), across.__wrapped__()
    assert second.model_copy(update={"made": first.made, "limits": first.limits}) == first
    assert np.isclose(first.tau, second.tau)


def test_in_python_the_result_shows_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search functions by name are compared across a set that was read; it prints, and is HTML in a notebook."""
    monkeypatch.chdir(tmp_path)
    asked = question_set([*two_sides(20, 10)])
    good = {f"query {at}": [f"d{at}"] for at in range(20)}
    result = findback.compare_across(
        {"good": lambda query, k: good[query], "bad": lambda query, k: ["x", *good[query]]}, "generated,mined", asked
    )
    assert "generated and mined put the 2 systems into the same order" in " ".join(str(result).split())
    assert result._repr_html_().count("<table") >= 3
    with pytest.raises(UsageError, match="there is no such option"):
        findback.compare_across({"a": print, "b": print}, "generated,mined", asked, baseline="a")


def test_two_releases_are_sides_and_share_their_cases(tmp_path: Path) -> None:
    """Release 2 holds the 12 cases of release 1 and six more; what both hold is said."""
    root = write_repository(tmp_path / "team", 12, settings=SYSTEMS)
    environment = {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "author")}
    workspace = open_workspace(root, environment=environment)
    more = [
        case(at, query=f"{asked(at)} page", judged=[{"doc": f"page-{at % 12}.md", "grade": 3, "found_by": "resolver"}])
        for at in range(12, 18)
    ]
    release(workspace, ReleaseRequest(message="second"), ready=Ready(*more), made=DAY)
    result = compare_across(workspace, AcrossRequest(across="1,2"))
    assert [(side.name, side.n) for side in result.sides] == [("release 1", 12), ("release 2", 18)]
    assert any(note.startswith("clusters with cases on both sides: 12") for note in result.notes)
