"""Why a right document did not come first enough: broken, or simply not there."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from findback.measure.misses import GoldState, classify_miss
from findback.model.evaluation import Count, IndexCoverage, Miss, MissClass, Shown
from findback.model.hits import Hit
from findback.model.protocols import Documents, Retriever
from findback.steps.extracts import extract_matching
from findback.steps.scores import Scored

CLASSES: tuple[MissClass, ...] = (
    "error",
    "not visible to this audience",
    "not in the index",
    "beyond the cut-off",
    "not found",
)
SHOWN_INSTEAD = 3
MOST_EXAMPLES = 200
"""Most misses described one by one in a result."""
CANNOT_TELL = "the system cannot be asked for a document by id, so broken cannot be told from missing"

Presence = Mapping[str, bool | None]
"""Whether the system holds a document; None when it cannot say."""


async def ask_presence(retriever: Retriever, golds: Sequence[str], *, concurrency: int) -> dict[str, bool | None]:
    """Return for each gold document whether the system holds it; None where it cannot say."""
    gate = asyncio.Semaphore(concurrency)

    async def ask(document: str) -> bool | None:
        async with gate:
            try:
                return await retriever.exists(document)
            except Exception:  # noqa: BLE001  (an engine that fails here cannot say; its searches are counted apart)
                return None

    return dict(zip(golds, await asyncio.gather(*(ask(document) for document in golds)), strict=True))


def cover(presence: Presence) -> IndexCoverage:
    """Return how many gold documents the system holds."""
    unknown = sum(1 for there in presence.values() if there is None)
    if unknown:
        reason = CANNOT_TELL if unknown == len(presence) else f"it could not say for {unknown} of {len(presence)}"
        return IndexCoverage(golds=len(presence), indexed=None, reason=reason)
    return IndexCoverage(golds=len(presence), indexed=sum(1 for there in presence.values() if there))


@dataclass(frozen=True, slots=True)
class Missed:
    """A question whose gold stands beyond the cut-off, or nowhere."""

    row: int
    kind: MissClass
    rank: int
    """Best rank of a gold document; 0 where none was returned."""


def find_misses(scored: Scored, presence: Presence, *, cutoff: int) -> list[Missed]:
    """Return every answerable question without a gold document among the first `cutoff`, and why."""
    ranks, _ = scored.scores.best_gold
    found = []
    for row, question in enumerate(scored.labelled.questions):
        if not scored.scores.answerable[row] or scored.scores.skipped[row]:
            continue
        rank = int(ranks[row])
        golds = {judgement.doc for judgement in question.gold} or set(question.unresolved)
        states = [GoldState(indexed=presence.get(gold)) for gold in golds]
        kind = classify_miss(rank, cutoff, states, failed=bool(scored.scores.failed[row]))
        if kind is not None:
            found.append(Missed(row, kind, rank))
    return found


def count_misses(misses: Sequence[Missed]) -> tuple[Count, ...]:
    """Return misses by class, in the order of `CLASSES`."""
    counted = Counter(miss.kind for miss in misses)
    return tuple(Count(name=kind, count=counted[kind]) for kind in CLASSES if counted[kind])


def describe_misses(
    scored: Scored, misses: Sequence[Missed], presence: Presence, documents: Documents | None
) -> tuple[Miss, ...]:
    """Return misses with the gold, what came instead, and one sentence why."""
    places = {query: at for at, query in enumerate(scored.run.queries)}
    described = []
    for miss in misses[:MOST_EXAMPLES]:
        question = scored.labelled.questions[miss.row]
        at = places.get(question.id)
        hits = collapse(scored.run.hits(at)) if at is not None else ()
        ranks = {hit.document: rank for rank, hit in enumerate(hits, 1)}
        golds = [judgement.doc for judgement in question.gold] or list(question.unresolved)
        described.append(
            Miss(
                question=question.id,
                query=question.query,
                wording=question.wording,
                kind=miss.kind,
                gold=tuple(show_document(gold, documents, question.query, rank=ranks.get(gold)) for gold in golds),
                instead=tuple(
                    show_document(hit.document, documents, question.query, rank=rank, score=hit.score)
                    for rank, hit in enumerate(hits[:SHOWN_INSTEAD], 1)
                    if hit.document not in golds
                ),
                why=explain(miss, scored.run.reason_of(at) if at is not None else None, golds, presence),
            )
        )
    return tuple(described)


def explain(miss: Missed, error: str | None, golds: Sequence[str], presence: Presence) -> str:
    """Return one sentence on why a question was missed."""
    if miss.kind == "error":
        return f"The search failed: {error or 'no reason given'}."
    if miss.kind == "beyond the cut-off":
        return f"It is there, at rank {miss.rank}: ranking, not coverage."
    if miss.kind == "not in the index":
        return "The system does not hold it: nothing to find, so this is coverage, not ranking."
    if any(presence.get(gold) is None for gold in golds):
        return "It did not come; broken or missing cannot be told, as the system cannot be asked by id."
    return "The system holds it and did not return it."


def show_document(
    document: str, documents: Documents | None, query: str, *, rank: int | None = None, score: float | None = None
) -> Shown:
    """Return a document as a report shows it, with the extract that fits the query best."""
    found = documents.get(document) if documents is not None else None
    return Shown(
        document=document,
        title=found.title if found else None,
        rank=rank,
        score=score,
        extract=extract_matching(found.text, query, found.language) if found else None,
    )


def collapse(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the first hit of each document, in order."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.document, hit)
    return tuple(first.values())
