"""Two readings of one question, from exports that overlap, told together."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from findback.model.candidate import Candidate, RedactedSpan, RedactedText, RuleHit, ThreadLine
from findback.text.placeholders import Placeholder, find_placeholders, write_placeholder
from findback.workbench.people import with_lines

Numbers = dict[tuple[str, int], int]
"""What number a placeholder of the newcomer has among those stored, by type and number."""

ABSENCE = "no-answer"
"""The rule that speaks of what a thread lacks: true of two halves only when both say so."""


def unite(stored: Candidate, incoming: Candidate) -> Candidate:
    """Return what two readings of the same question say together.

    A reading that knows every line of the stored one replaces it. One that knows less adds its new
    lines, and messages edited since, to the stored reading; placeholders keep the stored numbers, so
    that one person stays one placeholder. One that brings nothing new leaves the stored as it is.
    """
    known = {line.key: line for line in stored.thread}
    given = {line.key: line for line in incoming.thread}
    if known.keys() <= given.keys() and not any(_is_newer(known[key], given[key]) for key in known):
        return incoming
    news = {key: line for key, line in given.items() if key not in known or _is_newer(line, known[key])}
    if not news:
        return stored
    numbers = _numbers(stored, incoming)
    news = {key: line.model_copy(update={"body": renumber(line.body, numbers)}) for key, line in news.items()}
    return _combine(stored, incoming, news, numbers)


def _is_newer(line: ThreadLine, other: ThreadLine) -> bool:
    """Say whether a line is the edited form of the other: an edit only ever comes after."""
    return line.edited and not other.edited and line.body.raw_hmac != other.body.raw_hmac


def _combine(stored: Candidate, incoming: Candidate, news: Mapping[str, ThreadLine], numbers: Numbers) -> Candidate:
    lines = [news.get(line.key, line) for line in stored.thread]
    known = {line.key for line in stored.thread}
    lines += [line for key, line in news.items() if key not in known]
    moments = [line.at for line in lines]
    order = list(range(len(lines)))
    if all(moment is not None for moment in moments):
        order.sort(key=lambda at: moments[at])  # type: ignore[arg-type,return-value]
    thread = [lines[at] for at in order]
    place = {line.key: at for at, line in enumerate(thread)}
    result = with_lines(stored, thread, {old: place[line.key] for old, line in enumerate(stored.thread)})
    theirs = with_lines(incoming, thread, {old: place[line.key] for old, line in enumerate(incoming.thread)})
    links = result.links + tuple(link for link in theirs.links if link not in result.links)
    edited = 0 <= result.query_line < len(thread) and thread[result.query_line].key in news
    title = stored.title or (incoming.title and renumber(incoming.title, numbers))
    return result.model_copy(
        update={
            "links": links,
            "rules": _both_rules(stored, incoming),
            "query": renumber(incoming.query, numbers) if edited else stored.query,
            "title": title,
            "cue_line": result.cue_line if result.cue_line is not None else theirs.cue_line,
            "merged": max(stored.merged, incoming.merged),
            "no_answer_hint": stored.no_answer_hint if incoming.no_answer_hint else None,
        }
    )


def _both_rules(stored: Candidate, incoming: Candidate) -> tuple[RuleHit, ...]:
    names, others = ({hit.rule for hit in side.rules} for side in (stored, incoming))
    hits = [*stored.rules, *(hit for hit in incoming.rules if hit.rule not in names)]
    return tuple(hit for hit in hits if hit.rule != ABSENCE or (ABSENCE in names and ABSENCE in others))


def _bodies(candidate: Candidate) -> list[RedactedText]:
    title = [] if candidate.title is None else [candidate.title]
    return [candidate.query, *title, *(line.body for line in candidate.thread)]


def _numbers(stored: Candidate, incoming: Candidate) -> Numbers:
    """Return the stored number of each placeholder of the newcomer: known ones by value or place, others next."""
    by_value: dict[tuple[str, str], int] = {}
    by_text: dict[str, list[Placeholder]] = {}
    highest: dict[str, int] = {}
    for body in _bodies(stored):
        found = find_placeholders(body.text)
        by_text[body.raw_hmac] = found
        for one in found:
            highest[one.type] = max(one.number, highest.get(one.type, 0))
        by_value.update({(one.type, value): one.number for one, value in _with_values(body)})
    numbers: Numbers = {}
    for body in _bodies(incoming):
        numbers.update(
            {
                (one.type, one.number): known
                for one, value in _with_values(body)
                if (known := by_value.get((one.type, value)))
            }
        )
        mine, theirs = find_placeholders(body.text), by_text.get(body.raw_hmac, [])
        if [one.type for one in mine] == [one.type for one in theirs]:
            for one, other in zip(mine, theirs, strict=True):
                numbers.setdefault((one.type, one.number), other.number)
    for body in _bodies(incoming):
        for one in find_placeholders(body.text):
            if (one.type, one.number) not in numbers:
                highest[one.type] = highest.get(one.type, 0) + 1
                numbers[one.type, one.number] = highest[one.type]
    return numbers


def _with_values(body: RedactedText) -> Iterator[tuple[Placeholder, str]]:
    values = {(span.start, span.end): span.value_hmac for span in body.spans if span.band == "applied"}
    for one in find_placeholders(body.text):
        value = values.get((one.span.start, one.span.end))
        if value is not None:
            yield one, value


def renumber(body: RedactedText, numbers: Mapping[tuple[str, int], int]) -> RedactedText:
    """Return a text with other numbers in its placeholders, its spans moved along."""
    found = find_placeholders(body.text)
    written = [write_placeholder(one.type, numbers.get((one.type, one.number), one.number)) for one in found]
    if all(body.text[one.span.start : one.span.end] == new for one, new in zip(found, written, strict=True)):
        return body
    edges = [0, *(edge for one in found for edge in one.span), len(body.text)]
    pieces = [body.text[start:end] for start, end in pairwise(edges)]
    pieces[1::2] = written
    shifts = [
        (one.span.end, len(new) - (one.span.end - one.span.start)) for one, new in zip(found, written, strict=True)
    ]

    def move(at: int) -> int:
        return at + sum(shift for end, shift in shifts if end <= at)

    spans = tuple(_moved(span, move(span.start), move(span.end)) for span in body.spans)
    return body.model_copy(update={"text": "".join(pieces), "spans": spans})


def _moved(span: RedactedSpan, start: int, end: int) -> RedactedSpan:
    return span.model_copy(update={"start": start, "end": end})
