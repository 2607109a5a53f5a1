"""An independent second look for secrets, by betterleaks; needs `findback[secrets]`."""

from collections.abc import Sequence

import betterleaks

from findback.privacy.finding import Finding, SecondFinding


class SecondLook:
    """Scans with rules that are not ours: over redacted text it should find nothing."""

    version = f"betterleaks-{betterleaks.__version__}"

    def scan(self, text: str) -> list[SecondFinding]:
        """Return the secrets in a text, by line."""
        return [SecondFinding(found.location.start_line, found.rule_id) for found in betterleaks.scan_string(text)]

    def find_all(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Return the secrets in each text, as one more detector; several of one value are all found."""
        return [self._find(text) for text in texts]

    def _find(self, text: str) -> list[Finding]:
        found = []
        for value, rule in {
            (finding.secret, finding.rule_id) for finding in betterleaks.scan_string(text) if finding.secret
        }:
            at = text.find(value)
            while at >= 0:
                found.append(Finding(at, at + len(value), "SECRET", f"second.{rule}"[:200]))
                at = text.find(value, at + len(value))
        return sorted(found)
