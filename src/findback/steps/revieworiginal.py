"""Showing the words behind a placeholder: read again from the export, with a reason, and never kept."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from findback.errors import FindbackError, MissingError, RefusedError, UsageError
from findback.model.candidate import Candidate, RedactedSpan, RedactedText
from findback.model.protocols import SILENT, Progress
from findback.model.review import Review, SpanDecision
from findback.model.reviewer import Reviewer
from findback.model.thread import Thread
from findback.model.turn import Turn
from findback.privacy.key import Key
from findback.sources.format import Reading, Source, SourceOptions
from findback.sources.recognise import load_source
from findback.steps.review import keep_with_originals, own_review, visible
from findback.steps.reviewdesk import Desk
from findback.steps.reviewspans import SpanPlace, texts_of
from findback.workbench.false_positives import refuse_false_positive
from findback.workbench.reviews import Saved
from findback.workspace import Workspace

Piece = TypeVar("Piece")

LONGEST = 1_000
"""Characters of one original that are shown."""
LONGEST_REASON = 500
PARENTS = 2
"""Folders above the file looked at for the export it belongs to."""
UNREADABLE = "the export cannot be read again: keep the placeholder, or reject the candidate"


def ask_original(desk: Desk, reviewer: Reviewer, key: str, at: SpanPlace, reason: str, *, now: datetime) -> None:
    """Write down that somebody asks for the words behind a placeholder, and why; nothing is read yet.

    Args:
        desk: Where they review.
        reviewer: Who asks.
        key: The candidate.
        at: The placeholder.
        reason: Why, in their words; kept with the candidate.
        now: When it happens.

    Raises:
        RefusedError: If the settings do not allow it, or it is a secret or a checksummed identifier.
        MissingError: If there is no such candidate for them.
        UsageError: If there is no reason, or no placeholder exactly there.
    """
    if not desk.settings.show_original:
        raise RefusedError(
            "this workbench does not show what redaction took",
            hint="[review] show_original = true in findback.toml allows it",
        )
    candidate = visible(desk, reviewer, key).candidate
    if not 0 < len(reason.strip()) <= LONGEST_REASON:
        raise UsageError(f"showing an original needs a reason of at most {LONGEST_REASON} characters")
    refuse_false_positive(_placeholder(candidate, at).type)
    desk.bench.log_original(key, "asked", reviewer=reviewer.subject, reason=reason.strip(), now=now)


def read_original(
    desk: Desk, key: str, at: SpanPlace, *, reviewer: str, now: datetime, progress: Progress = SILENT
) -> str:
    """Return the words behind a placeholder that somebody asked for, read from the export now; kept nowhere.

    It may have to read the whole export; that it could not be read is logged.

    Args:
        desk: Where the candidate is.
        key: The candidate.
        at: The placeholder.
        reviewer: Who asked.
        now: When it happens.
        progress: Told of every thread that is read.

    Raises:
        MissingError: If the candidate, the export or the message is not there, or says something else now.
    """
    candidate = desk.bench.get(key).candidate
    text = texts_of(candidate).get((at.place, at.position))
    try:
        refuse_false_positive(_placeholder(candidate, at).type)
        raw = read_raw(desk.workspace, desk.key, candidate, text, progress) if text is not None else None
        words = find_original(text, raw, at) if text is not None and raw is not None else None
    except FindbackError:
        words = None
    if words is None or len(words) > LONGEST:
        desk.bench.log_original(key, "unreadable", reviewer=reviewer, now=now)
        raise MissingError(UNREADABLE, hint="the file moved or changed, or its words cannot be told apart")
    return words


def note_shown(desk: Desk, reviewer: Reviewer, key: str, *, now: datetime) -> None:
    """Write down that somebody is shown, now, the words they asked for.

    Raises:
        MissingError: If there is no such candidate for them: they are not to be shown anything.
    """
    visible(desk, reviewer, key)
    desk.bench.log_original(key, "shown", reviewer=reviewer.subject, now=now)


def give_back(
    desk: Desk,
    reviewer: Reviewer,
    key: str,
    at: SpanPlace,
    words: str,
    *,
    revision: int,
    now: datetime,
    request_id: str | None = None,
) -> Saved:
    """Put what `read_original` read into the reviewer's own draft, where the placeholder stood.

    Raises:
        RefusedError: If it is a secret or a checksummed identifier.
        MissingError: If there is no such candidate for them.
        ReviewConflictError: If another window saved meanwhile; carries what is stored.
        UsageError: If it overlaps another decision, or there is no placeholder exactly there.
    """
    kind = _placeholder(visible(desk, reviewer, key).candidate, at).type
    refuse_false_positive(kind)
    own = own_review(desk, reviewer, key, now=now)
    others = tuple(one for one in own.spans if SpanPlace(one.place, one.position, one.start, one.end) != at)
    given = SpanDecision.model_validate({**at._asdict(), "type": kind, "action": "restore", "original": words})
    review: Review = own.model_copy(update={"spans": (*others, given)})
    return keep_with_originals(desk, reviewer, key, review, revision=revision, now=now, request_id=request_id)


def _placeholder(candidate: Candidate, at: SpanPlace) -> RedactedSpan:
    text = texts_of(candidate).get((at.place, at.position))
    applied = [one for one in text.spans if one.band == "applied"] if text is not None else []
    found = next((one for one in applied if (one.start, one.end) == (at.start, at.end)), None)
    if found is None:
        raise UsageError("there is no placeholder exactly there")
    return found


def read_raw(
    workspace: Workspace, key: Key, candidate: Candidate, text: RedactedText, progress: Progress = SILENT
) -> str | None:
    """Return the raw text that a stored one was made of, from the export; None where the export has it no longer.

    Raises:
        FindbackError: If the export cannot be read.
    """
    if candidate.file is None:
        return None
    source = load_source(candidate.source)
    moments = [line.at for line in candidate.thread if line.at is not None]
    audiences = frozenset({"public", candidate.audience})
    options = SourceOptions(
        open_audiences=audiences,  # type: ignore[arg-type]
        skip_bad=True,
        since=min(moments) - timedelta(days=1) if moments else None,
    )
    progress.start("Reading the export", None)
    for path in _find_exports(workspace, source, candidate.file):
        raws = _texts_of(source.read(path, options), key, candidate, progress)
        found = next((raw for raw in raws if key.hmac(raw) == text.raw_hmac), None)
        if found is not None:
            progress.finish()
            return found
    progress.finish()
    return None


def _find_exports(workspace: Workspace, source: Source, named: str) -> Iterator[Path]:
    """Yield what a file may be the export of: itself, or a folder around it that its reader takes for its own."""
    file = Path(named.partition("!")[0])
    start = next((one for one in (file, workspace.root / file) if one.exists()), None)
    if start is None:
        return
    for path in (start, *list(start.absolute().parents)[:PARENTS]):
        if source.recognise(path) is not None:
            yield path


def _texts_of(reading: Reading, key: Key, candidate: Candidate, progress: Progress) -> Iterator[str]:
    if reading.threads is not None:
        yield from _of_threads(_watched(reading.threads, progress), key, candidate)
    elif reading.turns is not None:
        yield from _of_turns(_watched(reading.turns, progress))


def _watched(read: Iterator[Piece], progress: Progress) -> Iterator[Piece]:
    for one in read:
        progress.advance()
        yield one


def _of_threads(threads: Iterator[Thread], key: Key, candidate: Candidate) -> Iterator[str]:
    for thread in threads:
        if key.hmac(f"container\0{candidate.source}\0{thread.container}") != candidate.container_hmac:
            continue
        if thread.title is not None:
            yield thread.title
        for message in thread.messages:
            yield message.text
            yield "\n".join((message.text, *message.extras))


def _of_turns(turns: Iterator[Turn]) -> Iterator[str]:
    for turn in turns:
        yield from (one for one in (turn.text, turn.answer, turn.next_text) if one is not None)


def find_original(text: RedactedText, raw: str, at: SpanPlace) -> str | None:
    """Return what stands in the raw text where a placeholder stands; None where that is not certain.

    The words between placeholders are found in the raw text from the left and from the right: only where both ways
    lead to the same place there is one answer.
    """
    applied = sorted((one.start, one.end) for one in text.spans if one.band == "applied")
    if (at.start, at.end) not in applied:
        return None
    edges = [0, *(edge for span in applied for edge in span), len(text.text)]
    pieces = [text.text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    if not raw.startswith(pieces[0]) or not raw.endswith(pieces[-1]):
        return None
    left, right = _from_left(pieces, raw), _from_right(pieces, raw)
    index = applied.index((at.start, at.end))
    if left is None or right is None or left[index : index + 2] != right[index : index + 2]:
        return None
    begin, end = left[index] + len(pieces[index]), left[index + 1]
    return raw[begin:end] or None


def _from_left(pieces: list[str], raw: str) -> list[int] | None:
    places, at = [0], len(pieces[0])
    for piece in pieces[1:-1]:
        place = raw.find(piece, at + 1)
        if place < 0:
            return None
        places.append(place)
        at = place + len(piece)
    last = len(raw) - len(pieces[-1])
    return [*places, last] if last > at else None


def _from_right(pieces: list[str], raw: str) -> list[int] | None:
    at = len(raw) - len(pieces[-1])
    places = [at]
    for piece in reversed(pieces[1:-1]):
        place = raw.rfind(piece, 0, at - 1)
        if place < 0:
            return None
        places.append(place)
        at = place
    return [0, *reversed(places)] if at > len(pieces[0]) else None
