"""Scores over time as a picture."""

import importlib
from collections.abc import Sequence

from findback.reporting.blocks import Chart
from findback.reporting.figures import Reach
from findback.steps.scoreboard import ScorePoint

NO_CHARTS = "Charts need the extra: pip install 'findback[charts]'."
MOST_TIMES = 12
"""Evaluations drawn, the newest."""


def draw_scores(points: Sequence[ScorePoint]) -> Chart | str | None:
    """Return a chart of scores over time, oldest first; lines join scores on the same exam alone.

    Returns:
        None where nothing can be drawn, a sentence where the library for charts is not installed.
    """
    try:
        drawing = importlib.import_module("findback.reporting.charts")
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("altair", "vl_convert"):
            raise
        return NO_CHARTS
    metric = points[0].metric if points else ""
    shown = list(dict.fromkeys(point.evaluation for point in points))[:MOST_TIMES]
    moments = [
        drawing.Moment(name_time(point, shown), point.heading, point.retriever, reach)
        for point in reversed(points)
        if point.evaluation in shown and point.metric == metric and (reach := reach_of(point)) is not None
    ]
    drawn: Chart | None = drawing.timeline_chart(f"{metric} of each retriever over time", moments)
    return drawn


def name_time(point: ScorePoint, newest_first: Sequence[str]) -> str:
    """Return which evaluation it was, when, and on which exam: short, and no two alike."""
    exam = f"r{point.release}" if point.release is not None else "other"
    number = len(newest_first) - newest_first.index(point.evaluation)
    return f"{number}: {point.made:%m-%d} {exam}"


def reach_of(point: ScorePoint) -> Reach | None:
    """Return what of a score can be drawn: the figure with its interval, or what errors leave of it."""
    estimate = point.estimate
    if estimate.value is not None:
        low = estimate.value if estimate.low is None else estimate.low
        high = estimate.value if estimate.high is None else estimate.high
        return Reach(low, estimate.value, estimate.value, high)
    if point.lowest is None or point.highest is None or point.lowest.value is None or point.highest.value is None:
        return None
    left, right = point.lowest.value, point.highest.value
    return Reach(
        left if point.lowest.low is None else point.lowest.low,
        left,
        right,
        right if point.highest.high is None else point.highest.high,
    )
