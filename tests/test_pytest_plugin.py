"""The pytest fixture that holds a search to a baseline."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from builders.comparisons import question_set, questions, ranking
from builders.portal import write_set
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.workspace import open_workspace

TESTS = """
RANKS = {ranks!r}

def search(query, k):
    number = int(query.split()[-1])
    results = [f"x{{at}}" for at in range(12)]
    results.insert(RANKS[number] - 1, f"d{{number}}")
    return results[:k]

def test_search(findback):
    found = findback.assert_no_regression(search, baseline="main", set="asked.jsonl")
    assert found.verdict == "pass"

def test_whatever_the_verdict(findback):
    assert findback.gate(search, baseline="main", set="asked.jsonl").comparisons[0].cases == len(RANKS)
"""


def write_project(folder: Path, ranks: list[int], settings: str = "") -> Path:
    """Write a workspace with a baseline of rank 1 everywhere, and tests of a search with these ranks."""
    (folder / "findback.toml").write_text(settings)
    write_set(folder / "asked.jsonl", [(f"q{n}", f"query {n}", [f"d{n}"]) for n in range(len(ranks))])
    workspace = open_workspace(folder, environment={"HOME": str(folder)})
    request = EvaluateRequest(publish="main")
    asked = question_set(questions(len(ranks)))
    evaluate(workspace, request, systems=[ranking("search", [1] * len(ranks))], questions=asked)
    (folder / "test_search.py").write_text(TESTS.format(ranks=ranks))
    return folder


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("FINDBACK_", "PYTEST_"))},
        "HOME": str(folder),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    command = [sys.executable, "-m", "pytest", "-p", "findback.pytest_plugin", "-p", "no:cacheprovider", "-rs", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_search_that_is_as_good_passes(tmp_path: Path) -> None:
    """The same ranks on 80 cases: both tests pass, and the fixture gives what was found."""
    done = run_pytest(write_project(tmp_path, [1] * 80))
    assert "2 passed" in done.stdout, done.stdout


def test_a_regression_fails_with_the_cases(tmp_path: Path) -> None:
    """Twenty cases fell to rank 3: the test fails, with size, counts and ids, without queries or our own frames."""
    done = run_pytest(write_project(tmp_path, [3] * 20 + [1] * 60))
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "findback gate: fail" in done.stdout
    assert "RR@10 fell by .167 against main" in done.stdout
    assert "q0 (one) −.667, rank 1 to 3" in done.stdout
    assert "query 0" not in done.stdout
    assert "pytest_plugin.py" not in done.stdout


@pytest.mark.parametrize(("undecided", "said"), [(11, "1 passed, 1 skipped"), (1, "1 failed, 1 passed")])
def test_undecided_is_skipped_or_what_the_settings_say(tmp_path: Path, undecided: int, said: str) -> None:
    """Twelve cases tell nothing: the test is skipped with the reason, or fails where findback.toml wants it so."""
    done = run_pytest(write_project(tmp_path, [1] * 12, f"[gate]\nundecided = {undecided}\n"))
    assert said in done.stdout, done.stdout
    assert "identical on these 12" in done.stdout


def test_the_plugin_loads_nothing_heavy() -> None:
    """Whoever has findback installed pays nothing for it in test runs that do not use it."""
    code = "import sys, findback.pytest_plugin; print([m for m in ('numpy', 'pydantic', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_pytest_finds_it_by_its_entry_point() -> None:
    """The package declares the plugin, under the name by which it can be switched off."""
    declared = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    assert declared["project"]["entry-points"]["pytest11"] == {"findback": "findback.pytest_plugin"}
