"""`findback gaps`."""

import json
from pathlib import Path
from typing import Any

from builders.portal import write_portal
from builders.sets import case
from findback.evalset.cases import write_cases


def write_gaps(folder: Path) -> Path:
    root = write_portal(folder / "portal")
    (root / "evalset").mkdir()
    gap = {"judged": [], "no_answer_reason": "nobody wrote it"}
    cases = [case(1, query="parking permit for visitors", asked="5-19", **gap), case(2, query="\x9b2J parking", **gap)]
    write_cases(root / "evalset" / "cases.jsonl", cases)
    return root


def test_gaps_are_printed_by_theme(run: Any, tmp_path: Path) -> None:
    """A table with the theme, how often each was asked, and a sentence; nothing in it steers the terminal."""
    found = run("gaps", "--nearest", "0", cwd=write_gaps(tmp_path))
    assert found.status == 0
    assert "parking permit for visitors" in found.out
    assert "2 questions in 1 theme that no document answers." in found.out
    assert "\x9b" not in found.out


def test_gaps_are_written_and_read_by_programs(run: Any, tmp_path: Path) -> None:
    """`-o` writes Markdown or CSV, `--json` prints the record; another ending is refused with status 2."""
    root = write_gaps(tmp_path)
    assert run("gaps", "-o", "gaps.csv", cwd=root).status == 0
    assert (root / "gaps.csv").read_text("utf-8").startswith("theme,question,")
    assert json.loads(run("gaps", "--json", cwd=root).out)["themes"][0]["times"] == 7
    assert run("gaps", "-o", "gaps.txt", cwd=root).status == 2


def test_without_a_set_there_are_no_gaps(run: Any, tmp_path: Path) -> None:
    """Before the first release the command says so, and fails at nothing."""
    found = run("gaps", cwd=write_portal(tmp_path / "portal"))
    assert found.status == 0
    assert "No case of the set is without an answer." in found.out
