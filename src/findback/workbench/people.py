"""What a candidate is without the words of some people."""

from collections.abc import Collection

from findback.model.candidate import Candidate, RedactedSpan, RedactedText, ThreadLine
from findback.workbench.columns import as_utc


def asker_of(candidate: Candidate) -> str | None:
    """Return the HMAC of who asked, from the candidate or from the line of its query; None when unknown."""
    if candidate.asker_hmac is not None:
        return candidate.asker_hmac
    if 0 <= candidate.query_line < len(candidate.thread):
        return candidate.thread[candidate.query_line].author_hmac
    return None


def without_people(candidate: Candidate, people: Collection[str]) -> Candidate:
    """Return a candidate without the lines some people wrote and without the HMACs of their mentions.

    The placeholders that stand for them stay; links they gave stay as evidence and lose their line.
    """
    if not people or not _concerns(candidate, people):
        return candidate
    kept = [at for at, line in enumerate(candidate.thread) if line.author_hmac not in people]
    lines = [candidate.thread[at] for at in kept]
    return with_lines(
        candidate.model_copy(
            update={
                "query": _unlinked(candidate.query, people),
                "title": None if candidate.title is None else _unlinked(candidate.title, people),
            }
        ),
        [line.model_copy(update={"body": _unlinked(line.body, people)}) for line in lines],
        {old: new for new, old in enumerate(kept)},
    )


def with_lines(candidate: Candidate, lines: Collection[ThreadLine], moved: dict[int, int]) -> Candidate:
    """Return a candidate with another thread.

    Args:
        candidate: The candidate.
        lines: Its new thread.
        moved: Where each old line is now; those that are gone are not in it.
    """
    return candidate.model_copy(
        update={
            "thread": tuple(lines),
            "query_line": moved.get(candidate.query_line, -1),
            "cue_line": None if candidate.cue_line is None else moved.get(candidate.cue_line),
            "links": tuple(link.model_copy(update={"line": moved.get(link.line, -1)}) for link in candidate.links),
        }
    )


def normalised(candidate: Candidate) -> Candidate:
    """Return a candidate as the database gives it back: moments in UTC, the asker written out."""
    lines = tuple(
        line if line.at is None else line.model_copy(update={"at": as_utc(line.at)}) for line in candidate.thread
    )
    return candidate.model_copy(update={"thread": lines, "asker_hmac": asker_of(candidate)})


def _concerns(candidate: Candidate, people: Collection[str]) -> bool:
    bodies = [candidate.query, *(line.body for line in candidate.thread)]
    if candidate.title is not None:
        bodies.append(candidate.title)
    return any(line.author_hmac in people for line in candidate.thread) or any(
        span.value_hmac in people for body in bodies for span in body.spans
    )


def _unlinked(body: RedactedText, people: Collection[str]) -> RedactedText:
    return body.model_copy(update={"spans": tuple(_unlinked_span(span, people) for span in body.spans)})


def _unlinked_span(span: RedactedSpan, people: Collection[str]) -> RedactedSpan:
    return span.model_copy(update={"value_hmac": None}) if span.value_hmac in people else span
