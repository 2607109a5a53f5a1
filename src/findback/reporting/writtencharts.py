"""Charts of what a model wrote."""

from functools import partial
from typing import Any

from findback.model.generated import Generated
from findback.reporting.blocks import Chart
from findback.reporting.charts import bar_chart
from findback.reporting.drawing import draw_sections, short_labels
from findback.reporting.figures import figure

BEFORE, AFTER = "first texts", "passed"


def generated_charts(result: Generated) -> dict[str, tuple[Chart, ...]]:
    """Return the charts of what a model wrote by the key of the section they belong to."""
    return draw_sections(
        {
            "written-mix": (partial(_subjects, result),),
            "written-filters": (partial(_leaks, result),),
        }
    )


def _subjects(result: Generated, width: int) -> Chart | None:
    names = short_labels(row.subject for row in result.mix)
    sides = (
        ("index", [row.index for row in result.mix]),
        ("drawn first", [row.sample for row in result.mix]),
        ("passed", [row.passed for row in result.mix]),
    )
    bars: list[dict[str, Any]] = [
        {"subject": names[row.subject], "side": side, "share": count / sum(counts)}
        for side, counts in sides
        if sum(counts)
        for row, count in zip(result.mix, counts, strict=True)
    ]
    return bar_chart(
        "Subjects of index, sample and what passed",
        bars,
        x="share",
        y="subject",
        series=tuple(side for side, _ in sides),
        order=tuple(names.values()),
        said="; ".join(f"{bar['subject']} {bar['side']} {figure(bar['share'])}" for bar in bars[:60]),
        width=width,
    )


def _leaks(result: Generated, width: int) -> Chart | None:
    sides = [(BEFORE, result.leak_before), (AFTER, result.leak_after)]
    order = tuple(dict.fromkeys(name for _, side in sides if side is not None for name in side.buckets))
    labels = short_labels(row.bucket for row in result.buckets)
    bars: list[dict[str, Any]] = [
        {"bin": labels.get(name, name), "side": which, "share": side.buckets.get(name, 0) / side.texts}
        for which, side in sides
        if side is not None and side.texts
        for name in labels
        if name in order
    ]
    return bar_chart(
        "Texts by leak, before and after the filters",
        bars,
        x="bin",
        y="share",
        series=(BEFORE, AFTER),
        order=tuple(labels.values()),
        said="; ".join(f"{bar['bin']} {bar['side']} {figure(bar['share'])}" for bar in bars),
        width=width,
    )
