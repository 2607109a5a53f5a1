"""Differences as a picture: a line a pair, with the margin and the line of no difference."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import altair as alt

from findback.model.compared import ComparedPair, Comparison
from findback.reporting.blocks import Chart
from findback.reporting.compared import shown_pairs
from findback.reporting.drawing import DATA, INK, MARKS, RULE, SERIES, draw_sections, say_reach, short_labels, to_svg
from findback.reporting.figures import Reach
from findback.reporting.verdict import difference_cell, name_pair, say_verdict

MOST_LINES = 40
"""Most pairs one picture shows."""
_VERDICTS = ("better", "worse", "on past failures", "tied", "open")
_COLOURS = (SERIES[2], SERIES[1], SERIES[3], SERIES[0], SERIES[7])
_SHAPES = ("circle", "square", "diamond", "triangle-up", "cross")


def comparison_charts(result: Comparison) -> dict[str, tuple[Chart, ...]]:
    """Return the charts of a comparison by the key of the section they belong to."""
    return draw_sections({"differences": (partial(_forest, result),)})


def _forest(result: Comparison, width: int) -> Chart | None:
    lines = [
        (pair, cell.reach)
        for pair in shown_pairs(result)[:MOST_LINES]
        for cell in (difference_cell(pair),)
        if cell.reach is not None
    ]
    if not lines:
        return None
    title = f"{result.label}, first minus second"
    said = "; ".join(
        f"{name_pair(pair.first, pair.second)}: {say_reach(reach)}, {say_verdict(pair)}" for pair, reach in lines
    )
    return Chart(title, f"{title}. {said}.", to_svg(_draw(result, lines, width)))


def _draw(result: Comparison, lines: Sequence[tuple[ComparedPair, Reach]], width: int) -> Any:
    systems = short_labels(name for pair, _ in lines for name in (pair.first, pair.second))
    names = [name_pair(systems[pair.first], systems[pair.second]) for pair, _ in lines]
    bars, points = [], []
    for name, (pair, reach) in zip(names, lines, strict=True):
        at = {"pair": name, "verdict": _kind(pair)}
        bars.append(at | {"low": reach.low, "high": reach.high})
        points += [at | {"at": value} for value in dict.fromkeys((reach.left, reach.right))]
    present = [verdict for verdict in _VERDICTS if any(bar["verdict"] == verdict for bar in bars)]
    colours = [_COLOURS[_VERDICTS.index(verdict)] for verdict in present]
    shapes = [_SHAPES[_VERDICTS.index(verdict)] for verdict in present]
    lowest = min(-result.margin, *(reach.low for _, reach in lines))
    highest = max(result.margin, *(reach.high for _, reach in lines))
    room = 0.04 * (highest - lowest)
    scale = alt.Scale(domain=[lowest - room, highest + room], nice=False)
    axis = alt.Axis(title=None, tickCount=5, domain=False, ticks=False, labelExpr=MARKS)
    legend = alt.Legend(title=None, orient="top", columns=3, columnPadding=16, symbolSize=60)
    colour = alt.Color("verdict:N", sort=present, scale=alt.Scale(domain=present, range=colours), legend=legend)
    row_axis = alt.Axis(title=None, domain=False, ticks=False, labelLimit=240)
    row = alt.Y("pair:N", sort=names, axis=row_axis)
    margin = [{"from": -result.margin, "to": result.margin}]
    band = (
        alt.Chart(DATA(values=margin))
        .mark_rect(color=RULE, opacity=0.6)
        .encode(x=alt.X("from:Q", scale=scale), x2="to:Q")
    )
    zero = alt.Chart(DATA(values=[{"zero": 0}])).mark_rule(color=INK).encode(x=alt.X("zero:Q", scale=scale, axis=axis))
    spans = (
        alt.Chart(DATA(values=bars))
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", y=row, color=colour)
    )
    marks = (
        alt.Chart(DATA(values=points))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X("at:Q", scale=scale, axis=axis),
            y=row,
            color=colour,
            shape=alt.Shape("verdict:N", sort=present, scale=alt.Scale(domain=present, range=shapes), legend=legend),
        )
    )
    return (band + zero + spans + marks).properties(width=width, height=22 * len(lines) + 10)


def _kind(pair: ComparedPair) -> str:
    """Return which colour a verdict has."""
    if pair.verdict.endswith("failures"):
        return "on past failures"
    if pair.verdict in ("better", "worse"):
        return pair.verdict
    return "tied" if pair.verdict in ("tied", "identical") else "open"
