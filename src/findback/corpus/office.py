"""Text of PDF, Word, PowerPoint and Excel files, converted in a process of its own."""

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple, Self

from findback.corpus.textfile import unreadable
from findback.errors import DataError, Fault, MissingLibraryError

SUFFIXES = (".pdf", ".docx", ".pptx", ".xlsx")
"""Formats that are converted; audio, pictures, archives, mail and addresses never are."""
MOST_BYTES = 100_000_000
"""Most bytes of one file."""
SECONDS = 120.0
"""Seconds of the clock one file may take, the start of the process included."""

_CHILD = "findback.corpus.officechild"
_LINE = 100_000_000
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV", "PYTHONPATH")


class Converted(NamedTuple):
    """What a file gave."""

    text: str
    """Markdown."""
    title: str | None


class Office:
    """Converts files one after the other, in a child process that is started when it is first needed.

    A child that does not answer in time is ended, and the next file gets a new one.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[bytes] = queue.Queue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def convert(self, path: Path, shown: str) -> Converted:
        """Return the text of a file.

        Raises:
            DataError: If it cannot be converted; its one fault says why.
            MissingLibraryError: If markitdown is not installed.
        """
        try:
            size = path.stat().st_size
        except OSError as refused:
            raise DataError("unreadable file", faults=[unreadable(shown, refused)]) from None
        if size > MOST_BYTES:
            raise _fault(shown, f"the file is longer than {MOST_BYTES:,} bytes")
        try:
            answer = json.loads(self._ask(json.dumps({"path": str(path.absolute()), "suffix": path.suffix.lower()})))
        except (OSError, ValueError, queue.Empty):
            self.close()
            raise _fault(shown, "its conversion was ended: it took too long, or too much memory") from None
        if "text" not in answer:
            raise _fault(shown, str(answer.get("fault", "it cannot be converted")))
        return Converted(str(answer["text"]), answer.get("title"))

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _ask(self, request: str) -> bytes:
        child = self._child if self._child is not None and self._child.poll() is None else self._start()
        assert child.stdin is not None  # noqa: S101 (it was opened with a pipe)
        child.stdin.write(request.encode() + b"\n")
        child.stdin.flush()
        return self._answers.get(timeout=SECONDS)

    def _start(self) -> subprocess.Popen[bytes]:
        if find_spec("markitdown") is None:
            raise MissingLibraryError("markitdown", extra="office", wanted_for="reading PDF and Office files")
        self.close()
        # -P keeps the current folder out of what is imported; keys and tokens of the environment are none of its.
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        child = subprocess.Popen(  # noqa: S603 (our own module, by our own interpreter)
            [sys.executable, "-P", "-m", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        self._child, self._answers = child, queue.Queue()
        threading.Thread(target=_listen, args=(child.stdout, self._answers), daemon=True).start()
        return child


def _listen(answers: IO[bytes] | None, into: "queue.Queue[bytes]") -> None:
    with suppress(OSError, ValueError):
        while answers is not None:
            line = answers.readline(_LINE)
            # An empty line is what a child that ended leaves: no JSON, so that nobody waits for it.
            into.put(line)
            if not line:
                return


def _fault(shown: str, message: str) -> DataError:
    return DataError("a file that cannot be converted", faults=[Fault(shown, None, message)])
