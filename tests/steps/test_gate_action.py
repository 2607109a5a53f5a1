"""The gate as CI runs it: the action's script, in clones that have nothing but the repository."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from builders.gaterepo import ROOT, clone, commit, git, record, run_action, write_pages, write_repository

CASES = 80


def publish(root: Path) -> None:
    """Publish the baseline main, as its author would."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("FINDBACK_")},
        "HOME": str(root.parent / "home"),
        "XDG_STATE_HOME": str(root.parent / "author"),
    }
    command = [sys.executable, "-m", "findback", "evaluate", "bm25", "--publish", "main"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of two commits: set and baseline, then a change that breaks a quarter of the pages."""
    root = write_repository(tmp_path_factory.mktemp("origin") / "repository", CASES)
    publish(root)
    commit(root, "Set and baseline")
    write_pages(root, CASES, untold=range(0, CASES, 4))
    commit(root, "Rewrite pages")
    return root


def outputs(scratch: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in (scratch / "output").read_text().splitlines())


def test_a_clone_of_the_first_commit_passes(origin: Path, tmp_path: Path) -> None:
    """Nothing changed: exit 0, a summary, outputs, JUnit; and the clone holds no new file."""
    there = clone(origin, tmp_path / "clone")
    git(there, "checkout", "--quiet", "HEAD~1")
    done = run_action(there, tmp_path / "ci", baseline="main")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "## findback gate: pass" in (tmp_path / "ci" / "summary.md").read_text()
    assert f"identical on these {CASES}" in (tmp_path / "ci" / "summary.md").read_text()
    assert outputs(tmp_path / "ci")["verdict"] == "pass"
    suite = ET.parse(outputs(tmp_path / "ci")["junit"]).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "0", "0")
    assert git(there, "status", "--porcelain") == ""


def test_the_second_commit_fails_with_a_comment(origin: Path, tmp_path: Path) -> None:
    """The change is held to the baseline of the commit before; the comment says how much fell, and which cases."""
    there = clone(origin, tmp_path / "clone")
    scratch = tmp_path / "ci"
    (scratch / "bin").mkdir(parents=True)
    double = scratch / "bin" / "gh"
    double.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {shlex.quote(str(scratch / "gh"))}\n')
    double.chmod(0o755)
    # The change tries to move its own bar: what the baseline says in this commit does not count.
    (there / "evalset" / "baselines" / "main.jsonl").write_text("")
    done = run_action(there, scratch, baseline="main", base="HEAD~1", comment="true", pull_request="7")
    assert done.returncode == 1, done.stdout + done.stderr
    comment = Path(outputs(scratch)["markdown"]).read_text()
    words = (scratch / "gh").read_text().splitlines()
    assert words == ["pr", "comment", "7", *["--edit-last", "--create-if-none", "--body-file"], str(words[-1])]
    assert words[-1] == outputs(scratch)["markdown"]
    assert comment.startswith("<!-- findback gate -->\n## findback gate: fail\n")
    assert f"fell by .250 against main, by .18 at least. 20 of {CASES} cases lost, 0 won." in comment
    assert "| c0000000004 | plain | one | control | 1 | none | −1.000 |" in comment
    assert "| wording plain | 20 | 20 | 0 |" in comment
    assert "findback evaluate NAME --publish NAME" in comment
    assert "trouble with" not in comment
    failures = ET.parse(outputs(scratch)["junit"]).getroot().findall(".//failure")
    assert len(failures) == 1
    assert "c0000000004 (plain, one, control) −1.000, rank 1 to none" in (failures[0].text or "")
    assert re.search(r"^::error title=findback gate fail%3A bm25 against main::", done.stdout, re.MULTILINE)


def test_recorded_results_are_undecided(origin: Path, tmp_path: Path) -> None:
    """Results recorded elsewhere that lost 4 of 80 cases: exit 11, and the cases that would be needed.

    Neither documents nor a private folder are needed for that, and none is made.
    """
    there = clone(origin, tmp_path / "clone")
    git(there, "checkout", "--quiet", "HEAD~1")
    shutil.rmtree(there / "docs")
    record(there / "results.jsonl", dict.fromkeys(range(0, CASES, 20), 0), CASES)
    done = run_action(there, tmp_path / "ci", baseline="main", run="results.jsonl")
    assert done.returncode == 11, done.stdout + done.stderr
    comment = Path(outputs(tmp_path / "ci")["markdown"]).read_text()
    assert "## findback gate: undecided" in comment
    assert re.search(r"The margin needs about \d+ cases; 80 could be compared\.", comment)
    assert "::warning title=findback gate undecided" in done.stdout
    assert not (tmp_path / "ci" / "state").exists()


def test_twelve_cases_are_undecided(tmp_path: Path) -> None:
    """An unchanged system on a set of twelve cases is not passed: exit 11, or what findback.toml makes of it."""
    root = write_repository(tmp_path / "repository", 12)
    publish(root)
    commit(root, "Set and baseline")
    there = clone(root, tmp_path / "clone")
    done = run_action(there, tmp_path / "ci", baseline="main")
    assert done.returncode == 11, done.stdout + done.stderr
    comment = Path(outputs(tmp_path / "ci")["markdown"]).read_text()
    assert "identical on these 12" in comment
    assert "The margin needs about 59 cases; 12 could be compared." in comment
    with (there / "findback.toml").open("a") as file:
        file.write("[gate]\nundecided = 1\n")
    assert run_action(there, tmp_path / "strict", baseline="main").returncode == 1


def test_a_base_without_the_baseline_is_an_error(origin: Path, tmp_path: Path) -> None:
    """Where the base has no such baseline the script says so; it does not fall back to the change's own."""
    there = clone(origin, tmp_path / "clone")
    done = run_action(there, tmp_path / "ci", baseline="other", base="HEAD~1")
    assert done.returncode == 6
    assert "no such baseline in the base" in done.stdout
    assert not (tmp_path / "ci" / "summary.md").exists()


def test_inputs_reach_the_script_through_the_environment_alone() -> None:
    """Every input is a variable the script reads; none stands in a command."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    script = (ROOT / "action" / "run.sh").read_text("utf-8")
    (step,) = action["runs"]["steps"]
    assert "${{" not in step["run"]
    assert "${{" not in script
    given = {re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", r"\1", value) for value in step["env"].values()}
    assert given >= set(action["inputs"])
    for name in step["env"]:
        if name.startswith("GATE_"):
            assert f"${{{name}:-" in script or f"${name}" in script, name
