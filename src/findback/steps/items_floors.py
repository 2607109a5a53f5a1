"""Retrievers that do not read the question: what any search should beat."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from findback.measure.clusters import code_clusters
from findback.measure.itemanalysis import rank_popular
from findback.model.hits import Answer, Hit
from findback.model.run import Run, RunBuilder
from findback.steps.paired_scores import PairedScores

CONSTANT, POPULAR = "constant", "most popular"
MOST = 100
"""Documents a floor returns at most."""


def make_floors(paired: PairedScores, firsts: Sequence[Sequence[str | None]], depth: int) -> tuple[Run, Run]:
    """Return the runs of a constant and of a most-popular-document retriever on the cases compared.

    The constant one knows no label: whatever is asked, it returns the documents that systems rank first most often.
    The popular one returns those that answer most cases of other clusters.

    Args:
        paired: The cases.
        firsts: For each case, the document each system ranks first.
        depth: Documents to return.
    """
    most = min(depth, MOST)
    counted = Counter(document for row in firsts for document in row if document is not None)
    same = tuple(sorted(counted, key=lambda document: (-counted[document], document))[:most])
    popular = rank_popular(paired.golds, code_clusters(paired.clusters, len(paired.clusters)), most)
    return _make_run(CONSTANT, paired, [same] * len(paired.questions)), _make_run(POPULAR, paired, popular)


def list_firsts(run: Run, ids: Sequence[str]) -> list[str | None]:
    """Return the document a run ranks first for each question; None where it returned nothing."""
    places = {query: at for at, query in enumerate(run.queries)}
    found: list[str | None] = []
    for id_ in ids:
        at = places.get(id_)
        row = None if at is None else _first_row(run, at)
        found.append(None if row is None else run.documents[int(run.codes[row])])
    return found


def _first_row(run: Run, query: int) -> int | None:
    start, end = int(run.starts[query]), int(run.starts[query + 1])
    if start == end:
        return None
    if run.order == "given" or run.scores is None:
        return start
    scores = run.scores[start:end]
    if np.isnan(scores).all():
        return start
    return start + int(np.nanargmin(scores) if run.direction == "lower" else np.nanargmax(scores))


def _make_run(name: str, paired: PairedScores, ranked: Sequence[Sequence[str]]) -> Run:
    builder = RunBuilder(name, kind="floor")
    for question, documents in zip(paired.questions, ranked, strict=True):
        builder.add(question.id, Answer(tuple(Hit(document) for document in documents)))
    return builder.build()
