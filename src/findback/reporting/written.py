"""What a model wrote, laid out as a report: how much, what was turned down, and what deserves a look."""

from collections.abc import Iterable, Iterator, Sequence

from findback.model.bill import Bill
from findback.model.bill import Estimate as Expected
from findback.model.generated import Ended, Generated
from findback.reporting.blocks import Block, Column, Facts, Points, Prose, Report, Section, Table
from findback.reporting.figures import (
    Cell,
    count_cell,
    figure,
    number_cell,
    plural,
    text_cell,
    whole,
)
from findback.reporting.inert import QUERY_LIMIT
from findback.reporting.writtenabout import kind_blocks, mix_blocks, voice_blocks
from findback.reporting.writtenfilters import filter_blocks, judge_blocks, match_blocks

PASSED = ("accepted", "doubtful")
MOST_REASONS = 4
"""Reasons named in a sentence; tables have them all."""
ASKED_SO = (
    "Whether people ask like this: a model wrote every one of these questions looking at its answer. They are scored"
    " apart from what people asked."
)
ANSWERED_SO = (
    "Whether a described document is the only answer: a person confirms each question before it can be released."
)
LIMITS = (ASKED_SO, ANSWERED_SO)


def written_report(result: Generated) -> Report:
    """Lay out what a model wrote as a report of its own."""
    heading = f"{result.writer}, voices {result.preset}, seed {result.seed}"
    if result.dry_run:
        heading = f"dry run, {heading}"
    sections = (*written_sections(result), Section("written-limits", "What this does not tell you", (Points(LIMITS),)))
    return Report(_title(result), heading, sections, result.workspace)


def written_sections(result: Generated) -> tuple[Section, ...]:
    """Return the sections of the panel, those with nothing to say left out."""
    found = (
        Section("written", _title(result), tuple(_outcome(result))),
        Section("written-filters", "What the filters turned down", tuple(filter_blocks(result))),
        Section("written-judge", "Can its judge be believed?", tuple(judge_blocks(result))),
        Section("written-match", "Overlap beside the real sample", tuple(match_blocks(result))),
        Section("written-mix", "What it was written about", tuple(mix_blocks(result))),
        Section("written-kinds", "What people ask and the model did not", tuple(kind_blocks(result))),
        Section("written-voices", "Voices", tuple(voice_blocks(result))),
        Section("written-cost", "Calls and cost", tuple(_cost(result))),
        Section("written-looks", "Look at these first", tuple(_looks(result))),
    )
    return tuple(section for section in found if section.blocks)


def _title(result: Generated) -> str:
    return "What would be asked" if result.dry_run else "What the model wrote"


def headline(result: Generated) -> str:
    """Return what was asked for, what was got, and why not more."""
    if result.dry_run:
        drawn = _drawn(result)
        said = f"Asked for {whole(result.asked)}: {plural(drawn, 'document')} would be described first"
        if drawn < result.asked:
            said += f"; no more are fit, so at most {plural(drawn, 'question')} can come"
        return f"{said}."
    if result.refused is not None:
        return (
            f"Asked for {whole(result.asked)}, and nothing was put into the workbench: the accepted texts do not follow"
            f" the real sample: {result.refused}."
        )
    said = f"Asked for {whole(result.asked)}, got {whole(result.got)}"
    if result.doubtful:
        said += f" ({whole(result.doubtful)} of them for a person to look at first)"
    if result.got >= result.asked:
        return f"{said}."
    return f"{said}, because {_why_fewer(result)}."


def _why_fewer(result: Generated) -> str:
    lost = [one for one in result.ended if one.outcome not in (*PASSED, "skipped", "surplus")]
    said = [f"{whole(one.count)} {one.outcome}{_named(one)}" for one in lost]
    if result.stopped is not None and not any(one.outcome == "not reached" for one in lost):
        said.append(f"the run stopped: {result.stopped}")
    if not result.reserve:
        said.append(_why_no_more(result))
    return "; ".join(said)


def _why_no_more(result: Generated) -> str:
    if not result.spare:
        return "no further document is fit to be described"
    kept = len(result.described) - _drawn(result)
    used = f"the reserve of {plural(kept, 'document')} is used up" if kept > 0 else "no document was kept in reserve"
    return f"{used}, and {whole(result.spare)} more are fit: raise [writing] reserve in findback.toml"


def _named(ended: Ended) -> str:
    if not ended.reasons:
        return ""
    alone = len(ended.reasons) == 1
    named = (one.name if alone else f"{one.name} {whole(one.count)}" for one in ended.reasons[:MOST_REASONS])
    shown = ", ".join(named)
    return f" ({shown}{', …' if len(ended.reasons) > MOST_REASONS else ''})"


