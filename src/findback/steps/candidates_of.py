"""From what a rule found to a candidate: redaction stands between the two."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC

from findback.errors import RefusedError
from findback.mining.caps import key_of
from findback.model.candidate import Candidate, RedactedText, ThreadLine
from findback.model.case import Asked
from findback.model.found import Found
from findback.model.protocols import RawText, ThreadRedactor

ASKED: tuple[tuple[int, Asked], ...] = ((20, "20+"), (5, "5-19"), (2, "2-4"), (0, "1"))


@dataclass(slots=True)
class RedactionTally:
    """What redaction did, in numbers."""

    by_type: Counter[str] = field(default_factory=Counter)
    """Placeholders put in, by type; a query that is a line of its thread counts there."""
    suggested: int = 0
    """Suggestions in what will be published; a person decides on each."""
    refused: int = 0
    """Found questions that could not be redacted whole, and were dropped."""
    secrets: list[tuple[str, int, str]] = field(default_factory=list)
    """File, offset and rule of each secret."""


def redact_found(
    found: Iterable[Found], redactor: ThreadRedactor, tally: RedactionTally, *, merged: Counter[str]
) -> Iterator[Candidate]:
    """Yield what was found as candidates; nothing raw goes further than this.

    Args:
        found: What the rules found.
        redactor: Redacts the texts of a thread together.
        tally: Is added to.
        merged: How many were folded into each, by `key_of`.
    """
    for one in found:
        texts = [one.query, *([one.title] if one.title is not None else []), *(line.body for line in one.lines)]
        try:
            redacted = redactor.redact_all(texts, people=_people(one))
        except RefusedError:
            tally.refused += 1
            continue
        _count(one, redacted, tally)
        yield _candidate(one, redacted, redactor, merged[key_of(one)])


def _candidate(one: Found, redacted: list[RedactedText], redactor: ThreadRedactor, merged: int) -> Candidate:
    query, rest = redacted[0], redacted[1:]
    title = rest.pop(0) if one.title is not None else None
    return Candidate(
        key=redactor.hmac(f"{one.source}\0{one.id}"),
        source=one.source,
        container_hmac=redactor.hmac(f"container\0{one.source}\0{one.container}"),
        audience=one.audience,
        query=query,
        query_line=one.query_line,
        cue_line=one.cue_line,
        thread=tuple(
            ThreadLine(
                key=redactor.hmac(f"{one.source}\0{line.id}"),
                role=line.role,
                author_hmac=person_hmac(redactor, line.author),
                at=line.at,
                body=body,
                edited=line.edited,
            )
            for line, body in zip(one.lines, rest, strict=True)
        ),
        title=title,
        rules=one.rules,
        links=one.links,
        stratum=one.stratum,
        selected_on=one.selected_on,
        asker_hmac=person_hmac(redactor, one.asker),
        language=one.language,
        seen_on=one.at.astimezone(UTC).strftime("%Y-%m") if one.at is not None else None,
        asked=next(name for least, name in ASKED if one.asked >= least),
        merged=merged,
        outcome=one.outcome,
        rewrites=one.rewrites,
        no_answer_hint=redactor.redact_all([RawText(one.no_answer_hint)])[0].text if one.no_answer_hint else None,
        file=one.place.file if one.place is not None else None,
        offset=one.place.offset if one.place is not None else None,
    )


def _people(one: Found) -> set[str]:
    """Return the ids of everybody who wrote in a thread, to tell namesakes apart."""
    return {author for author in (one.asker, *(line.author for line in one.lines)) if author is not None}


def person_hmac(redactor: ThreadRedactor, author: str | None) -> str | None:
    """Return the digest a person is known by in the workbench: of the id the source gives them."""
    return None if author is None else redactor.hmac(author)


def _count(one: Found, redacted: list[RedactedText], tally: RedactionTally) -> None:
    published = 1 + (one.title is not None)
    for at, text in enumerate(redacted):
        twice = at == 0 and one.query_line >= 0
        for span in text.spans:
            if span.band == "suggested":
                tally.suggested += at < published
            elif not twice:
                tally.by_type[span.type] += 1
            if not twice and span.type == "SECRET" and one.place is not None:
                tally.secrets.append((one.place.file, one.place.offset, span.rule))
