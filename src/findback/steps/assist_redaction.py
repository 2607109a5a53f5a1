"""What a model wrote in other words, looked at for what redaction takes away."""

from typing import NamedTuple

from findback.model.candidate import RedactedSpan, RedactedText
from findback.privacy.core import mask_placeholders
from findback.privacy.key import Key
from findback.privacy.opening import NameFinding, open_redactor
from findback.privacy.thread_redactor import JointRedactor
from findback.text.placeholders import find_placeholders
from findback.text.words import fold
from findback.workspace import Workspace

KEPT = "placeholder.kept"
"""The rule of a placeholder that a variant has from its question."""


class VariantRedactor(NamedTuple):
    """Looks at what a model wrote."""

    redactor: JointRedactor

    def redact(self, text: str, query: str) -> RedactedText | None:
        """Return a variant with what stands in it, or None where it names what redaction takes away.

        What the question itself holds was looked at by a person. Suggestions wait for one.

        Args:
            text: The variant, its placeholders those of the question.
            query: The question it says in other words, as it was released.
        """
        found = [
            finding
            for finding in self.redactor.find_all([mask_placeholders(text)])[0]
            if fold(text[finding.start : finding.end]) not in fold(query)
        ]
        if any(finding.band == "applied" for finding in found):
            return None
        version = self.redactor.version[:200]
        kept = [(one.span.start, one.span.end, one.type, KEPT, "applied") for one in find_placeholders(text)]
        spans = sorted([*kept, *((one.start, one.end, one.type, one.rule, "suggested") for one in found)])
        return RedactedText(
            text=text,
            spans=tuple(
                RedactedSpan.model_validate(
                    {"start": start, "end": end, "type": kind, "rule": rule, "version": version, "band": band}
                )
                for start, end, kind, rule, band in spans
            ),
            raw_hmac=self.redactor.hmac(text),
        )

    def is_clean(self, text: str) -> bool:
        """Return whether a text holds nothing that redaction takes away or suggests to take away."""
        return not self.redactor.find_all([text])[0]


def open_variant_redactor(workspace: Workspace, key: Key) -> VariantRedactor:
    """Return what looks at what a model wrote, with the rules and the search for names that mining uses."""
    settings = workspace.settings
    names: NameFinding | None = None if settings.mining.names else "roster"
    return VariantRedactor(open_redactor(key, settings.privacy, names=names).redactor)
