"""Caps: no asker, document, canned reply or repeated question fills the workbench; the rest is counted."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from findback.model.found import Found


class Caps(NamedTuple):
    """How many candidates may have something in common."""

    asker_and_day: int = 3
    document: int = 10
    macro: int = 3
    """Candidates whose answer is the same document by the same canned reply."""


@dataclass(slots=True)
class Capping:
    """Lets candidates through until a cap is reached, in the order they come.

    What is over a cap is folded into the last one let through with the same thing in common; `merged` says how
    many, and is whole once all have been seen. A control sample is not capped.
    """

    caps: Caps = field(default_factory=Caps)
    merged: Counter[str] = field(default_factory=Counter)
    """How many were folded into each candidate, by the id of what was found, prefixed by its source."""
    reasons: Counter[str] = field(default_factory=Counter)
    """How many were folded, by which cap."""
    _askers: dict[tuple[str, str, date], list[str]] = field(default_factory=dict)
    _documents: dict[str, list[str]] = field(default_factory=dict)
    _macros: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def apply(self, found: Iterable[Found]) -> Iterator[Found]:
        """Yield what is within the caps."""
        for one in found:
            if self.admit(one):
                yield one

    def admit(self, found: Found) -> bool:
        """Return whether something found becomes a candidate of its own; count it where not."""
        if found.stratum == "control":
            return True
        key = key_of(found)
        if key in self._seen:
            self.reasons["the same message once more"] += 1
            return False
        document = found.links[0].document if found.links else None
        groups: list[tuple[str, list[str], int]] = []
        if found.asker is not None and found.at is not None:
            day = (found.source, found.asker, found.at.date())
            groups.append(("asker and day", self._askers.setdefault(day, []), self.caps.asker_and_day))
        if document is not None:
            replies = [self._macros.setdefault((document, macro), []) for macro in sorted(found.macros)]
            groups += [("canned reply", members, self.caps.macro) for members in replies]
            groups.append(("document", self._documents.setdefault(document, []), self.caps.document))
        for reason, members, most in groups:
            if len(members) >= most:
                self.reasons[reason] += 1
                if members:
                    self.merged[members[-1]] += 1
                return False
        for _, members, _ in groups:
            members.append(key)
        self._seen.add(key)
        return True


def key_of(found: Found) -> str:
    """Return what `Capping.merged` knows something found by."""
    return f"{found.source}:{found.id}"
