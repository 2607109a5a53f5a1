"""What must hold before a text is published."""

from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol

from findback.model.candidate import RedactedText
from findback.privacy.core import CoreRedactor, fold_forms, mask_placeholders
from findback.privacy.finding import Finding, SecondFinding
from findback.privacy.masking import HIDDEN
from findback.privacy.roster import Roster
from findback.text.placeholders import find_placeholders, list_faults


class Objection(NamedTuple):
    """Why a text may not be published; says where and by which rule, never what."""

    place: int | None
    """Character of the text, or None for the whole of it."""
    reason: str


class SecretScanner(Protocol):
    """Another scanner for secrets."""

    def scan(self, text: str) -> list[SecondFinding]:
        """Return the secrets in a text."""
        ...


def check_release(
    text: RedactedText | str,
    redactor: CoreRedactor,
    *,
    roster: Roster | None = None,
    second_look: SecretScanner | None = None,
    decided: Collection[int] = (),
    allowed: Callable[[Finding, str], bool] | None = None,
) -> list[Objection]:
    """Return every reason against publishing a text; none for one that may be.

    Args:
        text: A redacted text with its spans, or one that people wrote, such as a title or a note.
        redactor: Today's rules.
        roster: The people of the source, where it is at hand.
        second_look: Another scanner for secrets, where it is installed.
        decided: Places among the text's spans of the suggestions somebody decided.
        allowed: Says of what a stretch was taken for, and its words, whether a reviewer said it is nothing of the kind.
    """
    words = text if isinstance(text, str) else text.text
    objections = [Objection(None, fault) for fault in list_faults(words)]
    if HIDDEN in words:
        objections.append(Objection(words.index(HIDDEN), "it is the masked view of another text"))
    findings = redactor.find(words)
    if roster is not None:
        mentions = roster.find(mask_placeholders(fold_forms(words)))
        findings += [mention.finding for mention in mentions if mention.finding.band == "applied"]
    objections += [
        Objection(found.start, f"{found.type} by {found.rule}")
        for found in findings
        if allowed is None or not allowed(found, words[found.start : found.end])
    ]
    if second_look is not None:
        objections += [
            Objection(None, f"SECRET by {found.rule} in line {found.line}") for found in second_look.scan(words)
        ]
    if not isinstance(text, str):
        objections += _check_spans(text, decided)
    return objections


def _check_spans(text: RedactedText, decided: Collection[int]) -> list[Objection]:
    written = {(found.span.start, found.span.end): found.type for found in find_placeholders(text.text)}
    objections = []
    for index, span in enumerate(text.spans):
        if span.band == "suggested" and index not in decided:
            objections.append(Objection(span.start, f"{span.type} suggested by {span.rule} and not decided"))
        elif span.band == "applied" and written.pop((span.start, span.end), None) != span.type:
            objections.append(Objection(span.start, f"the placeholder of a {span.type} is not where it was put"))
    objections += [Objection(start, "a placeholder that redaction did not put there") for start, _ in written]
    return objections
