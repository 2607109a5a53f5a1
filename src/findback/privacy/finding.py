"""What a detector finds."""

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

Band = Literal["applied", "suggested"]

PRIORITY = (
    "SECRET",
    "EMAIL",
    "IBAN",
    "CARD",
    "NATIONAL_ID",
    "CUSTOMER_ID",
    "USER",
    "PHONE",
    "IP",
    "HOST",
    "PERSON",
    "ADDRESS",
    "ORG",
    "OTHER",
)
"""Which type an overlap gets, most telling first."""


class Finding(NamedTuple):
    """Characters that must not be shown, as code points of the unchanged text."""

    start: int
    end: int
    type: str
    """One of the placeholder types."""
    rule: str
    """The rule that found it, for example `secret.github`."""
    band: Band = "applied"


class SecondFinding(NamedTuple):
    """A secret that another scanner sees; its value is not kept."""

    line: int
    """1-based line of the text."""
    rule: str
    """The scanner's own name of the rule."""


Detector = Callable[[str], Iterable[Finding]]


def merge_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings in order, overlapping ones as their union under the type of highest priority.

    >>> merge_findings([Finding(3, 9, "PHONE", "b"), Finding(0, 5, "CARD", "a")])
    [Finding(start=0, end=9, type='CARD', rule='a', band='applied')]
    """
    merged: list[Finding] = []
    for finding in sorted(findings, key=lambda f: (f.start, -f.end)):
        if not merged or finding.start >= merged[-1].end:
            merged.append(finding)
            continue
        last = merged[-1]
        first = min(last, finding, key=lambda f: PRIORITY.index(f.type))
        merged[-1] = first._replace(start=last.start, end=max(last.end, finding.end))
    return merged
