"""What a model wrote about, and how that differs from what people ask."""

from collections import Counter
from collections.abc import Iterator

from findback.model.generated import Generated, Lengths
from findback.reporting.blocks import Block, Column, Points, Prose, Table
from findback.reporting.figures import (
    Cell,
    count_cell,
    figure,
    number_cell,
    text_cell,
)


def mix_blocks(result: Generated) -> Iterator[Block]:
    """Yield the subjects of index, sample and what passed."""
    if not result.mix:
        return
    index, sample = sum(row.index for row in result.mix), sum(row.sample for row in result.mix)
    passed = sum(row.passed for row in result.mix)
    yield Prose(_distances(result))
    rows = tuple(
        (
            text_cell(row.subject),
            count_cell(row.index),
            number_cell(row.index / index if index else None, reason="no documents"),
            count_cell(row.sample),
            number_cell(row.sample / sample if sample else None, reason="nothing was drawn"),
            count_cell(row.passed),
            number_cell(row.passed / passed if passed else None, reason="nothing passed"),
        )
        for row in result.mix
    )
    heads = ("index", "share", "drawn first", "share", "passed", "share")
    columns = (Column("Subject", numeric=False, flexible=True), *(Column(head) for head in heads))
    yield Table("Documents by subject", columns, rows, charted=True)


def _distances(result: Generated) -> str:
    said = [
        f"{name} {figure(value)}"
        for name, value in (("the sample", result.distance), ("what passed", result.distance_passed))
        if value is not None
    ]
    if not said:
        return "How far the subjects are from those of the index could not be measured."
    return f"Distance from the index by subject (0 is the same mix): {', '.join(said)}."


def kind_blocks(result: Generated) -> Iterator[Block]:
    """Yield how the model's questions differ from those of people."""
    if result.lengths is not None:
        rows = [_lengths("the model", result.lengths)]
        if result.lengths_mined is not None:
            rows.append(_lengths("people", result.lengths_mined))
        heads = ("questions", "a tenth is shorter", "median", "a tenth is longer")
        columns = (Column("Words in questions of", numeric=False), *(Column(head) for head in heads))
        yield Table("Length in words", columns, tuple(rows))
    if not result.kinds:
        if result.lengths is not None:
            yield Prose("The set has no questions that people asked, so there is nothing to compare with.", "aside")
        return
    lacking = tuple(
        f"The model {'never wrote' if row.lacking == 'never' else 'rarely wrote'} what people often ask:"
        f" {row.axis} {row.value}."
        for row in result.kinds
        if row.lacking is not None
    )
    yield Points(lacking) if lacking else Prose("It wrote every kind that people often ask, by what is measured here.")
    people: Counter[str] = Counter()
    model: Counter[str] = Counter()
    for row in result.kinds:
        people[row.axis] += row.mined
        model[row.axis] += row.generated
    rows_ = tuple(
        (
            text_cell(row.axis),
            text_cell(row.value),
            count_cell(row.mined),
            number_cell(_part(row.mined, people[row.axis]), reason="none is known"),
            count_cell(row.generated),
            number_cell(_part(row.generated, model[row.axis]), reason="none is known"),
        )
        for row in result.kinds
    )
    columns = (
        Column("Axis", numeric=False),
        Column("kind", numeric=False, flexible=True),
        Column("people"),
        Column("share"),
        Column("model"),
        Column("share"),
    )
    yield Table("Questions people asked beside those the model wrote", columns, rows_)


def _part(part: int, total: int) -> float | None:
    return part / total if total else None


def _lengths(name: str, lengths: Lengths) -> tuple[Cell, ...]:
    ends = (lengths.low, lengths.median, lengths.high)
    return (
        text_cell(name),
        count_cell(lengths.questions),
        *(Cell("–" if value is None else f"{value:g}", value=value) for value in ends),
    )


def voice_blocks(result: Generated) -> Iterator[Block]:
    """Yield how often each option of a voice was to be drawn, and was."""
    if not result.voices:
        return
    rows = tuple(
        (
            text_cell(one.category),
            text_cell(one.option),
            number_cell(one.stated, reason=None, digits=2),
            number_cell(one.drawn, reason="nothing was drawn", digits=2),
        )
        for one in result.voices
    )
    columns = (
        Column("Category", numeric=False),
        Column("option", numeric=False, flexible=True),
        Column("stated"),
        Column("drawn"),
    )
    yield Table("How often each option was to be drawn, and was", columns, rows)
