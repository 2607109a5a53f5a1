"""The core of redaction: what can be recognised by its form alone."""

import re
from collections.abc import Iterable, Iterator, Sequence

from findback.errors import RefusedError
from findback.model.protocols import Redacted
from findback.model.settings import PrivacySettings
from findback.privacy.customers import compile_customer_patterns, find_customers
from findback.privacy.finding import Finding, merge_findings
from findback.privacy.ids import find_ids
from findback.privacy.mail import find_mail
from findback.privacy.markup import find_markup
from findback.privacy.network import find_addresses, find_hosts
from findback.privacy.phones import find_phones
from findback.privacy.secrets import find_secrets
from findback.privacy.wordlists import rules_digest
from findback.text.placeholders import find_placeholders, write_placeholder

VERSION = "core-1"
"""Version of the detectors; the digest of their rule files follows it."""

TEXT_LIMIT = 1_000_000
"""Most characters of one text that are looked at; a longer one is refused, never let through."""

_ROUNDS = 6
_MASK = "\ufffc"
# Full-width forms, typographic hyphens and blanks, each folded to one plain character so that places stay.
_FOLDS = str.maketrans(
    {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212, 0xFE63), "-")
    | dict.fromkeys((0x00A0, 0x2007, 0x2008, 0x2009, 0x200A, 0x202F, 0x3000), " ")
    | {0xFFFC: " "}
)


class CoreRedactor:
    """Replaces secrets, addresses and identifiers by placeholders and leaves everything else as it is."""

    version: str

    def __init__(self, settings: PrivacySettings | None = None) -> None:
        settings = settings or PrivacySettings()
        self.version = f"{VERSION}.{rules_digest()}"
        self._customers = compile_customer_patterns(settings.customer_id_patterns)
        self._hosts = settings.internal_host_suffixes

    def redact(self, text: str) -> Redacted:
        """Return the text with placeholders, numbered by first appearance; equal values get equal numbers.

        Well-formed placeholders in the text stay, and new ones count on from them; a stray ⟦ or ⟧ becomes a
        placeholder itself, so that nothing can pass for one.

        Raises:
            RefusedError: If the text is longer than can be looked at.
        """
        findings = self.find(text)
        if not findings:
            return Redacted(text, ())
        highest: dict[str, int] = {}
        for placeholder in find_placeholders(text):
            highest[placeholder.type] = max(highest.get(placeholder.type, 0), placeholder.number)
        numbers: dict[tuple[str, str], int] = {}
        pieces, types, at = [], [], 0
        for finding in findings:
            key = (finding.type, _same(finding.type, text[finding.start : finding.end]))
            if key not in numbers:
                highest[finding.type] = highest.get(finding.type, 0) + 1
                numbers[key] = highest[finding.type]
            pieces += [text[at : finding.start], write_placeholder(finding.type, numbers[key])]
            types.append(finding.type)
            at = finding.end
        pieces.append(text[at:])
        return Redacted("".join(pieces), tuple(types))

    def find(self, text: str, held: Sequence[tuple[int, int]] = ()) -> list[Finding]:
        """Return what must be replaced, in order, without overlaps.

        Args:
            text: Any text.
            held: Stretches that are dealt with already: nothing in them is looked at.

        Raises:
            RefusedError: If the text is longer than can be looked at, or does not come to rest.
        """
        if len(text) > TEXT_LIMIT:
            raise RefusedError(
                f"a text has more than {TEXT_LIMIT:,} characters and was not looked at",
                hint="cut it, or leave it out",
            )
        masked = mask_spans(mask_placeholders(fold_forms(text)), held)
        # A stray bracket inside a secret is part of it, so secrets are looked for before brackets go.
        found: list[Finding] = []
        detectors = (self._find_named, _find_brackets, self._find_formed)
        # What one rule takes away can uncover what another finds; the result must pass a second look.
        for _ in range(_ROUNDS):
            before = len(found)
            for detect in detectors:
                new = [p for finding in merge_findings(detect(masked)) for p in _uncovered(masked, finding)]
                found += new
                masked = mask_spans(masked, [(finding.start, finding.end) for finding in new])
            if len(found) == before:
                return sorted(found)
        raise RefusedError("a text does not come to rest under redaction", hint="leave it out")

    def _find_named(self, text: str) -> Iterator[Finding]:
        """Find what says itself what it is; masked before the rest, so that no other rule widens it."""
        yield from find_markup(text)
        yield from find_secrets(text)

    def _find_formed(self, text: str) -> Iterator[Finding]:
        yield from find_mail(text)
        yield from find_customers(text, self._customers)
        yield from find_hosts(text, self._hosts)
        if any(c.isdigit() for c in text):
            yield from find_ids(text)
            yield from find_addresses(text)
            yield from find_phones(text)


def _find_brackets(text: str) -> Iterator[Finding]:
    """Yield each ⟦ and ⟧ that belongs to no placeholder."""
    if "⟦" not in text and "⟧" not in text:
        return
    inside = {
        at for placeholder in find_placeholders(text) for at in (placeholder.span.start, placeholder.span.end - 1)
    }
    for match in re.finditer("[⟦⟧]", text):
        if match.start() not in inside:
            yield Finding(match.start(), match.end(), "OTHER", "placeholder.stray")


def fold_forms(text: str) -> str:
    """Return the text with full-width forms, hyphens and blanks made plain, each at its place."""
    return text if text.isascii() else text.translate(_FOLDS)


def mask_placeholders(text: str) -> str:
    """Return the text with its placeholders masked."""
    return mask_spans(text, [(found.span.start, found.span.end) for found in find_placeholders(text)])


def mask_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text with stretches filled by a character no rule takes for anything, at the same length."""
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces += [text[at:start], _MASK * (end - max(start, at))]
        at = max(at, end)
    pieces.append(text[at:])
    return "".join(pieces)


def _uncovered(text: str, finding: Finding) -> Iterator[Finding]:
    """Yield the pieces of a finding that are not masked already."""
    for match in re.finditer(f"[^{_MASK}]+", text[finding.start : finding.end]):
        yield finding._replace(start=finding.start + match.start(), end=finding.start + match.end())


def _same(kind: str, value: str) -> str:
    """Return what makes two values of a type the same thing."""
    if kind in ("EMAIL", "HOST"):
        return value.casefold()
    if kind in ("PHONE", "CARD", "IBAN", "NATIONAL_ID"):
        return "".join(c for c in value if c.isalnum()).upper()
    return value
