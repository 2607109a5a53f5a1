"""Errors as a person should read them, on stderr, with the exit status of their class."""

import os
import sys
import traceback
from pathlib import Path

from findback.errors import FindbackError

UNEXPECTED = 70
USAGE = 2


def exit_status_of(error: Exception) -> int:
    """Print an error and return the status to exit with."""
    if isinstance(error, FindbackError):
        _say("error", str(error), error.hint)
        return error.exit_status
    if type(error).__module__.startswith("cyclopts"):
        _say("error", usage_sentence(error), "add --help to the command for what it takes")
        return USAGE
    if isinstance(error, (MemoryError, RecursionError)):
        _say("error", f"ran out of resources ({type(error).__name__})", "try a smaller input")
        return UNEXPECTED
    place = traceback.extract_tb(error.__traceback__)[-1]
    # The message of an unknown error may quote private text, so only its kind and place are shown.
    _say(
        "internal error",
        f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}",
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
        faults = cause.errors(include_url=False, include_input=False, include_context=False)
        return "\n".join(
            f"--{'.'.join(str(part) for part in fault['loc']).replace('_', '-')}: {fault['msg'].lower()}"
            for fault in faults
        )
    text = str(error).strip()
    return text or type(error).__name__


def _say(kind: str, message: str, hint: str | None) -> None:
    from findback.text.safe import escape_terminal  # noqa: PLC0415

    lines = [f"{kind}: {message}"]
    if hint:
        lines.append(f"hint: {hint}")
    print("\n".join(escape_terminal(line) for line in "\n".join(lines).split("\n")), file=sys.stderr)
