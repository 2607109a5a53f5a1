"""The two sides of a comparison: the exam's questions, and those that came in since and no release holds."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from findback.corpus.corpus import Corpus
from findback.evalset.clusters import find_alike
from findback.measure.clusters import join_by_gold
from findback.model.candidate import Candidate
from findback.model.case import Case
from findback.privacy.masking import mask
from findback.text.languages import guess_language
from findback.workbench.store import Workbench

PAGE = 500
UNKNOWN = "und"
OUT = frozenset({"rejected", "released"})
"""States of candidates that are no question, or part of the exam already."""


class Asked(NamedTuple):
    """One question of either side."""

    query: str
    """Redacted, suggestions masked."""
    language: str | None
    cluster: str
    wording: str | None
    golds: tuple[str, ...]
    """Documents that answer it, by id; a resolver's links where nobody reviewed it."""
    month: str | None
    flagged: bool
    nearness: float = 0.0
    """Of one that came in: how near the nearest question of the exam is, in [0, 1]."""


def take_exam(cases: Sequence[Case], documents: Corpus | None) -> list[Asked]:
    """Return the active cases of a release; what is held out is counted with the rest, and named nowhere."""
    return [
        Asked(
            case.query,
            None if case.language == UNKNOWN else case.language,
            case.cluster,
            case.wording,
            _resolve([judgement.doc for judgement in case.gold], documents),
            case.seen_on,
            case.origin == "flagged",
        )
        for case in cases
        if case.status == "active"
    ]


def take_incoming(bench: Workbench, documents: Corpus | None) -> list[Asked]:
    """Return the failures that came in, were not rejected, and are in no release; what a model wrote is none."""
    wordings = bench.wordings()
    found = list(_failures(bench))
    queries = [mask(one.query).text for one in found]
    clusters = _clusters(found, queries)
    return [
        Asked(
            query,
            one.language or guess_language(query),
            cluster,
            wordings.get(one.key),
            _resolve([link.document for link in one.links if link.by == "resolver"], documents),
            one.seen_on,
            one.origin == "flagged",
        )
        for one, query, cluster in zip(found, queries, clusters, strict=True)
    ]


def _failures(bench: Workbench) -> Iterator[Candidate]:
    after = 0
    while page := bench.list_candidates(limit=PAGE, after=after):
        after = page[-1].number
        for one in page:
            candidate = one.candidate
            if one.state not in OUT and candidate.stratum == "failure" and candidate.written is None:
                yield (
                    candidate
                    if candidate.seen_on
                    else candidate.model_copy(update={"seen_on": f"{one.stored_at:%Y-%m}"})
                )


def _clusters(candidates: Sequence[Candidate], queries: Sequence[str]) -> list[str]:
    """Return which questions count as one: of one thread, of one person, or nearly the same words."""
    alike: dict[int, list[str]] = {}
    for number, pair in enumerate(find_alike(queries)):
        for place in pair:
            alike.setdefault(place, []).append(f"near {number}")
    keys = [
        (
            f"thread {one.thread[0].key if one.thread else one.key}",
            *([f"asker {one.asker_hmac}"] if one.asker_hmac else []),
            *alike.get(place, ()),
        )
        for place, one in enumerate(candidates)
    ]
    joined = join_by_gold(np.arange(len(keys), dtype=np.int64), keys).tolist() if keys else []
    return [str(group) for group in joined]


def _resolve(named: Sequence[str], documents: Corpus | None) -> tuple[str, ...]:
    found = [name if documents is None else documents.resolve(name) for name in named]
    return tuple(dict.fromkeys(one for one in found if one is not None))
