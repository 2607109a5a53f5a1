"""Looking at each case with every system."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builders.comparisons import question, question_set, questions, ranking
from builders.portal import write_portal
from findback.errors import DataError
from findback.model.case import Judgement
from findback.model.items import ItemAnalysis
from findback.model.question import Question
from findback.model.run import Run
from findback.retrievers.memory import MemoryRetriever
from findback.steps.items import analyse_items
from findback.steps.items_floors import list_firsts
from findback.steps.items_scores import ItemsRequest
from findback.steps.kept import newest
from findback.steps.withdraw import _without_items
from findback.workspace import open_workspace


def analyse(folder: Path, systems: list[MemoryRetriever], asked: tuple[Question, ...], **options: Any) -> ItemAnalysis:
    workspace = open_workspace(folder, environment={"HOME": str(folder)}, required=False)
    return analyse_items(workspace, ItemsRequest(**options), systems=systems, questions=question_set(asked))


def test_what_everybody_and_nobody_solves(tmp_path: Path) -> None:
    """Of ten cases both find three and neither finds two; shares have the cases they rest on and an interval."""
    both = [1, 2, 3, 0, 0, 1, 1, 1, 0, 0]
    other = [1, 1, 1, 0, 0, 0, 0, 0, 4, 5]
    result = analyse(tmp_path, [ranking("a", both), ranking("b", other)], questions(10))
    assert [one.question for one in result.everybody] == ["q0", "q1", "q2"]
    assert [one.question for one in result.nobody] == ["q3", "q4"]
    assert (result.everybody_share.value, result.nobody_share.value) == (pytest.approx(0.3), pytest.approx(0.2))
    assert result.everybody_share.n == 10
    assert result.everybody_share.low is not None
    assert result.everybody[1].scores == pytest.approx((1 / 2, 1.0))
    assert result.everybody[1].firsts == ("x0", "d1")
    assert result.reason == "fewer than 5 systems"


def test_a_case_that_only_weak_systems_solve_is_listed(tmp_path: Path) -> None:
    """Six systems find ever more of 40 cases; the one that only the two weakest find goes against the others."""
    rng = np.random.default_rng(3)
    systems = []
    for at, share in enumerate((0.1, 0.2, 0.5, 0.6, 0.8, 0.9)):
        ranks = np.where(rng.random(40) < share, 1, 0).tolist()
        ranks[7] = 1 if at < 2 else 0
        systems.append(ranking(f"s{at}", ranks))
    result = analyse(tmp_path, systems, questions(40))
    worst = result.against[0]
    assert worst.case.question == "q7"
    assert worst.case.scores == (1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    assert worst.low < worst.correlation < worst.high < 0
    assert result.reason is None
    assert result.by_chance is not None


def test_unjudged_documents_that_several_rank_first(tmp_path: Path) -> None:
    """x0 stands first for both on q0 alone: on q1 one finds the gold first, on q2 somebody judged x0 already."""
    seen = question(2, judged=(gold(2), Judgement(doc="x0", grade=0, found_by="pool")))
    asked = (question(0), question(1), seen)
    result = analyse(tmp_path, [ranking("a", [2, 2, 2]), ranking("b", [3, 1, 2])], asked)
    assert [(one.question, one.document, one.systems) for one in result.second] == [("q0", "x0", ("a", "b"))]


def gold(number: int) -> Judgement:
    return Judgement(doc=f"d{number}", grade=3, found_by="resolver")


def test_a_document_that_answers_very_much(tmp_path: Path) -> None:
    """One page answers eight of 48 clusters, each other page one: it is named, with the cases it answers."""
    asked = tuple(question(at, judged=(gold(0 if at < 8 else at),)) for at in range(48))
    result = analyse(tmp_path, [ranking("a", [1] * 48)], asked)
    (heavy,) = result.heavy
    assert (heavy.document, heavy.clusters) == ("d0", 8)
    assert heavy.expected == pytest.approx(48 / 41)
    assert heavy.questions == tuple(f"q{at}" for at in range(8))


def test_floors_are_scored_beside_the_systems(tmp_path: Path) -> None:
    """Ten cases, six of one page: popular scores 1 on six; what systems rank first most often answers none.

    On each of the four others the popular floor has that page first, and nothing knows the page of the case itself.
    """
    asked = tuple(question(at, judged=(gold(0 if at < 6 else at),)) for at in range(10))
    system = ranking("a", [2] * 10)
    result = analyse(tmp_path, [system], asked)
    floors = {one.name: one.score.estimate for one in result.floors}
    assert floors["most popular"].value == pytest.approx(6 / 10)
    assert floors["constant"].value == 0.0
    (one,) = result.systems
    # It returns d0 second on q0 alone: on q1 to q5 it returns the page of the number, which answers nothing.
    assert one.score.estimate.value == pytest.approx((1 / 2 + 4 / 2) / 10)
    assert one.ahead is not None
    assert one.ahead.value == pytest.approx(0.25 - 0.6)
    assert one.ahead.n == 10


def test_the_constant_floor_knows_what_systems_return(tmp_path: Path) -> None:
    """A page that a system ranks first for half of the cases is first for all of them."""
    asked = tuple(question(at, judged=(gold(0 if at < 5 else at),)) for at in range(10))
    answers: dict[str, object] = {f"query {at}": ["d0" if at < 5 else f"y{at}"] for at in range(10)}
    result = analyse(tmp_path, [MemoryRetriever(answers, name="a")], asked)
    assert next(one.score.estimate.value for one in result.floors if one.name == "constant") == pytest.approx(0.5)


def test_failed_searches_leave_cases_out(tmp_path: Path) -> None:
    """A case on which a search failed is in no list; its system's score is bounds, and shares say what is left out."""
    systems = [ranking("a", [RuntimeError("down"), 0, 1]), ranking("b", [0, 0, 1])]
    result = analyse(tmp_path, systems, questions(3))
    assert [one.question for one in result.nobody] == ["q1"]
    assert (result.failed, result.nobody_share.left_out, result.systems[0].failed) == (1, 1, 1)
    assert result.systems[0].score.estimate.value is None
    assert result.systems[0].score.highest is not None


