"""Charts as static SVG: no scripts, no outside address, the same bytes for the same numbers."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import altair as alt

from findback.model.audit import Audit
from findback.model.evaluation import Evaluation
from findback.reporting.blocks import Chart
from findback.reporting.buckets import by_overlap
from findback.reporting.drawing import (
    DATA,
    MARKS,
    SERIES,
    SHAPES,
    STEPS,
    WIDE,
    draw_sections,
    say_reach,
    short_labels,
    to_svg,
)
from findback.reporting.evaluation import TYPES
from findback.reporting.figures import Reach, figure, score_cell
from findback.reporting.scored import find_score, metric_label, primary_score
from findback.reporting.yardsticks import BINS, OURS, sides

Dot = tuple[str, str, Reach]
"""A group, a series, and what its bar draws."""


def evaluation_charts(evaluation: Evaluation) -> dict[str, tuple[Chart, ...]]:
    """Return the charts of an evaluation by the key of the section they belong to."""
    return draw_sections(
        {
            "scores": (partial(_metrics, evaluation),),
            "types": tuple(partial(_types, evaluation, axis) for axis in TYPES),
            "ranks": (partial(_ranks, evaluation),),
            "exam": (partial(_subjects, evaluation),),
        }
    )


def audit_charts(audit: Audit) -> dict[str, tuple[Chart, ...]]:
    """Return the charts of an audit by the key of the section they belong to."""
    return draw_sections(
        {
            "wording": tuple(partial(_histogram, audit, measure) for measure in OURS),
            "buckets": (partial(_buckets, audit, on_sample=False), partial(_buckets, audit, on_sample=True)),
        }
    )


class Moment(NamedTuple):
    """One series' figure at one time."""

    at: str
    """When, in the order moments are given."""
    within: str
    """What figures must share to be joined by a line."""
    series: str
    reach: Reach


def timeline_chart(title: str, moments: Sequence[Moment], *, width: int = WIDE) -> Chart | None:
    """Draw figures with their intervals over time; lines join only what may be compared."""
    if not moments:
        return None
    times, names = short_labels(one.at for one in moments), short_labels(one.series for one in moments)
    groups = {name: str(number) for number, name in enumerate(dict.fromkeys(one.within for one in moments))}
    rows = [
        {
            "at": times[one.at],
            "series": names[one.series],
            "line": f"{names[one.series]} {groups[one.within]}",
            "value": (one.reach.left + one.reach.right) / 2,
            "low": one.reach.low,
            "high": one.reach.high,
        }
        for one in moments
    ]
    series = list(names.values())
    colours = [SERIES[at % len(SERIES)] for at in range(len(series))]
    shapes = [SHAPES[at % len(SHAPES)] for at in range(len(series))]
    legend = alt.Legend(title=None, orient="top", columns=3 if width < WIDE else 5, symbolSize=60, labelLimit=120)
    colour = alt.Color("series:N", sort=series, scale=alt.Scale(domain=series, range=colours), legend=legend)
    slanted = -40 if len(times) > 4 else 0
    axis = alt.Axis(title=None, domain=False, ticks=False, labelAngle=slanted, labelLimit=160)
    place: dict[str, Any] = {
        "x": alt.X("at:N", sort=list(times.values()), axis=axis),
        "xOffset": alt.XOffset("series:N", sort=series),
    }
    lowest, highest = min(0.0, *(one.reach.low for one in moments)), max(1.0, *(one.reach.high for one in moments))
    marks = alt.Axis(title=None, tickCount=5, domain=False, ticks=False, labelExpr=MARKS)
    scale = alt.Scale(domain=[lowest, highest], nice=False)
    base = alt.Chart(DATA(values=rows))
    drawn = (
        base.mark_line(strokeWidth=1, opacity=0.5).encode(
            y=alt.Y("value:Q", scale=scale, axis=marks), color=colour, detail="line:N", **place
        )
        + base.mark_rule(strokeWidth=2).encode(
            y=alt.Y("low:Q", scale=scale, axis=marks), y2="high:Q", color=colour, **place
        )
        + base.mark_point(filled=True, size=55, opacity=1).encode(
            y=alt.Y("value:Q", scale=scale, axis=marks),
            color=colour,
            shape=alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series, range=shapes), legend=legend),
            **place,
        )
    )
    said = "; ".join(f"{one.at}, {one.series}: {say_reach(one.reach)}" for one in moments[:40])
    return Chart(title, f"{title}. {said}.", to_svg(drawn.properties(width=width, height=220)))


