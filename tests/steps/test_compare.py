"""Comparing systems on a set."""

from pathlib import Path

import numpy as np
import pytest

from builders.comparisons import compare_systems, question, questions, ranking
from builders.portal import ASKED, write_portal, write_set
from findback.errors import DataError, MissingError, UsageError
from findback.evalset.runs import load_run, save_run
from findback.model.case import Judgement
from findback.model.compared import Comparison
from findback.reporting.verdict import headline
from findback.retrievers.memory import MemoryRetriever
from findback.steps.compare import CompareRequest, compare
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.kept import newest
from findback.steps.withdraw import _without_compared
from findback.workspace import Workspace, open_workspace

TWO = "[retrievers.plain]\nkind = 'bm25'\n[retrievers.flat]\nkind = 'bm25'\nb = 0.0\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a portal with two embedded retrievers."""
    return reopen(write_portal(tmp_path / "portal", TWO))


def reopen(root: Path) -> Workspace:
    return open_workspace(root, environment={"HOME": str(root.parent), "XDG_STATE_HOME": str(root.parent / "state")})


def asked_of(workspace: Workspace) -> Path:
    return workspace.root / "asked.jsonl"


# What is compared


def test_identical_runs_are_identical_on_these_n(tmp_path: Path) -> None:
    """Two systems that rank every gold alike are identical on these 40, p is 1, and nothing is asked for."""
    ranks = [1, 2, 0, 5] * 10
    result = compare_systems(tmp_path, [ranking("a", ranks), ranking("b", ranks)], questions(40))
    (pair,) = result.pairs
    assert (pair.verdict, pair.why, pair.p, pair.difference.value) == ("identical", "identical on these 40", 1.0, 0.0)
    assert (pair.low, pair.high, pair.detectable, pair.needed) == (None, None, None, None)
    assert (pair.wins, pair.ties, pair.losses, result.cases) == (0, 40, 0, ())


