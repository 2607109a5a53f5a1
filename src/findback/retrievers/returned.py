"""What foreign code returned, read as hits: the one place that knows the accepted shapes."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, SupportsFloat

from findback.errors import EngineError
from findback.model.hits import Answer, Hit, Span

DOCUMENT_KEYS = ("document", "id", "doc", "doc_id", "docid", "document_id", "_id")
PASSAGE_KEYS = ("passage", "text", "content")
MOST_HITS = 100_000
"""Results of one search that are read."""
LONGEST_ID = 4_000
LAST_CHARACTER = 2**31 - 1
"""No document has a character after this one."""
SHAPES = "ids, (id, score) pairs, or records with `id` and, where known, `score`, `passage`, `start`, `end`"


_SURROGATE = re.compile("[\ud800-\udfff]")


def read_answer(returned: object, k: int) -> Answer:
    """Return what a search function or process returned as an answer.

    Accepted are an `Answer`, a record with `hits` or `abstain`, and a list of ids, of (id, score) pairs, of
    records or of `Hit`s, best first. Fewer than `k` results mean that there are no more.

    Raises:
        EngineError: If it has another shape, an id is empty, or a score is not a number. No value is quoted.
    """
    if isinstance(returned, Answer):
        hits = tuple(_read_hit(hit, rank) for rank, hit in enumerate(islice(returned.hits, MOST_HITS), 1))
        return Answer(hits, bool(returned.exhausted), bool(returned.abstained))
    exhausted = False
    if isinstance(returned, Mapping):
        if returned.get("abstain") or returned.get("abstained"):
            return Answer((), exhausted=True, abstained=True)
        if "hits" not in returned:
            raise EngineError("the answer is a record without `hits`", hint=f"return a list of {SHAPES}")
        exhausted = returned.get("exhausted") is True
        returned = returned["hits"]
    if returned is None or isinstance(returned, str | bytes) or not isinstance(returned, Iterable):
        raise EngineError(
            f"the answer is a {type(returned).__name__}, not a list of results",
            hint=f"return a list of {SHAPES}",
        )
    hits = tuple(_read_hit(item, rank) for rank, item in enumerate(islice(returned, MOST_HITS), 1))
    return Answer(hits, exhausted=exhausted or len(hits) < k)


def read_id(value: object, rank: int) -> str:
    """Return a document id as text.

    Raises:
        EngineError: If it is neither text nor a whole number, or empty, or longer than 4,000 characters, or holds
            half a character (a lone surrogate), which no file can hold.
    """
    if isinstance(value, bool) or not (isinstance(value, str) or hasattr(value, "__index__")):
        raise EngineError(f"the id of result {rank} is a {type(value).__name__}, not text")
    try:
        text = str(value)
    except ValueError:
        # Python refuses to write out a number of more than 4,300 digits.
        raise EngineError(f"the id of result {rank} is longer than 4,000 characters") from None
    if not text or len(text) > LONGEST_ID:
        raise EngineError(f"the id of result {rank} is {'empty' if not text else 'longer than 4,000 characters'}")
    if not _is_whole(text):
        raise EngineError(f"the id of result {rank} holds a lone surrogate, which is no character")
    return text


def read_score(value: object, rank: int) -> float | None:
    """Return a score as a float; None stays None.

    Raises:
        EngineError: If it is not a finite number.
    """
    if value is None or (type(value) is float and math.isfinite(value)):
        return value
    try:
        score = float(value) if isinstance(value, str | SupportsFloat) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        raise EngineError(f"the score of result {rank} is not a finite number")
    return score


def read_span(start: object, end: object, rank: int) -> Span | None:
    """Return where a passage stands; None where nothing is said.

    Raises:
        EngineError: If start and end are not whole numbers with 0 ≤ start ≤ end, or beyond any document's end.
    """
    if start is None and end is None:
        return None
    if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end:
        if end > LAST_CHARACTER:
            raise EngineError(f"the place of result {rank} ends after character {LAST_CHARACTER:,}")
        return Span(int(start), int(end))
    raise EngineError(f"the place of result {rank} in its document is not a pair of whole numbers, start before end")


def read_passage(value: object, rank: int) -> str | None:
    """Return a passage's text; None stays None.

    Raises:
        EngineError: If it is not text, or holds half a character (a lone surrogate).
    """
    if value is None:
        return None
    if isinstance(value, str):
        if not _is_whole(value):
            raise EngineError(f"the passage of result {rank} holds a lone surrogate, which is no character")
        return value
    raise EngineError(f"the passage of result {rank} is a {type(value).__name__}, not text")


def _read_hit(item: Any, rank: int) -> Hit:
    if isinstance(item, Hit):
        start, end = item.span or (None, None)
        return Hit(
            read_id(item.document, rank),
            read_score(item.score, rank),
            read_passage(item.passage, rank),
            read_span(start, end, rank),
        )
    if isinstance(item, Mapping):
        return _read_record(item, rank)
    if isinstance(item, Sequence) and not isinstance(item, str | bytes):
        if len(item) != 2:
            raise EngineError(f"result {rank} has {len(item)} parts, not an id and a score", hint=f"return {SHAPES}")
        return Hit(read_id(item[0], rank), read_score(item[1], rank))
    return Hit(read_id(item, rank))


def _read_record(item: Mapping[str, Any], rank: int) -> Hit:
    key = next((key for key in DOCUMENT_KEYS if item.get(key) is not None), None)
    if key is None:
        raise EngineError(f"result {rank} is a record without an id", hint=f"known keys: {', '.join(DOCUMENT_KEYS)}")
    passage = next((item[key] for key in PASSAGE_KEYS if item.get(key) is not None), None)
    start, end = item.get("start"), item.get("end")
    span = item.get("span")
    if isinstance(span, Sequence) and not isinstance(span, str) and len(span) == 2:
        start, end = span
    return Hit(
        read_id(item[key], rank),
        read_score(item.get("score"), rank),
        read_passage(passage, rank),
        read_span(start, end, rank),
    )


def _is_whole(text: str) -> bool:
    """Return whether a text can be written as UTF-8."""
    return text.isascii() or not _SURROGATE.search(text)
