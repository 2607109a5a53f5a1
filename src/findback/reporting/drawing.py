"""What every chart has in common: colours, labels, sizes, and how it becomes SVG.

Imported by name only, because altair and vl-convert come with the `charts` extra. Colours are written as the
hexadecimal values of `SERIES` and `INK`, which the report's style sheet replaces in light and dark.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import altair as alt
import vl_convert

from findback.reporting.blocks import Chart
from findback.reporting.figures import Reach, figure
from findback.reporting.inert import inert

SERIES = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#8a6d00", "#2f4b7c", "#7a5195", "#5f6b6d")
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
STEPS = ("#08519c", "#3182bd", "#6baed6", "#9ecae1", "#d9d9d9")
INK = "#24292e"
RULE = "#d9d9da"
_NAMESPACE = r'\sxmlns(?::\w+)?="[^"]*"'
"""Needless inside HTML, and would look like an address."""
MARKS = "replace(format(datum.value, '~g'), '0.', '.')"
DATA: Any = alt.Data
WIDTH = 330
"""Of what is drawn in, in pixels, for half a page or a phone."""
WIDE = 580
"""The same for a whole page."""
_LABEL = 26

Drawing = Callable[[int], Chart | None]
"""Draws a chart of a width, in pixels, of what is drawn in."""


def draw_sections(sections: dict[str, tuple[Drawing, ...]]) -> dict[str, tuple[Chart, ...]]:
    """Return the charts of each section; one that stands alone is drawn for a wide page too."""
    charts: dict[str, tuple[Chart, ...]] = {}
    for key, drawings in sections.items():
        drawn = [(chart, draw) for draw in drawings for chart in (draw(WIDTH),) if chart is not None]
        if len(drawn) == 1:
            chart, draw = drawn[0]
            wide = draw(WIDE)
            charts[key] = (chart if wide is None else chart._replace(wide=wide.svg),)
        elif drawn:
            charts[key] = tuple(chart for chart, _ in drawn)
    return charts


def say_reach(reach: Reach) -> str:
    """Return what a bar shows in words."""
    middle = figure(reach.left) if reach.left == reach.right else f"{figure(reach.left)} to {figure(reach.right)}"
    return f"{middle}, from {figure(reach.low, digits=2)} to {figure(reach.high, digits=2)}"


def short_labels(names: Iterable[str]) -> dict[str, str]:
    """Return a short, harmless and still distinct label for each name, in order.

    Nothing else may bring text into a chart: vl-convert ends the whole process on a control character.
    """
    labels: dict[str, str] = {}
    for name in names:
        if name in labels:
            continue
        label = inert(name, limit=_LABEL)
        again = 2
        while label in labels.values():
            label = f"{inert(name, limit=_LABEL - 4)} {again}"
            again += 1
        labels[name] = label
    return labels


def to_svg(drawn: Any) -> str:
    """Return a chart as SVG that fits every page: plain style, no outside address."""
    styled = (
        drawn.configure(
            aria=False,
            font="sans-serif",
            background="transparent",
            padding={"left": 22, "right": 8, "top": 4, "bottom": 4},
        )
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            gridColor=RULE,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
        )
        .configure_legend(labelColor=INK, titleColor=INK, labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
    )
    svg: str = vl_convert.vegalite_to_svg(styled.to_json(), allowed_base_urls=[])
    head, body = svg.split(">", 1)
    return f"{re.sub(_NAMESPACE, '', head)}>{body}"