def _metrics(evaluation: Evaluation, width: int) -> Chart | None:
    dots = []
    for metric in evaluation.metrics:
        for retriever in evaluation.retrievers:
            reach = score_cell(primary_score(retriever, metric)).reach
            if reach is not None:
                dots.append((metric_label(evaluation, metric), retriever.name, reach))
    return _dot_chart("Scores of each retriever", dots, width)


def _types(evaluation: Evaluation, axis: str, width: int) -> Chart | None:
    dots = []
    for retriever in evaluation.retrievers:
        for group in retriever.groups:
            if group.axis == axis:
                reach = score_cell(find_score(group, evaluation.primary)).reach
                if reach is not None:
                    dots.append((f"{group.value} ({group.cases})", retriever.name, reach))
    return _dot_chart(f"{metric_label(evaluation, evaluation.primary)} by {axis}", dots, width)


def _buckets(audit: Audit, width: int, *, on_sample: bool) -> Chart | None:
    dots = []
    for retriever in audit.retrievers:
        for bucket in by_overlap(retriever.sample_buckets if on_sample else retriever.buckets):
            reach = score_cell(bucket.score).reach
            if reach is not None:
                dots.append((f"{bucket.bucket} ({bucket.cases})", retriever.name, reach))
    return _dot_chart(f"{audit.metric} by overlap, on the {'sample' if on_sample else 'set'}", dots, width)


def _dot_chart(title: str, dots: Sequence[Dot], width: int) -> Chart | None:
    if not dots:
        return None
    groups = short_labels(group for group, _, _ in dots)
    names = short_labels(name for _, name, _ in dots)
    bars, points = [], []
    for group, name, reach in dots:
        at = {"group": groups[group], "series": names[name]}
        bars.append(at | {"low": reach.low, "high": reach.high})
        points += [at | {"at": value} for value in dict.fromkeys((reach.left, reach.right))]
    lowest = min(0.0, *(reach.low for _, _, reach in dots))
    highest = max(1.0, *(reach.high for _, _, reach in dots))
    series = list(names.values())
    colours = [SERIES[at % len(SERIES)] for at in range(len(series))]
    shapes = [SHAPES[at % len(SHAPES)] for at in range(len(series))]
    legend = alt.Legend(title=None, orient="top", columns=3 if width < WIDE else 5, symbolSize=60, labelLimit=120)
    place: dict[str, Any] = {
        "y": alt.Y(
            "group:N",
            sort=list(groups.values()),
            title=None,
            axis=alt.Axis(domain=False, ticks=False, labelLimit=120),
        ),
        "yOffset": alt.YOffset("series:N", sort=series),
    }
    axis = alt.Axis(title=None, tickCount=5, domain=False, ticks=False, labelExpr=MARKS)
    scale = alt.Scale(domain=[lowest, highest], nice=False)
    colour = alt.Color("series:N", sort=series, scale=alt.Scale(domain=series, range=colours), legend=legend)
    lines = (
        alt.Chart(DATA(values=bars))
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=colour, **place)
    )
    marks = (
        alt.Chart(DATA(values=points))
        .mark_point(filled=True, size=55, opacity=1)
        .encode(
            x=alt.X("at:Q", scale=scale, axis=axis),
            color=colour,
            shape=alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series, range=shapes), legend=legend),
            **place,
        )
    )
    height = max(16, 13 * len(series)) * len(groups) + 10 * len(groups)
    said = "; ".join(f"{group}, {name}: {say_reach(reach)}" for group, name, reach in dots[:40])
    return Chart(title, f"{title}. {said}.", to_svg((lines + marks).properties(width=width, height=height)))


def _histogram(audit: Audit, measure: str, width: int) -> Chart | None:
    bars, said = [], []
    for name, side in sides(audit):
        yard = side.yardstick(measure)
        if yard is None or len(yard.figures.histogram) != len(BINS) or not sum(yard.figures.histogram):
            continue
        total = sum(yard.figures.histogram)
        shares = [count / total for count in yard.figures.histogram]
        bars += [{"bin": label, "side": name, "share": share} for label, share in zip(BINS, shares, strict=True)]
        said.append(f"{name}: " + ", ".join(figure(share) for share in shares))
    return bar_chart(
        f"Questions by {measure}",
        bars,
        x="bin",
        y="share",
        series=("set", "sample"),
        order=BINS,
        said="; ".join(said),
        width=width,
    )


