"""The cases that reviewed candidates have become, and the way back to say that they are released."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from findback.model.case import Case
from findback.privacy.finding import Finding
from findback.workbench.doubles import Opinions


class ReadyCase(NamedTuple):
    """A candidate that was reviewed and is ready."""

    key: str
    """Key of the candidate."""
    case: Case | None
    """The case it becomes; None where it cannot become one."""
    obstacles: tuple[str, ...] = ()
    """Why not: places and rules, never a text."""


class ReadyCases(Protocol):
    """Where ready candidates come from."""

    def collect(self) -> Sequence[ReadyCase]:
        """Return every ready candidate; each has its case id for good, from the first time on."""
        ...

    def newest_number(self) -> int:
        """Return the highest number of a release that is known to have been made; 0 before the first."""
        ...

    def mark_released(self, cases: Mapping[str, Case]) -> None:
        """Say of candidates, by key, that they are released as these cases; saying it again changes nothing."""
        ...

    def opinions(self, cases: Collection[str]) -> Sequence[Opinions]:
        """Return what was said first about the candidates that became some cases."""
        ...

    def is_false_positive(self, finding: Finding, value: str) -> bool:
        """Return whether reviewers said that a value is not what redaction takes it for."""
        ...

    def forget(self, cases: Collection[str], reason: str) -> int:
        """Erase the candidates that became some cases, for good, and return how many there were."""
        ...


class NothingReady:
    """Where there is no workbench."""

    def collect(self) -> Sequence[ReadyCase]:
        """Return nothing."""
        return ()

    def newest_number(self) -> int:
        """Return that none is known."""
        return 0

    def mark_released(self, cases: Mapping[str, Case]) -> None:
        """Do nothing."""

    def opinions(self, cases: Collection[str]) -> Sequence[Opinions]:
        """Return that nobody said anything."""
        return ()

    def is_false_positive(self, finding: Finding, value: str) -> bool:
        """Return that nobody said so."""
        return False

    def forget(self, cases: Collection[str], reason: str) -> int:
        """Find nothing to erase."""
        return 0
