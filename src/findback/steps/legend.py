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


def note_depth(asked: int, metrics: Iterable[str]) -> tuple[str, ...]:
    """Return a note where a metric looks deeper than what was asked for, so that the search does too.

    >>> note_depth(5, ["Success@3", "RR@10"]), note_depth(10, ["RR@10"])
    (('searched 10 deep, not 5: RR@10 needs it',), ())
    """
    cutoff, name = max(((parse_metric(name).cutoff or 1, name) for name in metrics), key=lambda one: one[0])
    return (f"searched {cutoff} deep, not {asked}: {name} needs it",) if cutoff > asked else ()


def explain_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """Return one line for each kind of metric among the names, in their order."""
    lines: dict[str, str] = {}
    for name in names:
        metric = parse_metric(name)
        lines.setdefault(metric.name, f"{metric.form.label}: {metric.form.meaning}")
    return tuple(lines.values())
