"""Why a right document did not come first enough: broken, or simply not there."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from findback.measure.misses import GoldState, can_tell, classify_miss
from findback.model.case import Context
from findback.model.evaluation import Count, IndexCoverage, Miss, MissClass, Shown
from findback.model.hits import Hit
from findback.model.protocols import Documents, Query, Retriever
from findback.model.question import Question
from findback.retrievers.context import list_needs, tell_unhonoured
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


@dataclass(frozen=True, slots=True)
class Presence:
    """Which gold documents a system holds, and for whom."""

    held: Mapping[str, bool | None]
    """Whether it holds a document at all; None when it cannot say."""
    shown: Mapping[tuple[str, str], bool | None]
    """By question and document, whether it shows the document to the question's audience; None when it cannot say.

    Only questions that have an audience and could be asked are here.
    """

    def state(self, question: Question, document: str) -> GoldState:
        """Return what is known of a gold document of a question."""
        return GoldState(indexed=self.held.get(document), visible=self.shown.get((question.id, document)))


async def ask_presence(
    retriever: Retriever, golds: Sequence[str], questions: Sequence[Question], *, concurrency: int
) -> Presence:
    """Ask for each gold document whether the system holds it, and whether it shows it to who asks.

    Args:
        retriever: The system.
        golds: Every distinct gold document.
        questions: Those whose audiences are asked for, where the system can honour their context.
        concurrency: Most requests at the same time.
    """
    gate = asyncio.Semaphore(concurrency)

    async def ask(document: str, context: Context | None = None) -> bool | None:
        async with gate:
            try:
                return await (retriever.exists(document, context) if context else retriever.exists(document))
            except Exception:  # noqa: BLE001  (an engine that fails here cannot say; its searches are counted apart)
                return None

    held = dict(zip(golds, await asyncio.gather(*(ask(document) for document in golds)), strict=True))

    async def see(document: str, context: Context) -> bool | None:
        there = await ask(document, context) if held.get(document) else None
        rest = context.model_copy(update={"audience": None})
        if there is False and list_needs(rest) and not await ask(document, rest):
            # A filter or a date hides it from everybody, so nothing is known about this audience.
            return None
        return there

    wanted: dict[tuple[str, str], Context] = {}
    named: dict[tuple[str, str], tuple[str, str]] = {}
    for question in questions:
        context = question.context
        if context is None or not context.audience or tell_unhonoured(Query("", context), retriever.honours):
            continue
        for document in {judgement.doc for judgement in question.gold}:
            asked = named[question.id, document] = (document, context.model_dump_json())
            wanted[asked] = context
    seen = await asyncio.gather(*(see(document, context) for (document, _), context in wanted.items()))
    answers = dict(zip(wanted, seen, strict=True))
    return Presence(held, {place: answers[asked] for place, asked in named.items()})


def cover(presence: Presence) -> IndexCoverage:
    """Return how many gold documents the system holds, whoever may see them."""
    held = presence.held.values()
    unknown = sum(1 for there in held if there is None)
    if unknown:
        reason = CANNOT_TELL if unknown == len(held) else f"it could not say for {unknown} of {len(held)}"
        return IndexCoverage(golds=len(held), indexed=None, reason=reason)
    return IndexCoverage(golds=len(held), indexed=sum(1 for there in held if there))


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
        states = [presence.state(question, gold) for gold in golds_of(question)]
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
        golds = golds_of(question)
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
                why=explain(miss, scored.run.reason_of(at) if at is not None else None, question, presence),
            )
        )
    return tuple(described)


def golds_of(question: Question) -> list[str]:
    """Return a question's gold documents, those that are no document of the corpus included."""
    return list(dict.fromkeys(judgement.doc for judgement in question.gold)) or list(question.unresolved)


def explain(miss: Missed, error: str | None, question: Question, presence: Presence) -> str:
    """Return one sentence on why a question was missed."""
    if miss.kind == "error":
        return f"The search failed: {error or 'no reason given'}."
    if miss.kind == "beyond the cut-off":
        return f"It is there, at rank {miss.rank}: ranking, not coverage."
    if miss.kind == "not in the index":
        return "The system does not hold it: nothing to find, so this is coverage, not ranking."
    states = [presence.state(question, gold) for gold in golds_of(question)]
    audience = question.context.audience if question.context is not None else None
    if miss.kind == "not visible to this audience":
        rest = ", and holds nothing else that answers" if any(state.indexed is False for state in states) else ""
        return f"The system holds it but does not show it to {audience!r}{rest}: access, not ranking."
    return _explain_absence(states, audience)


def _explain_absence(states: Sequence[GoldState], audience: str | None) -> str:
    if not can_tell(states):
        return "It did not come; broken or missing cannot be told, as the system cannot be asked by id."
    if audience and not any(state.visible for state in states):
        return f"The system holds it and did not return it; whether {audience!r} may see it cannot be told."
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
