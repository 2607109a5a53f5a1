"""Processes that write into a workbench at a test's word, quickly started and killed without warning.

One process imports everything once and forks a writer for each line it reads: `open`, or `put` with
first and last number and batch size.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import alembic.command  # noqa: F401  (a writer must not spend its time importing)

from builders.candidates import NOON, candidate, line, text
from findback.workbench.open import open_workbench

TESTS = Path(__file__).resolve().parent.parent


def nth(number: int) -> object:
    replies = [line(f"{number}-{n}", f"p{n}", text(f"reply {n} to {number} by {{}}", f"p{n}"), n + 1) for n in range(3)]
    return candidate(f"q{number}", f"asker{number % 7}", replies)


class Writers:
    """A handle on the process that forks writers."""

    def __init__(self, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", "from builders.writers import serve; serve()", url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(TESTS)},
        )
        self.ended: dict[int, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def start(self, *words: object) -> int:
        """Start a writer and return its process id once it is about to write."""
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        return self._read("begun")

    def wait(self, writers: Sequence[int]) -> list[str]:
        """Return what each writer said when it was done."""
        while not set(writers) <= self.ended.keys():
            self._read("ended")
        return [self.ended[one] for one in writers]

    def _read(self, wanted: str) -> int:
        while True:
            what, pid, *said = self._process.stdout.readline().split()
            if what == "ended":
                self.ended[int(pid)] = " ".join(said)
            if what == wanted:
                return int(pid)

    @staticmethod
    def kill(writer: int) -> None:
        """Kill a writer and come back when it is gone."""
        with suppress(ProcessLookupError):
            os.kill(writer, signal.SIGKILL)
            while True:
                os.kill(writer, 0)
                time.sleep(0.002)


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def serve() -> None:
    url = sys.argv[1]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for request in sys.stdin:
        if os.fork():
            continue
        words = request.split()
        say("begun", os.getpid())
        try:
            with open_workbench(url, key_check="c0ffee") as workbench:
                if words[0] == "put":
                    first, last, batch = map(int, words[1:])
                    counts = workbench.put((nth(n) for n in range(first, last)), now=NOON, batch=batch)
                    say("ended", os.getpid(), counts.new, counts.updated, counts.unchanged, counts.given)
                else:
                    say("ended", os.getpid(), "opened")
        except BaseException as error:  # noqa: BLE001
            say("ended", os.getpid(), "failed", type(error).__name__, error)
        os._exit(0)
