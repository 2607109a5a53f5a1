"""The grammar of placeholders: ⟦TYPE_n⟧."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from findback.model.hits import Span

TYPES = (
    "PERSON",
    "USER",
    "EMAIL",
    "PHONE",
    "SECRET",
    "CUSTOMER_ID",
    "IBAN",
    "CARD",
    "NATIONAL_ID",
    "IP",
    "HOST",
    "ADDRESS",
    "ORG",
    "OTHER",
)
"""What a placeholder may stand for."""

_PLACEHOLDER = re.compile(rf"⟦({'|'.join(TYPES)})_([1-9][0-9]{{0,5}})⟧", re.ASCII)

_VERBS = {"⟦": "open", "⟧": "close"}


class Placeholder(NamedTuple):
    """One placeholder in a text."""

    type: str
    number: int
    """Counts the things of a type within one thread, from 1."""
    span: Span


def write_placeholder(kind: str, number: int) -> str:
    """Return the placeholder for the n-th thing of a type.

    Raises:
        ValueError: If the type is unknown or the number below 1 or above 999,999.

    >>> write_placeholder("USER", 2)
    '⟦USER_2⟧'
    """
    written = f"⟦{kind}_{number}⟧"
    if _PLACEHOLDER.fullmatch(written) is None:
        raise ValueError(f"no placeholder of type {kind!r} and number {number}")
    return written


def find_placeholders(text: str) -> list[Placeholder]:
    """Return the well-formed placeholders of a text, in order.

    >>> find_placeholders("ask ⟦USER_1⟧")
    [Placeholder(type='USER', number=1, span=Span(start=4, end=12))]
    """
    return [
        Placeholder(match[1], int(match[2]), Span(match.start(), match.end())) for match in _PLACEHOLDER.finditer(text)
    ]


def list_faults(text: str) -> list[str]:
    """Return what is wrong with the placeholders of a text: nothing for a sound one.

    Every ⟦ and ⟧ must belong to a well-formed placeholder. The faults name places, not texts.

    >>> list_faults("⟦USER_1⟧ and ⟦user_2⟧")
    ['character 13: ⟦ does not open a placeholder', 'character 20: ⟧ does not close a placeholder']
    """
    inside = {place for found in find_placeholders(text) for place in (found.span.start, found.span.end - 1)}
    return [
        f"character {match.start()}: {match[0]} does not {_VERBS[match[0]]} a placeholder"
        for match in re.finditer("[⟦⟧]", text)
        if match.start() not in inside
    ]


def strip_placeholders(text: str) -> str:
    """Return the text without its placeholders; everything else stays as it is.

    >>> strip_placeholders("ask ⟦USER_1⟧ now")
    'ask  now'
    """
    return _PLACEHOLDER.sub("", text)


def is_only_redacted(raw: str, spans: Sequence[Span], redacted: str) -> bool:
    """Say whether replacing each span by one placeholder is all that was done to the raw text.

    Args:
        raw: The original text.
        spans: What was redacted, in order, not overlapping.
        redacted: The text that shall be kept.

    >>> is_only_redacted("mail bo now", [Span(5, 7)], "mail ⟦USER_1⟧ now")
    True
    >>> is_only_redacted("mail bo now", [Span(5, 7)], "Mail ⟦USER_1⟧ now")
    False
    """
    placeholders = find_placeholders(redacted)
    if len(placeholders) != len(spans):
        return False
    if any(span.start < 0 or span.start >= span.end or span.end > len(raw) for span in spans):
        return False
    raw_pieces = _pieces_between(raw, spans)
    return raw_pieces is not None and raw_pieces == _pieces_between(redacted, [found.span for found in placeholders])


def _pieces_between(text: str, spans: Sequence[Span]) -> list[str] | None:
    pieces, at = [], 0
    for span in spans:
        if span.start < at:
            return None
        pieces.append(text[at : span.start])
        at = span.end
    return [*pieces, text[at:]]
