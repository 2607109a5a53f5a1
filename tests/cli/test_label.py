"""Labelling in a real terminal."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from builders.portal import write_portal
from findback.evalset.open import open_set


class Terminal:
    """A command in a pseudo-terminal: type, and read what it shows."""

    def __init__(self, *words: str, cwd: Path, state: Path) -> None:
        self._master, slave = pty.openpty()
        code = "from findback.cli.main import main; main()"
        environment = os.environ | {"XDG_STATE_HOME": str(state), "COLUMNS": "100", "TERM": "dumb"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *words],
            cwd=cwd,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            close_fds=True,
        )
        os.close(slave)
        self.text = ""

    def wait_for(self, words: str, seconds: float = 60) -> str:
        """Return what was shown up to and with these words since the last wait."""
        deadline = time.monotonic() + seconds
        while words not in self.text:
            assert time.monotonic() < deadline, self.text
            ready, _, _ = select.select([self._master], [], [], 0.2)
            if ready:
                try:
                    self.text += os.read(self._master, 65536).decode("utf-8", "replace")
                except OSError:
                    assert words in self.text, self.text
        shown, _, self.text = self.text.partition(words)
        return shown + words

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._master, f"{line}\n".encode())

    def end(self) -> int:
        """Wait for the command to end and return its status."""
        try:
            while os.read(self._master, 65536):
                pass
        except OSError:
            pass
        os.close(self._master)
        return self.process.wait(30)


def number_of(shown: str, document: str) -> str:
    """Return the number a document was listed under."""
    line = next(line for line in shown.splitlines() if document in line)
    return line.split()[0]


def test_labels_are_kept_one_by_one(tmp_path: Path) -> None:
    """Every decision is saved when made, can be undone, survives a kill, and a second sitting goes on where it was."""
    root = write_portal(tmp_path / "portal")
    (root / "typed.txt").write_text("lost badge\nbook a train\nwhere is the moon\n")
    first = Terminal("label", "quick", "typed.txt", cwd=root, state=tmp_path / "state")
    shown = first.wait_for("answer> ")
    assert "lost badge" in shown
    assert "rank" not in shown
    first.type(number_of(shown, "howto/badge.md"))
    shown = first.wait_for("answer> ")
    assert "book a train" in shown
    kept = open_set(root / "typed.labelled.jsonl")
    assert [(q.query, [j.doc for j in q.gold]) for q in kept.questions] == [("lost badge", ["howto/badge.md"])]
    assert (root / "typed.labelled.jsonl").stat().st_mode & 0o777 == 0o600
    first.type("u")
    assert "lost badge" in first.wait_for("answer> ")
    first.type("/travel trains")
    shown = first.wait_for("answer> ")
    first.type(number_of(shown, "policies/travel.md"))
    first.wait_for("answer> ")
    first.process.kill()
    first.end()
    second = Terminal("label", "quick", "typed.txt", cwd=root, state=tmp_path / "state")
    shown = second.wait_for("answer> ")
    assert "book a train" in shown
    assert "lost badge" not in shown
    second.type("s")
    assert "where is the moon" in second.wait_for("answer> ")
    second.type("n")
    second.wait_for("] ")
    second.type("nobody knows")
    assert second.end() == 0
    labelled = {q.query: q for q in open_set(root / "typed.labelled.jsonl").questions}
    assert [j.doc for j in labelled["lost badge"].gold] == ["policies/travel.md"]
    assert labelled["where is the moon"].answer == "no-answer"
    assert labelled["where is the moon"].no_answer_reason == "nobody knows"
    assert "book a train" not in labelled


def test_labelling_needs_a_person(run, tmp_path: Path) -> None:
    """Without a terminal the command says that it asks a person."""
    root = write_portal(tmp_path / "portal")
    outcome = run("label", "quick", "asked.jsonl", cwd=root)
    assert outcome.status == 2
    assert "terminal" in outcome.err


def test_trust_is_asked_in_a_terminal(tmp_path: Path) -> None:
    """In a terminal the items are shown and a yes is remembered; anything else is a no."""
    marker = tmp_path / "ran"
    root = write_portal(
        tmp_path / "clone",
        f"[retrievers.theirs]\nkind = 'command'\ncommand = ['sh', '-c', 'touch {marker}; sleep 1']\n",
    )
    terminal = Terminal("evaluate", "--set", "asked.jsonl", cwd=root, state=tmp_path / "state")
    shown = terminal.wait_for("[y/N] ")
    assert f"touch {marker}" in shown
    terminal.type("")
    assert terminal.end() == 5
    assert not marker.exists()
    terminal = Terminal("evaluate", "--set", "asked.jsonl", cwd=root, state=tmp_path / "state")
    terminal.wait_for("[y/N] ")
    terminal.type("y")
    terminal.end()
    assert marker.exists()


pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="pseudo-terminals need a Unix")
