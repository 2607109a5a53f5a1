"""What the filters turned down, whether the judge can be believed, and how a real sample was followed."""

from collections.abc import Iterator

from findback.model.generated import Generated, Leaks
from findback.model.written import Filter
from findback.reporting.blocks import Block, Column, Prose, Table
from findback.reporting.figures import (
    Cell,
    count_cell,
    estimate_cell,
    figure,
    number_cell,
    plural,
    spoken,
    text_cell,
    whole,
)

FILTERS: tuple[Filter, ...] = ("form", "leak", "match", "fidelity", "ambiguity", "novelty")
LOW_LEAK = (
    "low leak alone can be reached by writing about nothing: read it beside what the judge turned down, and beside the"
    " texts below"
)


def filter_blocks(result: Generated) -> Iterator[Block]:
    """Yield what the filters turned down, by reason and by leak, and leak before and after."""
    if not result.texts and not result.turned:
        return
    counts = {name: sum(one.count for one in result.turned if one.by == name) for name in FILTERS}
    texts = sum(row.texts for row in result.buckets)
    judged = sum(row.judged for row in result.buckets)
    yield Prose(_rates(result, counts, texts, judged))
    yield Prose(LOW_LEAK[:1].upper() + LOW_LEAK[1:] + ".", "aside")
    if result.turned:
        rows = tuple((text_cell(one.by), text_cell(one.reason), count_cell(one.count)) for one in result.turned)
        columns = (Column("Filter", numeric=False), Column("reason", numeric=False, flexible=True), Column("texts"))
        yield Table("Texts turned down, all attempts counted", columns, rows)
    if result.buckets:
        yield _by_leak(result)
    sides = [("first texts", result.leak_before), ("texts that passed", result.leak_after)]
    compared = tuple(_leaks(name, side) for name, side in sides if side is not None)
    if compared:
        heads = (Column("texts"), Column("mean", bar=True), Column("median"), Column("not measurable"))
        first = Column("Leak of", numeric=False)
        yield Table("Leak before and after the filters", (first, *heads), compared, charted=True)


def _by_leak(result: Generated) -> Table:
    shown = [name for name in FILTERS if any(name in row.turned for row in result.buckets)]
    heads = ("texts", *(f"by {name}" for name in shown), "judged", "passed")
    rows = tuple(
        (
            text_cell(row.bucket),
            count_cell(row.texts),
            *(count_cell(row.turned.get(name, 0)) for name in shown),
            count_cell(row.judged),
            count_cell(row.passed),
        )
        for row in result.buckets
    )
    columns = (Column("Leak", numeric=False), *(Column(head) for head in heads))
    return Table("Turned down by leak; texts of a wrong form were not measured", columns, rows)


def _rates(result: Generated, counts: dict[Filter, int], texts: int, judged: int) -> str:
    """Return the rates by leak and by fidelity with the mean leak, which mean little apart."""
    leak = counts["leak"] + counts["match"]
    parts = [
        f"Turned down by {'leak or match' if result.matching else 'leak'}: {_rate(leak, texts)} of measured texts",
        f"by fidelity: {_rate(counts['fidelity'], judged)} of judged ones",
    ]
    after = result.leak_after
    if after is not None:
        parts.append(f"mean leak of what passed: {spoken(estimate_cell(after.mean))}")
    return "; ".join(parts) + "."


def _rate(part: int, whole_: int) -> str:
    return "none" if not whole_ else f"{whole(part)} of {whole(whole_)} ({figure(part / whole_)})"


def _leaks(name: str, side: Leaks) -> tuple[Cell, ...]:
    return (
        text_cell(name),
        count_cell(side.texts),
        estimate_cell(side.mean),
        number_cell(side.median, reason="nothing could be measured"),
        count_cell(side.unmeasurable),
    )


def judge_blocks(result: Generated) -> Iterator[Block]:
    """Yield whether the judge can be believed."""
    found = result.calibration
    if found is None:
        return
    if found.trusted is False:
        yield Prose(f"No: {found.trusted_reason}.", "headline")
    else:
        yield Prose(f"{found.trusted_reason[:1].upper()}{found.trusted_reason[1:]}.")
    if found.prefers_leaking:
        yield Prose(
            f"The filter prefers leaking text: it turns down more the less a text leaks"
            f" ({found.prefers_leaking_reason}).",
            "headline",
        )
    else:
        yield Prose(f"{found.prefers_leaking_reason[:1].upper()}{found.prefers_leaking_reason[1:]}.")
    if result.self_judged:
        yield Prose("The writer judged its own texts, in fresh calls: another judge would be stricter.", "aside")
    rows = tuple(
        (
            text_cell(one.bucket),
            count_cell(one.judged),
            count_cell(one.rejected),
            number_cell(one.rejected / one.judged if one.judged else None, reason="nothing was judged"),
        )
        for one in found.buckets
    )
    if rows:
        columns = (Column("Leak", numeric=False), Column("judged"), Column("turned down"), Column("rate"))
        yield Table("Rejections by fidelity, by leak", columns, rows)


def match_blocks(result: Generated) -> Iterator[Block]:
    """Yield how the accepted texts follow a real sample."""
    found = result.matching
    if found is None:
        return
    yield Prose(
        f"Accepted texts follow the overlap of {found.sample}, in the place of the flat leak limit of"
        f" {figure(result.leak_limit, digits=2)}. It counts as {found.effective:,.1f} independent queries;"
        f" {plural(found.left_out, 'query', 'queries')} could not be measured."
    )
    if found.refusal is not None:
        yield Prose(f"Refused: {found.refusal}.", "headline")
    total = found.accepted
    rows = tuple(
        (
            text_cell(one.bucket),
            count_cell(one.real),
            number_cell(one.share, reason=None),
            Cell(f"{one.effective:,.1f}", value=one.effective),
            count_cell(one.quota),
            count_cell(one.accepted),
            number_cell(one.accepted / total if total else None, reason="nothing was accepted"),
            count_cell(one.tried),
        )
        for one in found.buckets
    )
    heads = ("real", "share", "effective", "wanted", "accepted", "share", "written")
    columns = (Column("Overlap", numeric=False), *(Column(head) for head in heads))
    yield Table("Texts by overlap with their document", columns, rows)
    if found.unmeasured:
        yield Prose(f"{plural(found.unmeasured, 'text')} more cannot be measured and is in no bucket.", "aside")
