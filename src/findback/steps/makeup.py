"""What a set is made of, and what follows from it for whoever reads the scores."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date

from findback.measure.coverage import compare_mix
from findback.model.evaluation import Count, SetMakeUp, SubjectMix
from findback.model.protocols import Documents
from findback.model.question import Question, QuestionSet

ANSWERS = (
    "Whether an answer built on these results is right: this tests finding documents, not what a reader or a"
    " model makes of them."
)
FEW_CLUSTERS = 50
"""Below this many clusters a report says how little can be told."""


def make_up(questions: QuestionSet) -> SetMakeUp:
    """Return the counts of a set: by origin, stratum, wording, answer and language."""
    asked = questions.questions
    return SetMakeUp(
        name=questions.name,
        heading=questions.heading,
        place=questions.place if questions.kind != "release" else None,
        questions=len(asked),
        answerable=sum(1 for question in asked if question.gold or question.unresolved),
        clusters=len({cluster_of(question) for question in asked}),
        golds=len({judgement.doc for question in asked for judgement in question.gold}),
        unlabelled=sum(1 for question in asked if question.judged is None and not question.gold_texts),
        unresolved=sum(1 for question in asked if question.unresolved),
        judged_by_hand=questions.judged_by_hand,
        by={
            "origin": counts(question.origin for question in asked),
            "stratum": counts(question.stratum for question in asked),
            "wording": counts(question.wording for question in asked),
            "answer": counts(question.answer for question in asked),
            "language": counts(question.language for question in asked),
            "selected_on": counts(question.selected_on for question in asked if question.stratum == "failure"),
        },
        notes=questions.notes,
    )


def cluster_of(question: Question) -> str:
    """Return the cluster a question counts in; its own when none is known."""
    return question.cluster or question.id


def counts(values: Iterable[str | None]) -> tuple[Count, ...]:
    """Return how often each value occurs, the most frequent first; None is `unknown`."""
    found = Counter("unknown" if value is None else value for value in values)
    return tuple(Count(name=name, count=count) for name, count in sorted(found.items(), key=lambda i: (-i[1], i[0])))


def subject_mix(questions: QuestionSet, documents: Documents, *, seed: int) -> SubjectMix | None:
    """Return the subjects of the gold beside those of the index; None when documents have no subjects."""
    index = Counter(document.subject for document in documents if document.subject)
    if len(index) < 2:
        return None
    golds = {judgement.doc for question in questions.questions for judgement in question.gold}
    found = (documents.get(gold) for gold in sorted(golds))
    exam = Counter(document.subject for document in found if document is not None and document.subject)
    subjects = tuple(name for name, _ in sorted(index.items(), key=lambda item: (-item[1], item[0])))
    mix = compare_mix([exam[name] for name in subjects], [index[name] for name in subjects], seed=seed)
    return SubjectMix(
        subjects=subjects,
        exam=tuple(exam[name] for name in subjects),
        index=tuple(index[name] for name in subjects),
        distance=mix.distance,
        expected=mix.expected,
    )


def limits(made_of: SetMakeUp, *, retrievers: int, today: date) -> tuple[str, ...]:
    """Return the sentences of "What this does not tell you", each one derived from the set.

    Args:
        made_of: The set's make-up.
        retrievers: How many systems were scored.
        today: The date the report carries.
    """
    by = {axis: {count.name: count.count for count in found} for axis, found in made_of.by.items()}
    said = [
        ANSWERS,
        *_trust_limits(made_of),
        *_selection_limits(made_of, by),
        *_type_limits(made_of, by),
    ]
    if made_of.unresolved:
        said.append(
            f"Questions with gold that is no document of this corpus: {made_of.unresolved}; that gold counts as not in"
            " the index."
        )
    if retrievers == 1:
        said.append("Whether another system would do better: only one was scored.")
    said.append(
        f"What the index holds after {today.isoformat()}: documents and names change, and a set goes stale with them."
    )
    return tuple(said)


Counts = Mapping[str, Mapping[str, int]]


def _trust_limits(made_of: SetMakeUp) -> list[str]:
    said = []
    if not made_of.heading.startswith("release"):
        said.append(
            "How much to trust the labels: this set was never reviewed and released, so its gold stands as it was"
            " found."
        )
    if made_of.clusters < FEW_CLUSTERS:
        said.append(
            f"Small differences: {made_of.clusters} independent questions leave wide intervals; read those, not the"
            " decimals."
        )
    return said


def _selection_limits(made_of: SetMakeUp, by: Counts) -> list[str]:
    said = []
    failures, controls = by["stratum"].get("failure", 0), by["stratum"].get("control", 0)
    if failures:
        known = failures - by["selected_on"].get("unknown", 0)
        on = f" (in {known} of them it is known whose)" if known else ""
        said.append(
            f"How often people succeed: {failures} of {made_of.questions} cases were chosen because a search"
            f" failed{on}, so the system they failed on starts at a disadvantage and levels lie below everyday use"
            + ("; read the control cases beside them." if controls else ".")
        )
    elif by["stratum"].get("unknown", 0) == made_of.questions:
        said.append(
            "How the questions were chosen: the set does not say, so a system they were collected from may look worse"
            " (or better) than it is."
        )
    if by["origin"].get("generated"):
        said.append(
            f"What people type: {by['origin']['generated']} questions were written by a model looking at the answer;"
            " their scores stand apart."
        )
    return said


def _type_limits(made_of: SetMakeUp, by: Counts) -> list[str]:
    said = []
    if not by["answer"].get("no-answer"):
        said.append("Whether a system can say that nothing fits: the set has no case without a good answer.")
    missing = [name for name in ("vague", "symptom-first", "wrong-name") if not by["wording"].get(name)]
    if missing and by["wording"].get("unknown", 0) == made_of.questions:
        said.append("How different kinds of wording fare: the set does not say how its questions are worded.")
    elif missing and not by["wording"].get("unknown"):
        said.append(f"How {', '.join(missing)} questions fare: the set has none.")
    languages = list(by["language"])
    if len(languages) == 1 and languages != ["unknown"]:
        said.append(f"Other languages than {languages[0]}: every question is in it.")
    return said
