"""The second article's five expressions, to compare with; nothing is redacted with them."""

import re
from collections.abc import Sequence
from functools import lru_cache

from findback.privacy.finding import Finding, merge_findings
from findback.privacy.wordlists import read_rules


@lru_cache(maxsize=1)
def _expressions() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rules = read_rules("article.toml")["rule"]
    return tuple(
        (rule["type"], re.compile(rule["pattern"], re.IGNORECASE if rule.get("any_case") else 0)) for rule in rules
    )


def find_as_article(texts: Sequence[str]) -> list[list[Finding]]:
    """Return what the article's expressions would replace in each text.

    >>> [[f.type for f in found] for found in find_as_article(["bo@example.org on 2024-11-30"])]
    [['EMAIL', 'PHONE']]
    """
    return [
        merge_findings(
            Finding(match.start(), match.end(), kind, "article")
            for kind, pattern in _expressions()
            for match in pattern.finditer(text)
        )
        for text in texts
    ]
