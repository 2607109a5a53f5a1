"""What a format may not be able to hold of a question: one vocabulary for all formats."""

from collections.abc import Callable, Hashable, Iterable

from findback.evalset.trec import encode_id
from findback.model.case import Case, Judgement
from findback.model.question import Question, QuestionSet

Held = Callable[[Question], Hashable]
"""What a question has of a kind; empty, 0 or None where it has nothing that could be lost."""

_LEFT_OUT = frozenset({"format", "retired_because"})


def _of_judgements(part: Callable[[Judgement], Hashable]) -> Held:
    def held(question: Question) -> Hashable:
        found = frozenset((j.doc, value) for j in question.judged or () if (value := part(j)) is not None)
        return found or None

    return held


def _blanks(question: Question) -> Hashable:
    return question.query if " ".join(question.query.split()) != question.query else None


def _is_encoded(identity: str) -> bool:
    return encode_id(identity) != identity


def _encoded_documents(question: Question) -> Hashable:
    return frozenset(judgement.doc for judgement in question.judged or () if _is_encoded(judgement.doc)) or None


LOSSES: dict[str, Held] = {
    "ids": lambda q: q.id,
    "ids with blanks": lambda q: q.id if _is_encoded(q.id) else None,
    "documents with blanks": _encoded_documents,
    "blanks in queries": _blanks,
    "grades": _of_judgements(lambda j: j.grade if j.grade > 1 else None),
    "grade 0": _of_judgements(lambda j: j.grade if j.grade == 0 else None),
    "parts": _of_judgements(lambda j: j.part if j.part > 1 else None),
    "anchors": _of_judgements(lambda j: j.anchor),
    "found_by": _of_judgements(lambda j: j.found_by if j.found_by != "import" else None),
    "no-answer": lambda q: q.no_answer_reason or ("nothing judged" if q.judged == () else None),
    "gold texts": lambda q: q.gold_texts,
    "unresolved gold": lambda q: q.unresolved,
    "wording": lambda q: q.wording,
    "language": lambda q: q.language,
    "context": lambda q: q.context.model_dump_json() if q.context is not None else None,
    "tags": lambda q: q.tags,
    "stratum": lambda q: q.stratum,
    "origin": lambda q: q.origin,
    "cluster": lambda q: q.cluster,
    "selected_on": lambda q: q.selected_on,
}
"""Every kind of loss, and what a question has of it."""

BESIDE_PAIRS = (
    "parts",
    "anchors",
    "found_by",
    "no-answer",
    "gold texts",
    "unresolved gold",
    "wording",
    "language",
    "context",
    "tags",
    "stratum",
    "origin",
    "cluster",
    "selected_on",
)
"""What a format of queries, documents and grades cannot hold."""


def count_losses(losses: Iterable[str], questions: Iterable[Question]) -> dict[str, int]:
    """Return how many questions have something of each kind, those of which none has left out."""
    known = list(questions)
    counts = {loss: sum(bool(LOSSES[loss](question)) for question in known) for loss in losses}
    return {loss: count for loss, count in counts.items() if count}


def list_lost(questions: QuestionSet) -> tuple[str, ...]:
    """Return what no export holds and no side file keeps: what a released case is beside its question."""
    if questions.kind != "release":
        return ()
    of_cases = [name for name in Case.model_fields if name not in Question.model_fields and name not in _LEFT_OUT]
    return (*of_cases, *(note for note in questions.notes if note.endswith("cases left out")))
