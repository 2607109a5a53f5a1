"""Running the command line inside the test process."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from findback.cli.main import main


class Outcome(NamedTuple):
    """What a command printed and how it ended."""

    status: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `findback` in a home and state folder of its own."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FINDBACK_TRUST", raising=False)

    def call(*words: str, cwd: Path | None = None, trust: str | None = None) -> Outcome:
        if trust is not None:
            monkeypatch.setenv("FINDBACK_TRUST", trust)
        if cwd is not None:
            monkeypatch.chdir(cwd)
        monkeypatch.setattr("sys.argv", ["findback", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return Outcome(code if isinstance(code, int) else 0, out, err)

    return call
