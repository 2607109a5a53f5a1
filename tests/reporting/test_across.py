"""Comparisons across sets, effects and sweeps as reports."""

import re
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from builders.across import across
from builders.hostile import HOSTILE, refilled
from findback.model.across import Across
from findback.model.effect import FactorEffect
from findback.model.estimate import Estimate
from findback.model.evaluation import Sweep
from findback.reporting.across import across_report, say_order, shown_pairs
from findback.reporting.effects import effects_table
from findback.reporting.html import render_fragment
from findback.reporting.json import render_json
from findback.reporting.notebook import render_text
from findback.reporting.render import across_terminal
from findback.reporting.sweep import say_winner, sweep_blocks

UNSAFE = re.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")


def written(suffix: str, result: Across) -> str:
    return across_terminal(every=False).by_suffix[suffix](result)


def test_the_headline_claims_the_verdict_alone() -> None:
    """Changed names the reversed pairs; same order and cannot tell name none."""
    result = across()
    assert say_order(result).startswith("The order of the 5 systems changes between generated and mined (tau-b ")
    assert "dense − bm25" in say_order(result)
    same = result.model_copy(update={"verdict": "same order", "why": "they agree"})
    assert say_order(same).startswith("generated and mined put the 5 systems into the same order (tau-b ")
    untold = result.model_copy(update={"verdict": "cannot tell", "why": "too few", "tau": None, "reason": "few"})
    assert say_order(untold) == (
        "Whether generated and mined put the 5 systems into the same order cannot be told: too few."
    )


def test_what_differs_is_shown_first() -> None:
    """Of many pairs the reversed come first, then those that may be, and all that differ are shown."""
    result = across()
    first = shown_pairs(result)[0]
    assert first.reversed
    (alike, *_) = [pair for pair in result.pairs if not pair.differs]
    many = result.model_copy(update={"pairs": (alike,) * 40 + (first,)})
    shown = shown_pairs(many)
    assert (len(shown), shown[0]) == (15, first)
    assert "26 more pairs, none of which differs" in render_text(many)
    assert "more pair" not in written(".md", many)


def test_levels_have_ranks_on_both_sides() -> None:
    """A system's place on each side stands beside its level; the second side gives the order."""
    text = render_text(across(), width=120)
    rows = [line for line in text.splitlines() if re.match(r"(bm25|dense|rerank) +\d", line)]
    assert [row.split()[0] for row in rows[:3]] == ["rerank", "dense", "bm25"]
    assert [row.split()[1] for row in rows[:3]] == ["1", "5", "3"]


def test_a_refusal_says_why_and_shows_the_buckets() -> None:
    """Where nothing may be weighted there is no table of estimates."""
    result = across()
    assert "never a correction of it" in render_text(result, width=120)
    refused = result.overlap.model_copy(update={"refusal": "too few queries to weight"})
    text = render_text(result.model_copy(update={"overlap": refused}), width=120)
    assert "Nothing is estimated: too few queries to weight." in text
    assert "never a correction of it" not in text
    assert "If only overlap differed" not in render_text(result.model_copy(update={"overlap": None}))


@pytest.mark.parametrize("width", [60, 80, 140])
def test_a_terminal_is_never_too_narrow(width: int) -> None:
    """No line is wider than the terminal."""
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=False, legacy_windows=False)
    console.print(across_terminal(every=True).terminal(across()))
    assert max(cell_len(line) for line in out.getvalue().splitlines()) <= width


def test_hostile_names_are_inert_everywhere() -> None:
    """No text becomes markup, a command or a link, whatever it is shown on."""
    effect = FactorEffect(factor="f", first="a", second="b", settings=0, systems=2, confounded=("g",),
                          gains=(Estimate(value=0.1, reason="r"), Estimate(value=None, reason="r")),
                          between=Estimate(value=0.1))  # fmt: skip
    whole = across().model_copy(update={"effects": (effect,)})
    hostile = refilled(whole, lambda _: HOSTILE, skip=frozenset({"primary"}))
    page = written(".html", hostile)
    assert "<script>alert" not in page
    assert "onload='x'" not in page
    assert UNSAFE.search(page.replace("\n", "")) is None
    assert "{{7*7}}" in page
    assert "<script>alert" not in written(".md", hostile)
    assert UNSAFE.search(render_text(hostile)) is None
    assert "<script>alert" not in render_fragment(hostile)


def test_json_reads_back() -> None:
    """JSON holds the record exactly."""
    assert Across.model_validate_json(render_json(across())) == across()


def test_effects_say_how_they_were_compared() -> None:
    """Like with like, or means with what else differs; what differs between sides is said."""
    gain, gap = Estimate(value=0.1, low=0.05, high=0.15), Estimate(value=0.2, low=0.1, high=0.3)
    alike = FactorEffect(factor="k1", first="1", second="2", settings=3, systems=6, gains=(gain, gain), between=gap)
    mixed = alike.model_copy(update={"settings": 0, "confounded": ("b", "c"), "between": Estimate(value=0.0)})
    table = effects_table([alike, mixed], ("old", "new"), "RR@10")
    assert [row[-1].text for row in table.rows] == [
        "like with like, 3×; differs between sides",
        "means; b and c differ too",
    ]
    assert [column.head for column in table.columns] == [
        "Factor",
        "levels",
        "old",
        "new",
        "between",
        "systems",
        "compared",
    ]


def test_a_sweeps_winner_is_doubted_or_not() -> None:
    """A warning follows the winner's name; without one it is told apart from all."""
    sweep = Sweep(name="grid", best="b=1", systems=4, n=80, clusters=80, lead=0.02, ahead=0.05, luck=0.03, noise=0.06,
                  p=0.2, rivals=("b=2", "b=3"), warning="it may be luck", effects=())  # fmt: skip
    assert say_winner(sweep) == "b=1 came out best of 4, but it may be luck."
    sure = sweep.model_copy(update={"warning": None, "rivals": ()})
    assert say_winner(sure) == "b=1 is the best of 4, and told apart from every other one."
    assert sweep_blocks(None, "RR@10") == ()
    facts = dict(sweep_blocks(sweep, "RR@10")[1].items)
    assert (facts["Luck of picking the best"], facts["Not told apart from it"]) == (".030", "b=2 and b=3")


def test_sides_named_alike_across_formats() -> None:
    """The heading names both sides and the sets they come from."""
    report = across_report(across())
    assert report.heading == "generated (unreleased set) and mined (unreleased set)"
    assert written(".md", across()).startswith("# Comparison across sets: generated (unreleased set) and mined")
