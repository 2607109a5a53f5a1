"""What the headline claims."""

import pytest

from builders import results
from findback.model.estimate import Estimate
from findback.model.evaluation import ErrorKind, RetrieverScores, Score, ScoreGroup
from findback.reporting.headline import headline


def entrant(name: str, value: float, *ends: float) -> RetrieverScores:
    """Return a retriever with one figure and, where ends are given, its interval."""
    low, high = ends or (None, None)
    estimate = Estimate(value=value, low=low, high=high, n=118, clusters=113, method="bca" if ends else "none")
    score = Score(metric="RR@10", label="RR@10", estimate=estimate)
    return results.retriever(name, groups=(ScoreGroup(axis="all", value="all", cases=118, scores=(score,)),))


def dead(name: str, failed: int, asked: int) -> RetrieverScores:
    """Return a retriever of which some or all searches failed."""
    errors = (ErrorKind(kind="timeout", count=failed, first="no answer"),)
    return results.failing().model_copy(update={"name": name, "failed": failed, "asked": asked, "errors": errors})


def said(*retrievers: RetrieverScores) -> str:
    """Return the headline of these retrievers."""
    evaluation = results.evaluation(retrievers=retrievers)
    return headline(evaluation).replace("\N{NO-BREAK SPACE}", " ")


def test_equal_figures_are_no_ranking() -> None:
    """Where every figure is the same, nobody is called highest or lowest."""
    four = [entrant(name, 1.0, 0.97, 1.0) for name in ("bm25", "dense", "hybrid", "last-week")]
    assert said(*four) == "All 4 retrievers have the same RR@10, 1.000 [.97, 1.00] (n 118 in 113 clusters)."
    assert said(*four[:2]).startswith("Both retrievers have the same RR@10, 1.000 [.97, 1.00]")


def test_a_rival_inside_the_interval_is_named() -> None:
    """The second best is named where the intervals cannot tell it from the best, and only the rest is lower."""
    assert said(
        entrant("bm25", 0.291, 0.22, 0.37), entrant("reranked", 0.584, 0.51, 0.65), entrant("dense", 0.57, 0.49, 0.65)
    ) == (
        "reranked has the highest RR@10, .584 [.51, .65]; dense .570 [.49, .65] is within its interval: only a paired"
        " comparison can tell them apart; bm25 is lowest, .291 [.22, .37] (n 118 in 113 clusters)."
    )


def test_an_interval_that_only_overlaps_is_not_called_within() -> None:
    """A figure outside the best's interval is told by its overlapping interval, also where they just touch."""
    text = said(entrant("a", 0.6, 0.5, 0.7), entrant("b", 0.55, 0.45, 0.65), entrant("c", 0.4, 0.3, 0.499))
    assert "b .550 [.45, .65] is within its interval and the interval of c .400 [.30, .50] overlaps with it" in text
    assert "lowest" not in text


def test_lowest_is_said_only_of_one_below_every_other() -> None:
    """Two that overlap each other lie lower, in no order of their own."""
    text = said(entrant("a", 0.9, 0.85, 0.95), entrant("b", 0.4, 0.3, 0.5), entrant("c", 0.35, 0.25, 0.45))
    assert text == (
        "a has the highest RR@10, .900 [.85, .95]; b .400 [.30, .50] and c .350 [.25, .45] lie lower"
        " (n 118 in 113 clusters)."
    )


def test_two_may_share_the_highest_figure() -> None:
    """A tie at the top is told as one."""
    text = said(entrant("a", 0.9, 0.85, 0.95), entrant("b", 0.9, 0.84, 0.96), entrant("c", 0.4, 0.3, 0.5))
    assert text.startswith(
        "a .900 [.85, .95] and b .900 [.84, .96] share the highest RR@10: only a paired comparison can tell them apart;"
        " c is lowest, .400 [.30, .50]"
    )


def test_without_intervals_there_is_no_order() -> None:
    """Too few questions for an interval give a range, no ranking."""
    text = said(entrant("a", 0.5), entrant("b", 0.2))
    assert text.startswith("RR@10 runs from .200 [no interval] (b) to .500 [no interval] (a)")
    assert "no order can be told" in text
    assert "highest" not in text


@pytest.mark.parametrize("asked", [74, 0])
def test_a_retriever_whose_every_search_failed_comes_first(asked: int) -> None:
    """The headline opens with it, also in records that do not say how many were asked."""
    text = said(entrant("bm25", 0.291, 0.22, 0.37), dead("engine", 74, asked))
    assert text.startswith("Every search of engine failed (74: timeout), so it has no RR@10. RR@10 of bm25: .291")


def test_a_retriever_with_some_errors_is_left_out_of_the_order() -> None:
    """Who has bounds only is told last, and the order is said to be among the others."""
    text = said(entrant("a", 0.9, 0.8, 0.95), entrant("b", 0.3, 0.2, 0.4), dead("engine", 3, 74))
    assert text.startswith("Of the 2 retrievers with a mean, a has the highest RR@10")
    assert text.endswith("engine failed on 3 questions; its RR@10 lies within .41–.52 if those are counted as missed or"
                         " as found.")  # fmt: skip
