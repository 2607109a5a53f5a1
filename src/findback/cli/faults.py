"""Errors as a person should read them, on stderr, with the exit status of their class."""

import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from findback.errors import DataError, FindbackError, SettingsError, StorageError, UntrustedError

if TYPE_CHECKING:
    from pydantic import ValidationError

UNEXPECTED = 70
USAGE = 2


def exit_status_of(error: Exception) -> int:
    """Print an error and return the status to exit with."""
    if isinstance(error, FindbackError):
        _say("error", _lines_of(error), error.hint)
        return error.exit_status
    if type(error).__module__.startswith("cyclopts"):
        _say("error", usage_sentence(error).split("\n"), "add --help to the command for what it takes")
        return USAGE
    if isinstance(error, (MemoryError, RecursionError)):
        _say("error", [f"ran out of resources ({type(error).__name__})"], "try a smaller input")
        return UNEXPECTED
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        _say("error", [f"{error.filename}: {error.strerror.lower()}"], "check that it is there and yours")
        return StorageError.exit_status
    place = traceback.extract_tb(error.__traceback__)[-1]
    # The message of an unknown error may quote private text, so only its kind and place are shown.
    _say(
        "internal error",
        [f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"],
        "this is a fault of findback; FINDBACK_TRACEBACK=1 shows more (look for private text before you share it)",
    )
    if os.environ.get("FINDBACK_TRACEBACK"):
        traceback.print_exception(error)
    return UNEXPECTED


def usage_sentence(error: Exception) -> str:
    """Return what is wrong with the arguments, without a validator's own prose."""
    from cyclopts import ValidationError as ArgumentError  # noqa: PLC0415
    from pydantic import ValidationError  # noqa: PLC0415

    cause = error.__cause__
    if isinstance(error, ArgumentError) and isinstance(cause, ValidationError):
        return "\n".join(request_faults(cause))
    text = str(error).strip()
    return text or type(error).__name__


def request_faults(error: "ValidationError") -> list[str]:
    """Return what is wrong with each option of a request, without the values."""
    from findback.model.options import list_option_faults  # noqa: PLC0415

    return list_option_faults(error, spell_option)


def spell_option(name: str) -> str:
    """Return how a field of a request is written on the command line.

    >>> spell_option("skip_bad"), spell_option("as_"), spell_option("columns.query")
    ('--skip-bad', '--as', '--columns.query')
    """
    return f"--{name.rstrip('_').replace('_', '-')}"


def _lines_of(error: FindbackError) -> list[str]:
    """Return the lines of an error: only those it is made of, whatever line ends a name in it holds."""
    if isinstance(error, DataError):
        flat = [fault._replace(path=_flat(fault.path), message=_flat(fault.message)) for fault in error.faults]
        return str(DataError(_flat(error.message), faults=flat)).split("\n")
    if isinstance(error, UntrustedError):
        from findback.steps.masking import mask_text  # noqa: PLC0415

        return mask_text(str(error)).split("\n")
    if isinstance(error, SettingsError):
        return str(error).split("\n")
    return [str(error)]


def _flat(text: str) -> str:
    return " ".join(text.splitlines())


def _say(kind: str, message: list[str], hint: str | None) -> None:
    from findback.text.safe import escape_terminal  # noqa: PLC0415

    lines = [f"{kind}: {message[0]}", *message[1:]]
    if hint:
        lines.append(f"hint: {hint}")
    print("\n".join(escape_terminal(line) for line in lines), file=sys.stderr)