def test_nothing_in_common(tmp_path: Path) -> None:
    """A set without a case that has an answer cannot be looked at."""
    asked = (question(0, judged=(), no_answer_reason="nobody wrote it"),)
    with pytest.raises(DataError):
        analyse(tmp_path, [ranking("a", [0])], asked)


def test_kept_runs_are_used_again(tmp_path: Path) -> None:
    """A second look searches nothing: its runs are those of the first, and the result is the same."""
    root = write_portal(tmp_path / "portal", "[retrievers.plain]\nkind = 'bm25'\n")
    workspace = open_workspace(root, environment={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")})
    request = ItemsRequest(set=root / "golden.jsonl")
    first, again = analyse_items(workspace, request), analyse_items(workspace, request)
    assert not first.systems[0].reused
    assert (again.systems[0].reused, again.systems[0].run) == (True, first.systems[0].run)
    assert again.everybody == first.everybody
    assert newest(workspace, ItemAnalysis).result == again


def test_withdrawn_cases_leave_what_was_kept(tmp_path: Path) -> None:
    """A case that is withdrawn is in none of the lists any more; the figures stay."""
    asked = tuple(question(at, judged=(gold(0 if at < 8 else at),)) for at in range(48))
    kept = analyse(tmp_path, [ranking("a", [2, *[0] * 47]), ranking("b", [2, *[0] * 47])], asked)
    clean, gone = _without_items(kept, {"q0", "q1"})
    text = clean.model_dump_json()
    # q0: everybody, second gold, page; q1: nobody, second gold, page.
    assert gone == 6
    assert '"q0"' not in text
    assert 'query 1"' not in text
    assert clean.nobody_share == kept.nobody_share


def test_the_first_document_follows_scores_where_only_these_order(tmp_path: Path) -> None:
    """Where rows stand in no order the best score is first, the lowest where lower is better; NaN is never best."""
    from findback.model.names import Names

    def run(direction: str) -> Run:
        return Run(
            name="r",
            queries=("q0", "q1", "q2"),
            documents=Names.of(["a", "b", "c"]),
            starts=np.array([0, 3, 3, 5]),
            codes=np.array([0, 1, 2, 1, 2], dtype=np.int32),
            scores=np.array([1.0, np.nan, 2.0, np.nan, np.nan]),
            direction=direction,  # type: ignore[arg-type]
            order="score",
        )

    assert list_firsts(run("higher"), ["q0", "q1", "q2", "q9"]) == ["c", None, "b", None]
    assert list_firsts(run("lower"), ["q0"]) == ["a"]
