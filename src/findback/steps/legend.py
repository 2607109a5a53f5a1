"""What the names of metrics mean, and which of the usual names they answer to."""

from collections.abc import Iterable

from findback.measure.metrics.name import parse_metric

MEANINGS = {
    "Success": "share of cases with a right document among the first k; often printed as precision@k or hit rate"
    " where each case has one gold",
    "PartRecall": "share of the parts of the answer reached by the first k documents; the same as TREC's recall where"
    " each part has one document",
    "Complete": "share of cases with every part reached by the first k documents",
    "RR": "1 / rank of the first right document, 0 beyond the cut-off; its mean is known as MRR",
    "nDCG": "discounted gain of the grades, divided by the best possible; linear gain unless named otherwise",
    "P": "right documents among the first k, divided by k",
    "R": "share of all right documents among the first k (TREC's recall)",
    "AP": "mean of the precision at each right document",
    "AnchorSuccess": "share of cases where one of the first k passages holds at least half of the answering sentence",
    "AnchorRecall": "share of answering sentences held by the first k passages",
    "Judged": "share of the first k documents that somebody has judged",
    "Rprec": "precision at as many documents as there are right ones",
    "Bpref": "how seldom judged wrong documents stand above right ones",
}


UNCERTAINTY = (
    "[low, high]: 95 % interval of the mean; every cluster (one root, thread or near-duplicate query) counts once",
    "deff: design effect of questions that share gold documents; above 1.5 the interval is the one by gold",
)
"""What stands beside every figure."""


def explain_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """Return one line for each kind of metric among the names, in their order."""
    lines: dict[str, str] = {}
    for name in names:
        metric = parse_metric(name)
        meaning = MEANINGS.get(metric.name)
        if meaning is not None:
            lines.setdefault(metric.name, f"{metric.label.partition('@')[0]}: {meaning}")
    return tuple(lines.values())
