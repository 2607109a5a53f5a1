"""What the server says of itself on stderr: which tool, how it ended, how long it took. Never a text."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

CALLS = logging.getLogger("findback.mcp")


def note_call(tool: str, outcome: str, seconds: float) -> None:
    """Write down that a tool was called."""
    CALLS.info("call", extra={"fields": {"tool": tool, "outcome": outcome, "ms": round(seconds * 1000, 1)}})


def note_fault(error: BaseException) -> None:
    """Write down what went wrong: its kind and place."""
    places = traceback.extract_tb(error.__traceback__)
    place = f"{Path(places[-1].filename).name}:{places[-1].lineno}" if places else None
    CALLS.error("fault", extra={"fields": {"kind": type(error).__name__, "place": place}})


class WithoutTexts(logging.Formatter):
    """Formats a record as one line of JSON; of what libraries say only who said it, since it may quote a request."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        if record.name == CALLS.name:
            line |= {"event": record.getMessage(), **getattr(record, "fields", {})}
        else:
            kind = record.exc_info[0] if record.exc_info else None
            line |= {"event": "library", "said_by": f"{record.name}:{record.lineno}"}
            line |= {"kind": kind.__name__} if kind is not None else {}
        return json.dumps(line)


def log_to(stream: TextIO | None = None) -> None:
    """Send every log line of this process to a stream, stderr when None."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(WithoutTexts())
    handler.addFilter(lambda record: record.name == CALLS.name or record.levelno >= logging.WARNING)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    CALLS.setLevel(logging.INFO)
