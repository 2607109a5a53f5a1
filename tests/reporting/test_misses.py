"""Missed questions in reports."""

import pytest

from builders import results
from findback.model.evaluation import Evaluation, Miss, RetrieverScores
from findback.reporting.blocks import Missed, Prose
from findback.reporting.html import MOST_MISSES, render_fragment, render_report
from findback.reporting.markdown import render_markdown
from findback.reporting.misses import cut_off, miss_blocks
from findback.reporting.notebook import render_text


def missing(name: str, *misses: Miss) -> RetrieverScores:
    """Return a retriever that missed these questions."""
    return results.retriever(name, miss_examples=misses, misses=results.counts(missed=len(misses)))


def three() -> Evaluation:
    """Return what two retrievers missed: one question both, one question each."""
    both, first, second = (results.miss(question=name, query=f"asked {name}") for name in ("both", "one", "two"))
    worse = both.model_copy(update={"kind": "beyond the cut-off", "why": "It is there, at rank 14."})
    return results.evaluation(retrievers=(missing("bm25", first, worse), missing("dense", both, second)))


def test_a_question_stands_once_for_all_that_missed_it() -> None:
    """What most retrievers missed comes first, shown as the best of them saw it."""
    blocks = miss_blocks(three(), each=None, most=None)
    shown = [(b.retrievers, b.best, b.miss.question, b.others) for b in blocks if isinstance(b, Missed)]
    assert shown == [
        (("bm25", "dense"), "dense", "both", "bm25: beyond the cut-off"),
        (("bm25",), "bm25", "one", ""),
        (("dense",), "dense", "two", ""),
    ]


def test_what_is_left_out_is_counted() -> None:
    """A list that is cut says how many more there are and where they stand."""
    blocks = miss_blocks(three(), each=None, most=1)
    assert blocks[-1] == Prose(
        "2 more missed questions not shown here; JSON (-o FILE.json) holds all of them.", "aside"
    )
    assert [b.miss.question for b in miss_blocks(three(), each=1, most=None) if isinstance(b, Missed)] == [
        "both",
        "one",
    ]
    assert miss_blocks(three(), each=0, most=None) == ()


def test_a_record_that_was_cut_itself_is_not_said_to_hold_all() -> None:
    """Where a record describes fewer misses than it counts, the line says how many it holds."""
    evaluation = three()
    cut = tuple(r.model_copy(update={"misses": results.counts(missed=900)}) for r in evaluation.retrievers)
    blocks = miss_blocks(evaluation.model_copy(update={"retrievers": cut}), each=None, most=1)
    assert isinstance(blocks[-1], Prose)
    assert blocks[-1].text.startswith("At least 2 more missed questions not shown here")
    assert "up to 2 of each retriever" in blocks[-1].text


def test_a_page_shows_fifty_and_a_way_past_them() -> None:
    """Sixty misses give fifty closed cards, a link past them, and a line on the other ten."""
    many = [results.miss(question=f"q{at}", query=f"asked {at}") for at in range(60)]
    page = render_report(results.evaluation(retrievers=(missing("bm25", *many), missing("hybrid", *many))))
    assert page.count('<details class="miss">') == MOST_MISSES == 50
    assert "10 more missed questions not shown here" in page
    assert '<a href="#misses-past">Skip the list of 50 missed questions</a>' in page
    assert page.index('id="misses-past"') > page.rindex('<details class="miss">')
    assert "<h3>Missed by <bdi>bm25, hybrid</bdi></h3>" in page
    assert "<dt>Instead, from <bdi>hybrid</bdi>, rank 1</dt>" in page


def test_every_medium_names_who_missed_it_and_whose_results_are_shown() -> None:
    """Terminal, Markdown and notebook hold both names and the best's."""
    evaluation = three()
    assert "- bm25, dense, `both`: not found (bm25: beyond the cut-off), symptom-first" in render_markdown(evaluation)
    assert "  - instead, of dense: " in render_markdown(evaluation)
    text = render_text(evaluation)
    assert "bm25, dense  both  not found, (bm25: beyond the cut-off), symptom-first" in text
    assert "instead    of dense:" in text
    assert "Missed by <bdi>bm25, dense</bdi>" in render_fragment(evaluation)


@pytest.mark.parametrize(
    ("primary", "documents"),
    [("RR@10", 10), ("nDCG(dcg='exp')@5", 5), ("AP", 100), ("RR@10 ", 100), ("x@0", 100)],
)
def test_the_cut_off_is_the_primary_metrics(primary: str, documents: int) -> None:
    """It stands after the @; a metric without one looks as deep as the search."""
    assert cut_off(results.evaluation(primary=primary)) == documents


def test_the_table_of_misses_says_its_cut_off() -> None:
    """What counts as missed stands in the title."""
    assert "Questions with no right document among the first 10, by class" in render_text(results.evaluation())
