"""The view of a redacted text before anybody decided its suggestions: those are masked too."""

from collections.abc import Collection
from typing import NamedTuple

from findback.model.candidate import RedactedText

HIDDEN = "▒▒▒▒"
"""What stands where something is masked: always as long, so that it does not tell the length."""


class MaskedSpan(NamedTuple):
    """One span in the view."""

    start: int
    """First character in the view."""
    end: int
    place: int
    """Its place among the text's spans."""
    hidden: bool


class MaskedText(NamedTuple):
    """A text as it may be shown."""

    text: str
    spans: tuple[MaskedSpan, ...]


def mask(text: RedactedText, opened: Collection[int] = ()) -> MaskedText:
    """Return the text with its suggestions hidden, save those opened one by one.

    Args:
        text: A redacted text.
        opened: Places among its spans of the suggestions that may be seen.

    Raises:
        ValueError: If spans overlap or lie outside the text: then nothing of it may be shown.
    """
    pieces: list[str] = []
    spans: list[MaskedSpan] = []
    at = length = 0
    for index, span in sorted(enumerate(text.spans), key=lambda entry: entry[1].start):
        if not at <= span.start <= span.end <= len(text.text):
            raise ValueError("spans overlap or lie outside their text")
        hidden = span.band == "suggested" and index not in opened
        shown = HIDDEN if hidden else text.text[span.start : span.end]
        pieces += [text.text[at : span.start], shown]
        length += span.start - at
        spans.append(MaskedSpan(length, length + len(shown), index, hidden))
        length += len(shown)
        at = span.end
    pieces.append(text.text[at:])
    return MaskedText("".join(pieces), tuple(spans))
