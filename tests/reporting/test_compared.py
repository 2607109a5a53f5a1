"""Comparisons as reports."""

import json
import re
import sys
from html.parser import HTMLParser
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from builders.comparisons import comparison
from builders.hostile import HOSTILE, refilled
from findback.model.compared import ComparedPair, Comparison
from findback.reporting.compared import comparison_report, list_gaps, shown_pairs
from findback.reporting.html import NO_CHARTS, render_comparison, render_fragment
from findback.reporting.json import render_json
from findback.reporting.markdown import render_markdown
from findback.reporting.notebook import render_text
from findback.reporting.terminal import comparison_view
from findback.reporting.verdict import difference_cell, headline

UNSAFE = re.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")


def alone(pair: ComparedPair, **more: object) -> Comparison:
    """Return the comparison with one pair only, changed."""
    kept = pair.model_copy(update=more)
    systems = tuple(one for one in comparison().systems if one.name in (pair.first, pair.second))
    return comparison().model_copy(update={"pairs": (kept,), "systems": systems})


def pair_of(first: str, second: str) -> ComparedPair:
    found = comparison().pair(first, second)
    assert found is not None
    return found


def attributes(page: str) -> list[str]:
    """Return the names of all attributes of a page."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend(name for name, _ in attrs)

    Reader().feed(page)
    return found


def printed(result: Comparison, width: int, **options: object) -> str:
    out = StringIO()
    view = comparison_view(result, **options)  # type: ignore[arg-type]
    Console(file=out, width=width, color_system=None, force_terminal=False).print(view)
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    """Every line fits, with every pair, type and query too, and nothing is cut short."""
    for text in (printed(comparison(), width), printed(comparison(), width, types=["all"], every=True)):
        assert max(cell_len(line) for line in text.splitlines()) <= width
        assert "…" not in text


def test_hostile_text_commands_nothing() -> None:
    """Names, queries and ids of any content are only shown, in terminal, Markdown and HTML."""
    hostile = refilled(comparison(), lambda _: HOSTILE)
    assert UNSAFE.search(printed(hostile, 80)) is None
    text = render_markdown(hostile, by=["all"])
    assert "://" not in re.sub(r"`+[^`]*`+", "", text)
    for table in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        assert len({row.count("|") for row in table.splitlines()}) == 1
    for page in (render_comparison(hostile), render_fragment(hostile)):
        assert "<script" not in page.lower()
        assert not [name for name in attributes(page) if name.startswith("on")]
        assert not [char for char in "\x1b\x9b\x00\u202e\u2066" if char in page]
        assert ">49<" not in page


def test_the_interval_stands_before_p() -> None:
    """A row says difference, the interval that carries the verdict, then p, won and lost, and the verdict."""
    pair = pair_of("hybrid", "bm25")
    text = printed(comparison(), 120)
    (row,) = [line for line in text.splitlines() if line.startswith("hybrid − bm25") and "–" in line and "├" in line]
    assert re.search(r"\+\.\d{3} \[\+\.\d\d, \+\.\d\d\] .* \.\d+ +\d+–\d+ +better", row)
    assert difference_cell(pair).reach is not None
    assert difference_cell(pair).reach[0] == pair.low


def test_groups_have_a_letter_each_in_its_own_place() -> None:
    """Two pairs of systems that cannot be told apart are groups a and b, and ranks are ranges."""
    text = printed(comparison(), 120)
    rows = {line.split()[0]: line.split() for line in text.splitlines() if re.search(r" [a·][b·] ", line + " ")}
    assert {name: row[-3:-1] for name, row in rows.items()} == {
        "hybrid": ["1–2", "a·"],
        "engine": ["1–2", "a·"],
        "bm25": ["3–4", "·b"],
        "dense": ["3–4", "·b"],
    }


def test_bounds_stand_where_a_search_failed() -> None:
    """A pair with a failed search shows from where to where its difference may lie, and no single figure."""
    cell = difference_cell(pair_of("engine", "bm25"))
    assert re.fullmatch(r"\+\.\d\d to \+\.\d\d", cell.text)
    assert (cell.value, cell.note) == (None, "1 query failed: bounds only")


def test_wins_and_losses_name_their_queries() -> None:
    """Three wins and three losses of a pair stand in the terminal, all of them on request, the largest first."""
    pair = pair_of("hybrid", "bm25")
    place = {one.name: at for at, one in enumerate(comparison().systems)}
    gaps = list_gaps(comparison().cases, place["hybrid"], place["bm25"])
    assert len(gaps) == pair.wins + pair.losses
    assert sum(gap > 0 for gap, _ in gaps) == pair.wins
    assert [gap for gap, _ in gaps] == sorted((gap for gap, _ in gaps), reverse=True)
    few, every = (
        next(
            block
            for section in comparison_report(comparison(), examples=examples).sections
            if section.key == "cases"
            for block in section.blocks
            if block.title.startswith("hybrid − bm25")  # type: ignore[union-attr]
        )
        for examples in (3, None)
    )
    assert [len(table.rows) for table in (few, every)] == [6, len(gaps)]  # type: ignore[union-attr]
    assert every.rows[0][0].text == gaps[0][1].query  # type: ignore[union-attr]
    assert few.rows[3][2].value == gaps[-1][0]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("verdict", "why", "said"),
    [
        ("better", "", "hybrid is better than bm25: RR@10 +"),
        ("worse", "", "hybrid is worse than bm25: RR@10 +"),
        ("tied", "", "hybrid and bm25 are tied, within ± .02: RR@10 +"),
        ("cannot tell", "", "hybrid and bm25 cannot be told apart: RR@10 +"),
        ("identical", "identical on these 130", "hybrid and bm25 are identical on these 130."),
        ("too few", "", "Too few cases to tell hybrid and bm25 apart: RR@10 +"),
        ("better on its past failures", "", "hybrid is better than bm25 on past failures of bm25: RR@10 +"),
        ("worse on its past failures", "", "bm25 is better than hybrid on past failures of hybrid: RR@10 +"),
    ],
)
def test_one_pair_in_a_sentence(verdict: str, why: str, said: str) -> None:
    """The headline of two systems claims what the verdict says, and no more."""
    assert headline(alone(pair_of("hybrid", "bm25"), verdict=verdict, why=why)).startswith(said)


def test_many_systems_in_a_sentence() -> None:
    """Who may be the best is named, and how many pairs are told apart."""
    said = headline(comparison())
    assert said.startswith("The best is engine or hybrid: which of them cannot be told. Of 6 pairs 4 are told apart")
    against = headline(comparison(baseline="bm25"))
    assert against == "Against bm25: better: engine and hybrid; cannot be told from it: dense."


def test_strata_stand_side_by_side() -> None:
    """Failure and control cases have a column each, and a verdict each."""
    text = printed(comparison(), 120)
    assert re.search(r"Pair +failure \(90\) +alone +control \(40\) +alone", text)
    assert "selected on it" in text


def test_generated_cases_stand_apart_always() -> None:
    """Differences by origin are in the terminal without asking; other types on request."""
    assert "generated (26)" in printed(comparison(), 120)
    assert "vague (44)" not in printed(comparison(), 120)
    assert "vague (44)" in printed(comparison(), 120, types=["wording"])


def test_many_pairs_are_those_with_the_leader() -> None:
    """Of more than 15 pairs only those with the leader are shown, how many more there are is said, --all has them."""
    pair = pair_of("hybrid", "bm25")
    many = [pair.model_copy(update={"first": "hybrid" if at < 5 else "x", "second": f"s{at}"}) for at in range(20)]
    systems = [comparison().systems[0].model_copy(update={"name": name, "first_rank": 1}) for name in ("hybrid", "x")]
    systems += [systems[0].model_copy(update={"name": f"s{at}"}) for at in range(20)]
    result = comparison().model_copy(update={"pairs": tuple(many), "systems": tuple(systems), "cases": ()})
    assert len(shown_pairs(result)) == 5
    assert "15 more pairs: --all shows them" in printed(result, 120)
    assert "x − s19" in printed(result, 120, every=True)


def test_the_page_draws_differences() -> None:
    """The report holds a picture whose description says every interval, in two widths; the same bytes each time."""
    page = render_comparison(comparison())
    assert page.count("<figure") == 1
    assert re.search(r'aria-label="RR@10, first minus second\. engine − hybrid: .* cannot tell', page)
    assert page == render_comparison(comparison())
    fragment = render_fragment(comparison())
    assert fragment.count("<svg") - fragment.count('<svg class="bar') == 1


def test_without_charts_the_tables_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the libraries for charts are missing the page says so and holds the same tables."""
    drawn = render_comparison(comparison())
    for name in ("findback.reporting.forest", "findback.reporting.drawing", "altair"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "altair", None)
    plain = render_comparison(comparison())
    assert NO_CHARTS.split(":")[0] in plain
    assert plain.count("<table>") == drawn.count("<table>")


def test_json_reads_back() -> None:
    """JSON holds the record exactly."""
    assert Comparison.model_validate_json(render_json(comparison())) == comparison()
    assert json.loads(render_json(comparison()))["pairs"][0]["first"] == comparison().pairs[0].first


def test_text_for_a_notebook() -> None:
    """A comparison prints as plain text without colour."""
    assert "Who can be told apart" in render_text(comparison())
    assert UNSAFE.search(render_text(comparison())) is None
