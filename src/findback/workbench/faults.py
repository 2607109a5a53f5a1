"""What a database says, in findback's errors: no value, parameter or row ever comes along."""

import functools
import sqlite3
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from findback.errors import FindbackError, StorageError, UsageError

Given = ParamSpec("Given")
Result = TypeVar("Result")

_BUSY_STATES = frozenset({"55P03", "40P01", "57014"})
"""PostgreSQL: lock not available, deadlock, cancelled."""
_FULL_STATES = frozenset({"53100", "53200"})

BUSY = "the workbench is in use: another process did not let go of it in time"
BUSY_HINT = "run it again when the other one is done"


class ConflictError(UsageError):
    """Somebody else changed the item meanwhile."""

    code = "conflict"
    http_status = 409

    def __init__(self, message: str, *, state: str, version: int) -> None:
        super().__init__(message, hint="look at it again, then decide")
        self.state = state
        """What state it is in now."""
        self.version = version
        """Its version now."""


def quietly(action: str) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Make what the database raises in a function a StorageError that quotes nothing.

    Args:
        action: What the function does, to follow "cannot".
    """

    def wrap(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @functools.wraps(function)
        def run(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            try:
                return function(*args, **kwargs)
            except (SQLAlchemyError, sqlite3.Error, OverflowError) as error:
                fault = explain(error, action)
            # Raised out here, the fault carries no trace of the first error, whose text may quote a row.
            raise fault

        return run

    return wrap


def explain(error: Exception, action: str) -> FindbackError:
    """Return what to tell the user about a database's error."""
    original = error.orig if isinstance(error, DBAPIError) else error
    state = str(getattr(original, "sqlstate", None) or "")
    message = str(original).lower() if isinstance(original, sqlite3.Error) else ""
    if state in _BUSY_STATES or "locked" in message or "busy" in message:
        return StorageError(BUSY, hint=BUSY_HINT)
    if state in _FULL_STATES or "disk is full" in message:
        return StorageError(f"cannot {action}: the disk is full", hint="make room, then run it again")
    if "readonly" in message or "unable to open" in message:
        return StorageError(f"cannot {action}: the workbench cannot be written", hint="check whose file it is")
    if "not a database" in message or "malformed" in message:
        return StorageError(f"cannot {action}: the file is no workbench, or is damaged", hint="restore a backup")
    if isinstance(error, OperationalError):
        return StorageError(f"cannot {action}: the database does not answer", hint="check its address and that it runs")
    kind = type(original).__name__ if original is not None else type(error).__name__
    return StorageError(f"cannot {action}: the database refused ({kind}{f' {state}' if state else ''})")
