"""An item analysis as a report."""

import re
from functools import cache
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from builders.comparisons import question, question_set, questions, ranking
from builders.hostile import HOSTILE, refilled
from findback.model.case import Judgement
from findback.model.items import ItemAnalysis, SentItems
from findback.reporting.items import SHOWN, items_report, say_items, say_sent
from findback.reporting.render import items_terminal
from findback.reporting.terminal import ReportView
from findback.steps.items import analyse_items
from findback.steps.items_scores import ItemsRequest
from findback.workspace import open_workspace

UNSAFE = re.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")


@cache
def analysis() -> ItemAnalysis:
    """Six systems on 60 cases: 12 nobody solves, one goes against the others, one page answers ten."""
    rng = np.random.default_rng(3)
    gold = Judgement(doc="d0", grade=3, found_by="resolver")
    asked = [question(at, **({"judged": (gold,)} if at < 10 else {})) for at in range(60)]
    systems = []
    for at, share in enumerate((0.1, 0.3, 0.5, 0.6, 0.8, 0.9)):
        ranks = np.where(rng.random(60) < share, 1, 0)
        ranks[10:22] = 0
        ranks[30] = 1 if at < 2 else 0
        systems.append(ranking(f"s{at}", ranks.tolist()))
    workspace = open_workspace(Path("/"), environment={"HOME": "/"}, required=False)
    return analyse_items(workspace, ItemsRequest(), systems=systems, questions=question_set(asked))


def written(suffix: str, result: ItemAnalysis) -> str:
    return items_terminal(every=False).by_suffix[suffix](result)


def test_the_headline_counts_what_was_found() -> None:
    """It says of how many cases, how many systems solve all or none of them, and what chance alone would give."""
    result = analysis()
    said = say_items(result)
    assert f"Of 60 cases, 6 systems all solve {len(result.everybody)} and none solves {len(result.nobody)}." in said
    assert f"{len(result.against)} go against the others (about {result.by_chance:.1f} by chance)." in said
    assert "1 document answers suspiciously many cases." in said
    few = result.model_copy(update={"reason": "fewer than 5 systems"})
    assert "go against" not in say_items(few)


@pytest.mark.parametrize("suffix", [".md", ".html"])
def test_figures_stand_with_intervals_and_cases(suffix: str) -> None:
    """Files hold every case; shares, scores, floors and correlations have an interval, and lists say of how many."""
    result = analysis()
    text = written(suffix, result).replace("\\", "").replace("&nbsp;", " ").replace("\N{NO-BREAK SPACE}", " ")
    for case in (*result.nobody, *(one.case for one in result.against)):
        assert case.query in text
    assert re.search(r"Solved by nobody.{0,60}\.\d{3} \[\.\d\d, \.\d\d\], n 60", text, re.DOTALL)
    assert "floor: most popular" in text
    assert "floor: constant" in text
    assert f"{len(result.nobody)} of 60 cases" in text
    assert f"{len(result.against)} of {result.rated} cases on which systems differ; about " in text


def test_the_terminal_shows_the_first_of_many() -> None:
    """Ten rows of each list are shown, the number of the rest, and how to see them; --all shows every one."""
    result = analysis()
    sections = {section.key: section.blocks for section in items_report(result).sections}
    table, rest = sections["nobody"]
    assert len(table.rows) == SHOWN  # type: ignore[union-attr]
    assert rest.text == f"{len(result.nobody) - SHOWN} more: --all shows them."  # type: ignore[union-attr]
    every = {section.key: section.blocks for section in items_report(result, every=True).sections}
    assert len(every["nobody"]) == 1


def test_a_system_no_better_than_not_searching_is_named() -> None:
    """One that finds nothing is no better than the floors, and is named; one that finds all is not."""
    workspace = open_workspace(Path("/"), environment={"HOME": "/"}, required=False)
    systems = [ranking("blind", [0] * 40), ranking("sharp", [1, 2] * 20)]
    asked = question_set(questions(40))
    text = written(".md", analyse_items(workspace, ItemsRequest(), systems=systems, questions=asked))
    assert "blind is not shown to be better than a retriever that does not read the question." in text


def test_hostile_texts_stay_text() -> None:
    """Markup and control characters in queries, ids and names do nothing in any format."""
    hostile = refilled(analysis(), lambda _: HOSTILE, skip=frozenset({"metric"}))
    page = written(".html", hostile)
    assert "<script>alert" not in page
    assert UNSAFE.search(page.replace("\n", "")) is None
    assert "<script>alert" not in written(".md", hostile)
    out = StringIO()
    Console(file=out, width=100, color_system=None).print(ReportView(items_report(hostile)))
    assert UNSAFE.search(out.getvalue()) is None


def test_sending_names_no_case() -> None:
    """It says how many were sent and how many of them at random, and what waits."""
    assert say_sent(SentItems(cases=4, random=2, waiting=1)) == (
        "4 cases sent to be looked at again, 2 of them drawn at random; which is which is said nowhere."
        " 1 more waits for another time."
    )
