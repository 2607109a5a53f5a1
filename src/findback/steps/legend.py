"""What the names of metrics mean, and which of the usual names they answer to."""

from collections.abc import Iterable

from findback.measure.metrics.name import parse_metric

UNCERTAINTY = (
    "[low, high]: 95 % interval of the mean; every cluster (one root, thread or near-duplicate query) counts once",
    (
        "golds: groups of questions that share a gold document, directly or through others; a set's gold documents"
        " may be more, as one question can have several"
    ),
    "deff: design effect of questions that share gold documents; above 1.5 the interval is the one by gold",
)
"""What stands beside every figure."""


def explain_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """Return one line for each kind of metric among the names, in their order."""
    lines: dict[str, str] = {}
    for name in names:
        metric = parse_metric(name)
        lines.setdefault(metric.name, f"{metric.form.label}: {metric.form.meaning}")
    return tuple(lines.values())
