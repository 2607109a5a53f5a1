"""People and addresses that chat and ticket markup names outright."""

import re
from collections.abc import Iterator

from findback.privacy.finding import Finding

_OPEN, _CLOSE = r"(?:<|&lt;)", r"(?:>|&gt;)"
_LABEL = r"(?:\|[^<>|\n]{0,200}?)?"

_RULES = (
    ("USER", "markup.mention", "@", rf"{_OPEN}@[!&]?[A-Z0-9]{{5,25}}{_LABEL}{_CLOSE}"),
    ("USER", "markup.group", "subteam^", rf"{_OPEN}!subteam\^[A-Z0-9]{{5,25}}{_LABEL}{_CLOSE}"),
    ("USER", "markup.at", "at", rf"{_OPEN}at(?:\s[^<>\n]{{0,100}})?{_CLOSE}[^<>\n]{{1,200}}{_OPEN}/at{_CLOSE}"),
    ("USER", "markup.jira", "[~", r"\[~(?:accountid:)?[^\]\s\[]{1,128}\]"),
    ("EMAIL", "markup.mailto", "mailto:", rf"{_OPEN}mailto:[^\s<>|]{{1,320}}{_LABEL}{_CLOSE}"),
    ("PHONE", "markup.tel", "tel:", rf"{_OPEN}tel:[^\s<>|]{{1,40}}{_LABEL}{_CLOSE}"),
)
_COMPILED = tuple((kind, rule, literal, re.compile(pattern)) for kind, rule, literal, pattern in _RULES)


def find_markup(text: str) -> Iterator[Finding]:
    """Yield mentions, groups, mail and telephone links written in the source's own markup.

    >>> [text.type for text in find_markup("ask <@U012ABCDE|bo> or [~bo]")]
    ['USER', 'USER']
    """
    for kind, rule, literal, pattern in _COMPILED:
        if literal in text:
            for match in pattern.finditer(text):
                yield Finding(match.start(), match.end(), kind, rule)