def _drawn(result: Generated) -> int:
    return sum(row.sample for row in result.mix)


def _outcome(result: Generated) -> Iterator[Block]:
    yield Prose(headline(result), "headline")
    if not result.for_decisions:
        yield Prose(
            "The model is fit for trying things out only: its questions are marked not-for-decisions, and a release"
            " refuses them without --allow-toy-model."
        )
    facts = [
        ("Writer", result.writer),
        ("Judge", f"{result.judge}, the same model in fresh calls" if result.self_judged else result.judge),
        ("Documents", f"{whole(result.documents)} in {result.corpus}"),
    ]
    if result.prompts:
        facts.append(("Prompts", ", ".join(result.prompts)))
    if not result.dry_run:
        facts += [
            ("Texts", f"{whole(result.texts)} about {plural(len(result.described), 'document')}"),
            ("Reserve", f"{plural(result.reserve, 'document')} not needed"),
        ]
    else:
        facts += [
            ("Drawn", plural(_drawn(result), "document")),
            ("Reserve", plural(result.reserve, "document")),
            ("Fit, and neither", plural(result.spare, "document")),
        ]
    if result.indexed is not None:
        facts.append(("Indexed", _indexed(result)))
    yield Facts(tuple(facts))
    if result.ended:
        columns = (
            Column("Outcome", numeric=False),
            Column("documents"),
            Column("why", numeric=False, flexible=True),
        )
        rows = tuple((text_cell(one.outcome), count_cell(one.count), text_cell(_reasons(one))) for one in result.ended)
        yield Table("Documents by outcome; skipped ones were never drawn", columns, rows)
    if result.stored:
        yield Prose(
            "In the workbench: "
            + ", ".join(f"{whole(count)} {name.replace('_', ' ')}" for name, count in result.stored.items())
            + ". Next: findback review, where a person confirms each."
        )
    if result.notes:
        yield Points(result.notes)


def _reasons(ended: Ended) -> str:
    return "; ".join(f"{one.name} ({whole(one.count)})" for one in ended.reasons)


def _indexed(result: Generated) -> str:
    one = result.indexed
    if one is None:
        return ""
    share = f" ({figure(one.held / one.documents)})" if one.documents else ""
    unknown = f"; of {whole(one.unknown)} it cannot say" if one.unknown else ""
    return f"{one.retriever} holds {whole(one.held)} of {whole(one.documents)} documents{share}{unknown}"


def _cost(result: Generated) -> Iterator[Block]:
    if result.estimates:
        yield Table("Expected before the first call", *_bills(result.estimates))
    if result.bills:
        yield Table("What the run used; known answers cost nothing", *_bills(result.bills))


def _bills(rows: Sequence[Bill] | Sequence[Expected]) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
    known = any(isinstance(one, Bill) for one in rows)
    heads = ("calls", *(("known already",) if known else ()), "tokens sent", "tokens answered", "price")
    columns = (Column("Model", numeric=False), *(Column(head) for head in heads))
    return columns, tuple(_bill(one, known=known) for one in rows)


def _bill(one: Bill | Expected, *, known: bool) -> tuple[Cell, ...]:
    cached = (count_cell(one.cached if isinstance(one, Bill) else 0),) if known else ()
    price = Cell("–", note="no price is known: price_in and price_out of the model in findback.toml")
    if one.price is not None:
        price = Cell(f"{one.price:.4g} {one.currency}", value=one.price)
    return (
        text_cell(one.model),
        count_cell(one.calls),
        *cached,
        count_cell(one.tokens_in),
        count_cell(one.tokens_out),
        price,
    )


def _looks(result: Generated) -> Iterator[Block]:
    if not result.looks:
        return
    rows: Iterable[tuple[Cell, ...]] = (
        (
            text_cell(one.candidate),
            text_cell(one.why),
            number_cell(one.leak, reason="it could not be measured"),
            text_cell(one.sure),
            text_cell(one.document),
            text_cell(one.text[:QUERY_LIMIT]),
        )
        for one in result.looks
    )
    columns = (
        Column("Candidate", numeric=False),
        Column("why", numeric=False, flexible=True),
        Column("leak"),
        Column("judge", numeric=False),
        Column("document", numeric=False, flexible=True),
        Column("question", numeric=False, flexible=True),
    )
    yield Table("Accepted, with the most leak or the least sure judge", columns, tuple(rows))
