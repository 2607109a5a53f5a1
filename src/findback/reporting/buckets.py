"""Success among questions of like overlap or leak, in tables."""

from findback.model.audit import Audit, AuditedRetriever, BucketSuccess
from findback.reporting.blocks import Block, Column, Prose, Table
from findback.reporting.figures import count_cell, score_cell, text_cell

LEAKED = ("leaked", "unleaked")
"""Buckets by leak, not by overlap."""
LEAK_LIMIT = (
    "leaked: more than .35 of a question's rare words stand in its gold text (leak above .35, unless the settings name"
    " another limit); a question whose leak cannot be measured is in neither row."
)

Buckets = tuple[tuple[AuditedRetriever, tuple[BucketSuccess, ...]], ...]


def bucket_table(title: str, named: Buckets, *, head: str = "Overlap", charted: bool = True) -> Table:
    """Return success among questions of like overlap, one column per retriever."""
    labels = list(dict.fromkeys(bucket.bucket for _, buckets in named for bucket in buckets))
    rows = []
    for label in labels:
        found = [(r, next((b for b in buckets if b.bucket == label), None)) for r, buckets in named]
        cases = max(bucket.cases for _, bucket in found if bucket is not None)
        cells = [score_cell(b.score if b else None, errors=r.failed, reason="no question in it") for r, b in found]
        rows.append((text_cell(label), count_cell(cases), *cells))
    columns = (
        Column(head, numeric=False),
        Column("questions"),
        *(Column(r.name) for r, _ in named),
    )
    return Table(title, columns, tuple(rows), charted=charted)


def by_overlap(buckets: tuple[BucketSuccess, ...]) -> tuple[BucketSuccess, ...]:
    """Return the buckets by overlap, without those by leak."""
    return tuple(bucket for bucket in buckets if bucket.bucket not in LEAKED)


def _by_leak(buckets: tuple[BucketSuccess, ...]) -> tuple[BucketSuccess, ...]:
    return tuple(bucket for bucket in buckets if bucket.bucket in LEAKED)


def bucket_blocks(audit: Audit) -> tuple[Block, ...]:
    """Return each side's tables by overlap, then those by leak with what leaked means."""
    blocks: list[Block] = []
    leaks: list[Block] = []
    for name, named in (
        ("set", tuple((r, r.buckets) for r in audit.retrievers)),
        ("sample", tuple((r, r.sample_buckets) for r in audit.retrievers)),
    ):
        overlap = tuple((r, by_overlap(buckets)) for r, buckets in named)
        leak = tuple((r, _by_leak(buckets)) for r, buckets in named)
        if any(buckets for _, buckets in overlap):
            blocks.append(bucket_table(f"{audit.metric} by overlap, on the {name}", overlap))
        if any(buckets for _, buckets in leak):
            title = f"{audit.metric} of leaked and unleaked questions, on the {name}"
            leaks.append(bucket_table(title, leak, head="Leak", charted=False))
    return (*blocks, *leaks, *((Prose(LEAK_LIMIT, "aside"),) if leaks else ()))