@pytest.mark.parametrize("cases", [12, 40, 100, 600])
@pytest.mark.parametrize("rank", [1, 6])
def test_one_swapped_rank_cannot_be_told(tmp_path: Path, cases: int, rank: int) -> None:
    """Two runs that differ by one swapped rank cannot be told apart, however many cases agree."""
    ranks = [1, 3, 6, 2] * (cases // 4)
    swapped = [rank + 1 if at == ranks.index(rank) else one for at, one in enumerate(ranks)]
    result = compare_systems(tmp_path, [ranking("a", ranks), ranking("b", swapped)], questions(cases))
    (pair,) = result.pairs
    assert (pair.first, pair.verdict, pair.p) == ("a", "cannot tell", 1.0)
    assert pair.why == f"they differ on 1 of {cases} only"
    assert (pair.wins, pair.ties, pair.losses) == (1, cases - 1, 0)
    (case,) = result.cases
    assert case.ranks == (rank, rank + 1)
    assert case.scores == pytest.approx((1 / rank, 1 / (rank + 1)))


def test_one_error_leaves_bounds(tmp_path: Path) -> None:
    """One failed search of 20 leaves bounds a twentieth apart, and a verdict only where both agree."""
    sure = compare_systems(
        tmp_path,
        [ranking("a", [*[1] * 19, RuntimeError("down")]), ranking("b", [1, 2, 3, 4] * 5)],
        questions(20),
    )
    (pair,) = sure.pairs
    mean = 5 * (1 + 1 / 2 + 1 / 3 + 1 / 4) / 20
    assert pair.difference.value is None
    assert pair.lowest is not None
    assert pair.highest is not None
    assert pair.lowest.value == pytest.approx(19 / 20 - mean)
    assert pair.highest.value == pytest.approx(1 - mean)
    assert (pair.verdict, sure.systems[0].failed) == ("better", 1)
    assert all(one.difference.value is None for one in pair.metrics)
    open_ = compare_systems(
        tmp_path, [ranking("a", [*[1] * 19, RuntimeError("down")]), ranking("b", [1] * 20)], questions(20)
    )
    assert (open_.pairs[0].verdict, open_.pairs[0].why) == ("cannot tell", "1 failed search could turn it either way")


def test_only_cases_all_were_asked_are_compared(tmp_path: Path) -> None:
    """A case whose context one system cannot honour is left out for all, and counted; no-answer cases never count."""
    asked = [*questions(9), question(9, context={"locale": "de"}), question(10, judged=(), no_answer_reason="none")]
    able = MemoryRetriever({f"query {at}": [f"d{at}"] for at in range(11)}, name="able", honours={"locale"})
    result = compare_systems(tmp_path, [able, ranking("plain", [2] * 11)], asked)
    assert (result.compared, result.left_out) == (9, 1)
    assert any("left out: 1" in note for note in result.notes)
    assert result.pairs[0].difference.n == 9


def test_all_pairs_stand_in_groups_and_ranks(tmp_path: Path) -> None:
    """Two close systems far above a third share a group and the first two ranks."""
    rng = np.random.default_rng(1)
    close = rng.integers(1, 4, 60).tolist()
    other = [one if at % 3 else 4 - one for at, one in enumerate(close)]
    systems = [ranking("low", [0, 0, 4] * 20), ranking("a", close), ranking("b", other)]
    result = compare_systems(tmp_path, systems, questions(60))
    assert [set(group) for group in result.groups] == [{"a", "b"}, {"low"}]
    ranks = {one.name: (one.first_rank, one.last_rank, one.groups) for one in result.systems}
    assert ranks == {"low": (3, 3, (1,)), "a": (1, 2, (0,)), "b": (1, 2, (0,))}
    assert len(result.pairs) == 3
    assert result.family == "all pairs"


def test_against_a_baseline_there_are_no_groups(tmp_path: Path) -> None:
    """With a baseline only pairs with it are compared, system minus baseline, and nobody is ranked."""
    systems = [ranking(name, ranks * 10) for name, ranks in (("old", [3, 2]), ("a", [1, 1]), ("b", [9, 0]))]
    result = compare_systems(tmp_path, systems, questions(20), baseline="old")
    assert [(one.first, one.second, one.verdict) for one in result.pairs] == [
        ("a", "old", "better"),
        ("b", "old", "worse"),
    ]
    assert (result.groups, result.systems[0].first_rank, result.baseline) == ((), None, "old")


def test_types_and_metrics_have_intervals_and_no_verdict(tmp_path: Path) -> None:
    """Types of one axis hold together, every other metric has an interval; one value alone makes no types."""
    asked = [question(at, wording="vague" if at % 2 else "plain", language="en") for at in range(40)]
    result = compare_systems(
        tmp_path, [ranking("a", [1] * 40), ranking("b", [1 + at % 2 * (at % 5) for at in range(40)])], asked
    )
    (pair,) = result.pairs
    types = {(one.axis, one.value): one for one in pair.types}
    assert set(types) == {("wording", "plain"), ("wording", "vague")}
    vague = types["wording", "vague"]
    assert vague.cases == 20
    assert vague.difference.value == pytest.approx(np.mean([1 - 1 / (1 + at % 5) for at in range(1, 40, 2)]))
    assert vague.difference.level == pytest.approx(0.975)
    assert types["wording", "plain"].difference.value == 0
    assert [one.metric for one in pair.metrics] == ["Success@1", "Success@3", "PartRecall@10", "nDCG@10"]
    assert all(one.difference.low is not None or one.difference.value == 0 for one in pair.metrics)


def test_confirmed_same_documents_count_on_request(tmp_path: Path) -> None:
    """A mirror that comes first is a hit where same documents count as one, and refused where none are confirmed."""
    root = write_portal(tmp_path / "portal", "same = 'same.csv'\n")
    (root / "docs" / "howto" / "vpn-mirror.md").write_text("# VPN again\n\nEnrol the device certificate.")
    (root / "same.csv").write_text("howto/vpn.md,howto/vpn-mirror.md\n")
    query, gold = ASKED[2][1], "howto/vpn.md"
    rest = {query: gold for _, query, (gold,) in ASKED}
    systems = [
        MemoryRetriever({query: [gold] for query, gold in rest.items()}, name="strict"),
        MemoryRetriever(
            {query: [gold] for query, gold in rest.items()} | {query: ["howto/vpn-mirror.md", gold]}, name="mirrors"
        ),
    ]
    strict = compare(reopen(root), CompareRequest(set=root / "asked.jsonl"), systems=systems)
    assert strict.pairs[0].difference.value == pytest.approx(0.5 / 6)
    lenient = compare(reopen(root), CompareRequest(set=root / "asked.jsonl", lenient=True), systems=systems)
    assert (lenient.pairs[0].verdict, lenient.lenient) == ("identical", True)
    (root / "same.csv").unlink()
    write_portal(root)
    with pytest.raises(UsageError, match="confirmed"):
        compare(reopen(root), CompareRequest(set=root / "asked.jsonl", lenient=True), systems=systems)


def test_paraphrases_and_shared_golds_are_taken_as_one(tmp_path: Path) -> None:
    """Cases of one cluster count once, and golds shared by many widen the interval."""
    golds = [Judgement(doc="d0", grade=3, found_by="resolver")]
    asked = [question(at, judged=golds if at % 2 else (), cluster=f"k{at // 4}") for at in range(80)]
    asked = [one if one.judged else question(at, cluster=f"k{at // 4}") for at, one in enumerate(asked)]
    result = compare_systems(tmp_path, [ranking("a", [1] * 80), ranking("b", [1, 0] * 40)], asked)
    assert result.pairs[0].difference.clusters == 20


# Runs


def test_kept_runs_are_used_where_they_fit(workspace: Workspace) -> None:
    """The second time nothing is searched; changed settings, --fresh, another set and other documents search again."""
    first = compare(workspace, CompareRequest(set=asked_of(workspace)))
    assert [one.reused for one in first.systems] == [False, False]
    again = compare(workspace, CompareRequest(set=asked_of(workspace)))
    assert [(one.name, one.reused, one.run) for one in again.systems] == [
        (one.name, True, one.run) for one in first.systems
    ]
    assert any("kept runs were used: plain" in note for note in again.notes)
    assert [pair.difference for pair in again.pairs] == [pair.difference for pair in first.pairs]
    fresh = compare(workspace, CompareRequest(set=asked_of(workspace), fresh=True))
    assert not any(one.reused for one in fresh.systems)
    other = compare(workspace, CompareRequest(set=workspace.root / "golden.jsonl"))
    assert not any(one.reused for one in other.systems)
    changed = workspace.root / "findback.toml"
    changed.write_text(changed.read_text().replace("b = 0.0", "b = 0.1"))
    half = compare(reopen(workspace.root), CompareRequest(set=asked_of(workspace)))
    assert {one.name: one.reused for one in half.systems} == {"plain": True, "flat": False}
    (workspace.root / "docs" / "new.md").write_text("# New\n\nA page.")
    assert not any(
        one.reused for one in compare(reopen(workspace.root), CompareRequest(set=asked_of(workspace))).systems
    )


def test_runs_of_an_evaluation_are_used_too(workspace: Workspace) -> None:
    """What `evaluate` searched for the same set needs no searching again; a shallower run does not do."""
    evaluate(workspace, EvaluateRequest(set=asked_of(workspace), retrievers=("plain",)))
    found = compare(workspace, CompareRequest(set=asked_of(workspace)))
    assert {one.name: one.reused for one in found.systems} == {"plain": True, "flat": False}
    settings = workspace.root / "findback.toml"
    settings.write_text(settings.read_text() + "[measures]\ndepth = 200\n")
    deeper = compare(reopen(workspace.root), CompareRequest(set=asked_of(workspace)))
    assert not any(one.reused for one in deeper.systems)


def test_a_set_of_the_same_name_is_another_set(workspace: Workspace) -> None:
    """The same file with another question under the same id is searched again."""
    compare(workspace, CompareRequest(set=asked_of(workspace)))
    write_set(asked_of(workspace), [("r1", "something else", ["howto/vpn.md"]), *ASKED[1:]])
    assert not any(one.reused for one in compare(workspace, CompareRequest(set=asked_of(workspace))).systems)


def test_kept_runs_and_files_by_name(workspace: Workspace, tmp_path: Path) -> None:
    """A run id, a run file and a TREC file are compared like any system, under names that tell them apart."""
    first = compare(workspace, CompareRequest(set=asked_of(workspace)))
    run_id = first.systems[0].run
    assert run_id is not None
    copied = tmp_path / "copied.run"
    save_run(load_run(workspace.private / "runs" / run_id), copied)
    trec = tmp_path / "other.trec"
    trec.write_text("".join(f"{id_} Q0 {gold[0]} 1 1.0 t\n" for id_, _, gold in ASKED))
    result = compare(
        workspace,
        CompareRequest(systems=("plain", run_id, str(copied), str(trec)), set=asked_of(workspace), baseline=str(trec)),
    )
    names = [one.name for one in result.systems]
    assert len(set(names)) == 4
    assert names[0].startswith("plain 20")
    assert names[3] == result.baseline == "other"
    assert [one.run for one in result.systems] == [run_id, run_id, str(copied), str(trec)]
    assert result.systems[3].score.estimate.value == 1
    assert (
        sum(
            one.verdict == "identical"
            for one in compare(workspace, CompareRequest(systems=("plain", run_id), set=asked_of(workspace))).pairs
        )
        == 1
    )


def test_cases_newer_than_a_run_are_left_out_and_gaps_of_a_recorded_one_are_misses(
    workspace: Workspace, tmp_path: Path
) -> None:
    """A kept run is not held to questions it was not asked; a run recorded elsewhere that lacks one missed it."""
    write_set(asked_of(workspace), ASKED[:4])
    run_id = compare(workspace, CompareRequest(set=asked_of(workspace))).systems[0].run
    assert run_id is not None
    write_set(asked_of(workspace), ASKED)
    grown = compare(workspace, CompareRequest(systems=(run_id, "flat"), set=asked_of(workspace)))
    assert (grown.compared, grown.left_out) == (4, 2)
    trec = tmp_path / "short.trec"
    trec.write_text("".join(f"{id_} Q0 {gold[0]} 1 1.0 t\n" for id_, _, gold in ASKED[:4]))
    short = compare(workspace, CompareRequest(systems=(str(trec), "flat"), set=asked_of(workspace)))
    assert (short.compared, short.left_out, short.systems[0].missing) == (6, 0, 2)
    assert short.systems[0].score.estimate.value == pytest.approx(4 / 6)


def test_what_cannot_be_compared_says_so(workspace: Workspace, tmp_path: Path) -> None:
    """One system, an unknown word, a baseline that does not take part, and a run of another set are refused."""
    asked = asked_of(workspace)
    with pytest.raises(UsageError, match="two systems"):
        compare(workspace, CompareRequest(systems=("plain",), set=asked))
    with pytest.raises(UsageError, match="two systems"):
        compare(workspace, CompareRequest(systems=("plain", "plain"), set=asked))
    with pytest.raises(MissingError, match="'nobody' is no retriever") as missing:
        compare(workspace, CompareRequest(systems=("plain", "nobody"), set=asked))
    assert "retrievers: plain, flat" in (missing.value.hint or "")
    with pytest.raises(UsageError, match="baseline 'nobody'"):
        compare(workspace, CompareRequest(set=asked, baseline="nobody"))
    foreign = tmp_path / "foreign.trec"
    foreign.write_text("zz Q0 howto/vpn.md 1 1.0 t\n")
    with pytest.raises(DataError, match="none of the 6 questions"):
        compare(workspace, CompareRequest(systems=("plain", str(foreign)), set=asked))


def test_a_baseline_that_takes_no_part_is_found_before_searching(workspace: Workspace) -> None:
    """A misspelt baseline leaves no run behind."""
    with pytest.raises(UsageError, match="baseline"):
        compare(workspace, CompareRequest(set=asked_of(workspace), baseline="nobody"))
    assert not (workspace.private / "runs").is_dir() or not list((workspace.private / "runs").iterdir())


def test_comparisons_are_kept_and_forget_withdrawn_cases(workspace: Workspace) -> None:
    """The newest comparison can be read again as it was, and without a withdrawn case."""
    result = compare(workspace, CompareRequest(set=asked_of(workspace)))
    kept = newest(workspace, Comparison).result
    assert kept == result
    gone = result.cases[0].question if result.cases else "r1"
    clean, count = _without_compared(result, frozenset({gone}))
    assert count == len(result.cases) - len(clean.cases) == min(1, len(result.cases))
    assert gone not in clean.model_dump_json()


def test_whose_failures_they_are_is_said(tmp_path: Path) -> None:
    """Unknown production counts against all and is said with what to do; named, it counts against that one alone."""
    asked = questions(20, stratum="failure")
    systems = [ranking("old", [0, 2] * 10), ranking("new", [1] * 20)]
    unsaid = compare_systems(tmp_path, systems, asked)
    assert unsaid.pairs[0].verdict == "better on its past failures"
    assert [one.selected for one in unsaid.systems] == [20, 20]
    assert any("--production NAME" in limit for limit in unsaid.limits)
    said = compare_systems(tmp_path, systems, asked, production="new")
    assert [one.selected for one in said.systems] == [0, 20]
    assert (said.pairs[0].first, said.pairs[0].verdict) == ("new", "better")
    assert any("no control cases" in limit for limit in said.limits)


def test_a_production_system_that_is_not_compared_is_said(tmp_path: Path) -> None:
    """Failures that count against a name that is not compared are noted, with the name that was meant when near."""
    systems = [ranking("dense", [0, 2] * 10), ranking("bm25", [1] * 20)]
    slip = compare_systems(tmp_path, systems, questions(20, stratum="failure"), production="denes")
    assert slip.notes == ("failures count against 'denes', which is not compared here; did you mean dense?",)
    other = compare_systems(tmp_path, systems, questions(20, stratum="failure"), production="old-portal")
    assert other.notes == ("failures count against 'old-portal', which is not compared here",)
    for asked in (questions(20), questions(20, stratum="failure", selected_on="bm25")):
        assert compare_systems(tmp_path, systems, asked, production="old-portal").notes == ()


@pytest.mark.parametrize("selected_on", [None, "portal-search"])
def test_failures_nobody_claims_are_no_fact(tmp_path: Path, selected_on: str | None) -> None:
    """Whose failures they are is a condition where nobody said, and a fact where the set or --production does."""
    systems = [ranking("old", [0, 2] * 10), ranking("new", [1] * 20)]
    asked = questions(20, stratum="failure", selected_on=selected_on)
    unsaid = compare_systems(tmp_path, systems, asked)
    assert unsaid.unclaimed == 20
    assert headline(unsaid).startswith("new is better than old on past failures, if these are failures of old: RR@10")
    three = [*systems, ranking("mid", [1] * 20)]
    against = headline(compare_systems(tmp_path, three, asked, baseline="old"))
    assert against == "Against old: better on past failures alone, if these are failures of old: new and mid."
    against = headline(compare_systems(tmp_path, three, asked, baseline="new"))
    assert against.endswith("worse on past failures alone, if these are their own: old.")
    said = compare_systems(tmp_path, systems, asked, production="old")
    assert said.unclaimed == 0
    assert headline(said).startswith("new is better than old on past failures of old: RR@10")


def test_the_headline_says_which_way_control_cases_point(tmp_path: Path) -> None:
    """Better on past failures, a little worse on control cases: the number of cases stands with that direction."""
    asked = (
        *(question(at, stratum="failure", selected_on="old") for at in range(60)),
        *(question(at, stratum="control") for at in range(60, 80)),
    )
    old = [0] * 60 + [1] * 14 + [2] * 6
    new = [1] * 60 + [2] * 11 + [1] * 9
    for systems in (["old", "new"], ["new", "old"]):
        ranks = {"old": old, "new": new}
        result = compare_systems(tmp_path, [ranking(name, ranks[name]) for name in systems], asked, baseline=systems[0])
        said = headline(result)
        assert said.startswith("new is better than old on past failures of old"), said
        assert "more control cases would settle it" in said
        assert said.endswith("so far they point to worse for new."), said


def test_a_search_deeper_than_asked_for_is_said(tmp_path: Path) -> None:
    """A metric that looks deeper than `depth` is named in a note, of comparison and evaluation."""
    root = write_portal(tmp_path / "portal", "[measures]\ndepth = 5\n" + TWO)
    request = CompareRequest(set=asked_of(reopen(root)))
    note = "searched 10 deep, not 5: PartRecall@10 needs it"
    assert "searched 10 deep, not 5: RR@10 needs it" in compare(reopen(root), request).notes
    assert note in evaluate(reopen(root), EvaluateRequest(set=asked_of(reopen(root)))).set.notes
