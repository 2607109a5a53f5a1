"""One exception tree.

FindbackError
├── UsageError              a request that cannot be carried out as asked          exit 2
├── DataError               a file or table that cannot be read; lists its faults  exit 3
├── SettingsError           findback.toml, environment or trust settings           exit 4
│   └── UntrustedError      a workspace names code or sends secrets, nobody agreed exit 5
├── MissingError            a thing that is not there: release, run, file, model   exit 6
├── MissingLibraryError     an optional library is not installed                   exit 7
├── EngineError             a search system or server failed or answered nonsense  exit 8
├── RefusedError            safety rules forbid it: egress, redirects, sizes       exit 9
└── StorageError            the disk refused: read-only, full, not ours            exit 10

Exit status 1 is kept for a check that ran and did not pass (`--fail-over`, a gate), 11 for a gate that is undecided,
12 for a refresh that found something stale.
"""

from collections.abc import Iterable
from typing import ClassVar, NamedTuple


class Fault(NamedTuple):
    """One thing wrong in one place of a file."""

    path: str
    """File as the user named it."""
    line: int | None
    """1-based line, or None where the file has no lines."""
    message: str
    """What is wrong, without quoting private values at length."""

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}"


class FindbackError(Exception):
    """Root of every error findback raises on purpose."""

    code: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 70
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        """What the reader can do about it, or None."""
        if hint is not None:
            # A traceback shows notes; whoever prints message and hint apart never sees this one.
            self.add_note(f"hint: {hint}")

    def __str__(self) -> str:
        return self.message


class UsageError(FindbackError):
    """The request cannot be carried out as asked."""

    code = "usage"
    exit_status = 2
    http_status = 422


class DataError(FindbackError):
    """A file cannot be read as what it should be."""

    code = "data"
    exit_status = 3
    http_status = 422
    shown: ClassVar[int] = 20

    def __init__(self, message: str, *, faults: Iterable[Fault] = (), hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.faults = tuple(faults)
        """Every fault found, in file order."""

    def __str__(self) -> str:
        lines = [self.message, *(f"  {fault}" for fault in self.faults[: self.shown])]
        if len(self.faults) > self.shown:
            lines.append(f"  … and {len(self.faults) - self.shown} more")
        return "\n".join(lines)


class SettingsError(FindbackError):
    """findback.toml, the environment or an argument holds a setting that makes no sense."""

    code = "settings"
    exit_status = 4
    http_status = 422


class UntrustedError(SettingsError):
    """The workspace names code, commands or secrets to send, and nobody has agreed to that yet."""

    code = "untrusted"
    exit_status = 5
    http_status = 403


class MissingError(FindbackError):
    """A thing that was named is not there."""

    code = "missing"
    exit_status = 6
    http_status = 404


class MissingLibraryError(FindbackError):
    """An optional library is not installed; the message names the pip line."""

    code = "missing-library"
    exit_status = 7
    http_status = 501

    def __init__(self, library: str, *, extra: str, wanted_for: str) -> None:
        super().__init__(
            f"{wanted_for} needs the library {library}, which is not installed",
            hint=f"pip install 'findback[{extra}]'",
        )


class EngineError(FindbackError):
    """A search system or server failed, or its answer makes no sense."""

    code = "engine"
    exit_status = 8
    http_status = 502


class RefusedError(FindbackError):
    """A safety rule forbids it."""

    code = "refused"
    exit_status = 9
    http_status = 403


class StorageError(FindbackError):
    """The disk refused: read-only, full, or not ours."""

    code = "storage"
    exit_status = 10
    http_status = 507
