"""Customer ids, by the team's own patterns."""

import re
from collections.abc import Iterator, Sequence

from findback.errors import SettingsError
from findback.privacy.finding import Finding

_LIMIT = 100


def compile_customer_patterns(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    """Return the patterns ready to search with: `#` is a digit, `?` a letter, all else stands for itself.

    Raises:
        SettingsError: If a pattern has no digit or letter to vary, or is too long.

    >>> bool(compile_customer_patterns(["ACME-###"])[0].search("for acme-123."))
    True
    """
    compiled = []
    for pattern in patterns:
        if not 2 <= len(pattern) <= _LIMIT or not ("#" in pattern or "?" in pattern):
            raise SettingsError(
                f"{pattern[:60]!r} is no customer id pattern",
                hint="literal text with # for a digit and ? for a letter, such as ACME-#####",
            )
        pieces = {"#": r"\d", "?": r"[^\W\d_]"}
        body = "".join(pieces.get(c, re.escape(c)) for c in pattern)
        compiled.append(re.compile(rf"(?<![^\W_]){body}(?![^\W_])", re.IGNORECASE))
    return tuple(compiled)


def find_customers(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[Finding]:
    """Yield ids that fit one of the patterns as whole words."""
    for pattern in patterns:
        for match in pattern.finditer(text):
            yield Finding(match.start(), match.end(), "CUSTOMER_ID", "customer.pattern")
