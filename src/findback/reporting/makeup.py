"""What an exam is made of: its mix, and its subjects against the index."""

from findback.model.evaluation import Count, SetMakeUp, SubjectMix
from findback.reporting.blocks import Block, Column, Facts, Mix, Mixes, Points, Prose, Table
from findback.reporting.figures import NO_BREAK, count_cell, figure, number_cell, plural, text_cell, whole

AXES = ("origin", "stratum", "wording", "answer", "language")
UNKNOWN = "unknown"


def is_known(counts: tuple[Count, ...]) -> bool:
    """Return whether anything is known along an axis.

    >>> is_known(()), is_known((Count(name="unknown", count=16),)), is_known((Count(name="mined", count=1),))
    (False, False, True)
    """
    return any(count.count and count.name != UNKNOWN for count in counts)


def set_facts(makeup: SetMakeUp) -> Facts:
    """Return the counts every reader needs first."""
    items = [
        ("Set", f"{makeup.name} ({makeup.heading})"),
        ("Questions", f"{whole(makeup.questions)}, {whole(makeup.answerable)} answerable"),
        ("Clusters", whole(makeup.clusters)),
        ("Gold documents", whole(makeup.golds)),
    ]
    if makeup.judged_by_hand:
        items.append(("Judged by hand", by_hand(makeup)))
    if makeup.unlabelled:
        items.append(("Without a label", whole(makeup.unlabelled)))
    if makeup.unresolved:
        items.append(("Gold not in the corpus", plural(makeup.unresolved, "question")))
    return Facts(tuple(items))


def by_hand(makeup: SetMakeUp) -> str:
    """Return how many judgements made by hand were applied on top of a set."""
    return f"{plural(makeup.judged_by_hand, 'judgement')} applied"


def set_mixes(makeup: SetMakeUp, title: str = "Mix") -> Mixes:
    """Return the set's mixes along every axis that something is known about, findback's own axes first."""
    axes = [axis for axis in AXES if axis in makeup.by] + sorted(set(makeup.by) - set(AXES))
    return Mixes(
        title, tuple(Mix(axis.replace("_", " "), makeup.by[axis]) for axis in axes if is_known(makeup.by[axis]))
    )


def chosen(makeup: SetMakeUp) -> str:
    """Return how the cases were chosen, as a clause."""
    parts = []
    for axis in ("origin", "stratum"):
        counts: tuple[Count, ...] = makeup.by.get(axis, ())
        if is_known(counts):
            parts.append(", ".join(f"{whole(count.count)} {count.name}" for count in counts))
        else:
            parts.append(f"{axis} not recorded")
    selected = makeup.by.get("selected_on", ())
    if not any(is_known(makeup.by.get(axis, ())) for axis in ("origin", "stratum", "selected_on")):
        return "the set does not say"
    if is_known(selected):
        parts.append("selected on " + ", ".join(f"{count.name} ({whole(count.count)})" for count in selected))
    return "; ".join(parts)


def subject_blocks(subjects: SubjectMix | None) -> tuple[Block, ...]:
    """Return the exam's subjects against the index's, with the distance and what chance would give."""
    if subjects is None:
        return (Prose("Subjects of the documents are not known, so coverage by subject is not shown.", "aside"),)
    exam, index = sum(subjects.exam), sum(subjects.index)
    empty = "no documents to divide by"
    rows = tuple(
        (
            text_cell(name),
            count_cell(asked),
            number_cell(asked / exam if exam else None, reason=empty),
            count_cell(held),
            number_cell(held / index if index else None, reason=empty),
        )
        for name, asked, held in zip(subjects.subjects, subjects.exam, subjects.index, strict=True)
    )
    heads = ("Subject", "exam", "share", "index", "share")
    columns = tuple(Column(head, numeric=at > 0, flexible=at == 0) for at, head in enumerate(heads))
    table = Table("Gold documents of the exam against documents of the index", columns, rows, charted=True)
    return (Prose(_distance(subjects)), table)


def _distance(subjects: SubjectMix) -> str:
    if subjects.distance is None:
        return "The distance between the exam's subjects and the index's could not be measured."
    said = f"Distance between exam and index: {figure(subjects.distance)} (0 is the same mix, 1 nothing in common)."
    if subjects.expected is None:
        return said
    limit = f"95{NO_BREAK}% of random samples of this size stay under {figure(subjects.expected)}"
    if subjects.distance > subjects.expected:
        return f"{said} {limit}: the mix differs from the index's."
    return f"{said} {limit}: no more than chance would give."


def makeup_blocks(makeup: SetMakeUp, title: str = "Mix") -> tuple[Block, ...]:
    """Return facts, mixes and notes of a set."""
    mixes = set_mixes(makeup, title)
    notes = (Points(makeup.notes),) if makeup.notes else ()
    return (set_facts(makeup), *((mixes,) if mixes.mixes else ()), *notes)
