"""What must hold of cases, beyond the shape of each record."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from findback.model.case import Case
from findback.model.protocols import Redactor
from findback.text.placeholders import find_placeholders, list_faults

DEFAULT_LEAK_LIMIT = 0.35
"""Most vocabulary leak a generated case may have where the settings say nothing."""
ANY_LEAK = 1.0
"""For what was published under another limit than today's."""


class PlacedCase(NamedTuple):
    """A case and where it stands."""

    line: int
    """1-based line of its file."""
    case: Case


class CaseFault(NamedTuple):
    """One thing wrong with one case."""

    line: int
    message: str


def check_cases(
    cases: Sequence[PlacedCase], *, leak_limit: float = DEFAULT_LEAK_LIMIT, redactor: Redactor | None = None
) -> list[CaseFault]:
    """Return everything that is wrong with a set of cases, in file order; empty for a sound one.

    Args:
        cases: The whole set: a paraphrase is checked against its root.
        leak_limit: Most vocabulary leak of a generated case, in [0, 1].
        redactor: Where given, every string must pass it unchanged.
    """
    first_lines: dict[str, int] = {}
    by_id: dict[str, Case] = {}
    for line, case in cases:
        first_lines.setdefault(case.id, line)
        by_id.setdefault(case.id, case)
    found = []
    for line, case in cases:
        if first_lines[case.id] != line:
            found.append(CaseFault(line, f"`id` {case.id} stands on line {first_lines[case.id]} already"))
        messages = [
            *_check_answer(case),
            *_check_judgements(case),
            *_check_root(case, by_id),
            *_check_filter(case, leak_limit),
            *_check_status(case),
            *_check_texts(case, redactor),
        ]
        found.extend(CaseFault(line, message) for message in messages)
    return found


def _check_answer(case: Case) -> Iterator[str]:
    if case.gold and case.no_answer_reason is not None:
        yield "`no_answer_reason` is given, but there is gold"
    if not case.gold and case.no_answer_reason is None:
        yield "there is no gold and no `no_answer_reason`"
    if not case.query.strip():
        yield "`query` holds only blanks"


def _check_judgements(case: Case) -> Iterator[str]:
    parts = sorted({judgement.part for judgement in case.gold})
    if parts and parts != list(range(1, len(parts) + 1)):
        yield f"`judged` has gold for parts {', '.join(map(str, parts))}: parts count from 1 without gaps"
    known = set(parts) or {1}
    gold = {judgement.doc for judgement in case.gold}
    seen: Counter[tuple[str, int]] = Counter()
    for position, judgement in enumerate(case.judged):
        place = f"`judged[{position}]`"
        seen[judgement.doc, judgement.part] += 1
        if seen[judgement.doc, judgement.part] == 2:
            yield f"{place} judges a document twice for one part"
        if judgement.grade == 0:
            if judgement.doc in gold:
                yield f"{place} has grade 0, but the document is gold as well"
            if judgement.anchor is not None:
                yield f"{place} has an anchor, but grade 0: only gold is quoted"
            if judgement.part not in known:
                yield f"{place} is about part {judgement.part}, which has no gold"
        if judgement.anchor is not None and not any(c.isalnum() for c in judgement.anchor):
            yield f"{place} has an anchor without a word"


def _check_root(case: Case, by_id: dict[str, Case]) -> Iterator[str]:
    if case.origin != "paraphrase":
        if case.root is not None:
            yield f"`root` is given, but the origin is {case.origin}: only a paraphrase has one"
        return
    if case.root is None:
        yield "`root` is missing: a paraphrase names the case it was made from"
        return
    root = by_id.get(case.root)
    if root is None:
        yield f"`root` {case.root} is no case of this set"
    elif root.origin == "paraphrase":
        yield f"`root` {case.root} is a paraphrase itself"
    else:
        for key in ("judged", "no_answer_reason", "wording", "cluster", "split"):
            if getattr(case, key) != getattr(root, key):
                yield f"`{key}` differs from the root's: a paraphrase takes it over"


def _check_filter(case: Case, leak_limit: float) -> Iterator[str]:
    if case.origin != "generated":
        if case.filter is not None:
            yield f"`filter` is given, but the origin is {case.origin}: only a generated case has one"
    elif case.filter is None:
        yield "`filter` is missing: a generated case says which leak it passed with"
    elif case.filter.leak is not None and case.filter.matched is None and case.filter.leak > leak_limit:
        yield f"`filter.leak` is {case.filter.leak:.3g}, above the limit of {leak_limit:.3g}"


def _check_status(case: Case) -> Iterator[str]:
    if case.status == "retired" and case.retired_because is None:
        yield "`retired_because` is missing: a retired case says why"
    if case.status == "active" and case.retired_because is not None:
        yield "`retired_because` is given, but the case is active"


def _check_texts(case: Case, redactor: Redactor | None) -> Iterator[str]:
    for place, text in strings_of(case):
        for fault in list_faults(text):
            yield f"`{place}` has a malformed placeholder: {fault}"
        if redactor is not None and (types := redactor.redact(text).types):
            named = ", ".join(sorted(set(types)))
            yield f"`{place}` holds what looks like {named}: redact it before it is kept"
    held = {placeholder.type for placeholder in find_placeholders(case.query)}
    if held != set(case.redaction.types):
        yield "`redaction.types` does not name the types of the placeholders in the query"


def strings_of(case: Case) -> Iterator[tuple[str, str]]:
    """Yield each free string of a case with its place, such as `judged[0].anchor`."""
    named = (
        "query",
        "wording",
        "no_answer_reason",
        "selected_on",
        "rule",
        "source",
        "cluster",
        "retired_because",
    )
    for key in named:
        value = getattr(case, key)
        if value is not None:
            yield key, value
    for position, judgement in enumerate(case.judged):
        yield f"judged[{position}].doc", judgement.doc
        yield f"judged[{position}].found_by", judgement.found_by
        if judgement.anchor is not None:
            yield f"judged[{position}].anchor", judgement.anchor
    for position, tag in enumerate(case.tags):
        yield f"tags[{position}]", tag
    if case.filter is not None:
        yield "filter.measure", case.filter.measure
        if case.filter.matched is not None:
            yield "filter.matched", case.filter.matched
    yield from _context_strings(case)


def _context_strings(case: Case) -> Iterator[tuple[str, str]]:
    context = case.context
    if context is None:
        return
    for key in ("locale", "audience", "as_of"):
        value = getattr(context, key)
        if value is not None:
            yield f"context.{key}", value
    for number, (name, value) in enumerate((context.filters or {}).items(), 1):
        yield f"context.filters key {number}", name
        yield f"context.filters value {number}", value
    for position, turn in enumerate(context.turns or ()):
        yield f"context.turns[{position}]", turn