def _subjects(evaluation: Evaluation, width: int) -> Chart | None:
    mix = evaluation.subjects
    if mix is None or not sum(mix.exam) or not sum(mix.index):
        return None
    names = short_labels(mix.subjects)
    bars: list[dict[str, Any]] = []
    for side, counts in (("exam", mix.exam), ("index", mix.index)):
        bars += [
            {"subject": names[subject], "side": side, "share": count / sum(counts)}
            for subject, count in zip(mix.subjects, counts, strict=True)
        ]
    said = "; ".join(f"{bar['subject']} {bar['side']} {figure(bar['share'])}" for bar in bars[:60])
    return bar_chart(
        "Subjects of the exam's gold and of the index",
        bars,
        x="share",
        y="subject",
        series=("exam", "index"),
        order=tuple(names.values()),
        said=said,
        width=width,
    )


def bar_chart(
    title: str,
    bars: list[dict[str, Any]],
    *,
    x: str,
    y: str,
    series: Sequence[str],
    order: Sequence[str],
    said: str,
    width: int,
) -> Chart | None:
    """Draw shares as grouped bars, standing when `y` is the share and lying otherwise."""
    if not bars:
        return None
    present = [name for name in series if any(bar["side"] == name for bar in bars)]
    standing = y == "share"
    named = alt.Axis(title=None, domain=False, ticks=False, labelAngle=0, labelLimit=120, labelOverlap=standing)
    shares = alt.Axis(title="share", tickCount=4, domain=False, ticks=False, labelExpr=MARKS)
    scale = alt.Scale(domain=present, range=list(SERIES[: len(present)]))
    legend = alt.Legend(title=None, orient="top")
    colour = alt.Color("side:N", sort=present, scale=scale, legend=legend)
    base = alt.Chart(DATA(values=bars)).mark_bar()
    if standing:
        drawn = base.encode(
            x=alt.X(f"{x}:N", sort=list(order), axis=named),
            xOffset=alt.XOffset("side:N", sort=present),
            y=alt.Y("share:Q", axis=shares),
            color=colour,
        ).properties(width=width + 40, height=150)
    else:
        drawn = base.encode(
            y=alt.Y(f"{y}:N", sort=list(order), axis=named),
            yOffset=alt.YOffset("side:N", sort=present),
            x=alt.X("share:Q", axis=shares),
            color=colour,
        ).properties(width=width, height=30 * len(order))
    return Chart(title, f"{title}. {said}.", to_svg(drawn))


def _ranks(evaluation: Evaluation, width: int) -> Chart | None:
    ranks = list(dict.fromkeys(count.name for r in evaluation.retrievers for count in r.ranks))
    labels = short_labels(ranks)
    names = short_labels(r.name for r in evaluation.retrievers)
    bars: list[dict[str, Any]] = []
    said = []
    for retriever in evaluation.retrievers:
        total = sum(count.count for count in retriever.ranks)
        if not total:
            continue
        bars += [
            {
                "retriever": names[retriever.name],
                "rank": labels[count.name],
                "share": count.count / total,
                "order": ranks.index(count.name),
            }
            for count in retriever.ranks
        ]
        said.append(f"{retriever.name}: " + ", ".join(f"rank {c.name} {c.count}" for c in retriever.ranks))
    if not bars:
        return None
    shades = [STEPS[min(at, len(STEPS) - 1)] for at in range(len(ranks))]
    drawn = (
        alt.Chart(DATA(values=bars))
        .mark_bar(stroke="#ffffff", strokeWidth=1)
        .encode(
            y=alt.Y(
                "retriever:N",
                sort=list(names.values()),
                axis=alt.Axis(title=None, domain=False, ticks=False, labelLimit=120),
            ),
            x=alt.X(
                "share:Q",
                stack="zero",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(title="share of questions", tickCount=4, domain=False, ticks=False, labelExpr=MARKS),
            ),
            color=alt.Color(
                "rank:N",
                sort=list(labels.values()),
                scale=alt.Scale(domain=list(labels.values()), range=shades),
                legend=alt.Legend(title="rank of the gold", orient="top", columns=5, titleLimit=200),
            ),
            order=alt.Order("order:Q"),
        )
        .properties(width=width, height=28 * len(names))
    )
    title = "Where the best gold document stands"
    return Chart(title, f"{title}. {'; '.join(said)}.", to_svg(drawn))
