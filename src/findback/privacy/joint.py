"""What stands for whom: one number for each person or value over all texts of a thread."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from findback.privacy.finding import Finding
from findback.privacy.key import same_value
from findback.privacy.roster import Roster

PEOPLE_TYPES = ("PERSON", "USER", "EMAIL")
"""Types that count together, so that ⟦USER_2⟧ and ⟦PERSON_2⟧ are the same person."""


class Found(NamedTuple):
    """Characters that go, with what is known of whom they mean."""

    finding: Finding
    people: tuple[str, ...] = ()
    """Ids of everyone it may mean."""
    value: str | None = None
    """What it stands for where that is not the text itself: the id of a mention, the address of a link."""
    version: str = ""


class Numbering:
    """Gives out the numbers of placeholders, by first appearance."""

    def __init__(self, roster: Roster, known: Sequence[Collection[str]]) -> None:
        """Begin a thread.

        Args:
            roster: Who bears which address.
            known: Ids of people to tell namesakes apart by: first those who take part, then those named.
        """
        self._roster = roster
        self._known = tuple(frozenset(ids) for ids in known)
        self._numbers: dict[tuple[str, str], int] = {}
        self._highest: dict[str, int] = {}

    def number(self, found: Found, text: str) -> int:
        """Return the number of what was found, equal for what means the same."""
        kind = found.finding.type
        group = "people" if kind in PEOPLE_TYPES else kind
        key = (group, self._identity(found, text))
        if key not in self._numbers:
            self._highest[group] = self._highest.get(group, 0) + 1
            self._numbers[key] = self._highest[group]
        return self._numbers[key]

    def _identity(self, found: Found, text: str) -> str:
        kind = found.finding.type
        value = found.value or text
        if kind not in PEOPLE_TYPES:
            return same_value(kind, value)
        people = self._roster.with_mail(value) if kind == "EMAIL" and not found.people else found.people
        if one := next((one for ids in self._known if (one := the_one(people, ids))), None):
            return f"id {one}"
        return f"mail {value.casefold()}" if kind == "EMAIL" else f"name {same_value('PERSON', value)}"


def the_one(people: Iterable[str], known: Collection[str]) -> str | None:
    """Return the only person meant: the only one there is, or the only one who takes part; else None.

    >>> the_one(("u1", "u2"), {"u2", "u3"}), the_one(("u1", "u2"), set())
    ('u2', None)
    """
    listed = tuple(people)
    if len(listed) == 1:
        return listed[0]
    present = [person for person in listed if person in known]
    return present[0] if len(present) == 1 else None
