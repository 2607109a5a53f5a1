"""`findback generate` on the command line."""

import json
from pathlib import Path

import pytest

from builders.generaterun import write_documents
from findback.cli.main import app
from findback.errors import FindbackError

MODEL = (
    '[models.writer]\nprovider = "openai"\nmodel = "gpt-test"\nkey = "env:LLM_KEY"\nprice_in = 1.0\nprice_out = 4.0\n'
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "harbour"
    write_documents(folder / "docs", 30)
    (folder / "findback.toml").write_text(f'[corpus]\npath = "docs"\n{MODEL}')
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(folder)
    return folder


def generate(*options: str) -> object:
    return app(["generate", *options], exit_on_error=False, print_error=False, result_action="return_value")


def test_a_dry_run_needs_no_key_and_says_what_it_would_cost(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sample, mix and expected price are printed; nothing is asked about trust, and the exit status is 0."""
    assert generate("--n", "10", "--dry-run") == 0
    printed = capsys.readouterr().out
    assert "Asked for 10: 10 documents would be described first." in printed
    assert "Expected before the first call" in printed
    assert "USD" in printed
    assert not list(root.parent.rglob("workbench.sqlite"))


def test_the_record_is_written_where_o_says(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As HTML, Markdown or JSON; another ending is refused before any work."""
    for name in ("out.html", "out.md", "out.json"):
        assert generate("--n", "5", "--dry-run", "-o", str(root / name)) == 0
        assert "gpt-test" in (root / name).read_text()
    assert json.loads((root / "out.json").read_text())["asked"] == 5
    with pytest.raises(FindbackError, match="cannot tell the format"):
        generate("--n", "5", "--dry-run", "-o", str(root / "out.doc"))
    capsys.readouterr()


def test_what_is_missing_is_named(root: Path) -> None:
    """No model, an unknown one, an unknown preset of voices, a file of real queries that is not there."""
    with pytest.raises(FindbackError, match=r"there is no \[models.other\]"):
        generate("--dry-run", "--writer", "other")
    with pytest.raises(FindbackError, match="there are no voices"):
        generate("--dry-run", "--voices", "opera")
    with pytest.raises(FindbackError):
        generate("--dry-run", "--match", "nowhere.jsonl")
    (root / "findback.toml").write_text('[corpus]\npath = "docs"\n')
    with pytest.raises(FindbackError, match="no models"):
        generate("--dry-run")


def test_nothing_is_sent_before_somebody_agreed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key from the environment and a host are asked about first; where nobody is there, it stops."""
    monkeypatch.setenv("LLM_KEY", "sk-" + "test")
    with pytest.raises(FindbackError) as caught:
        generate("--n", "5")
    assert caught.value.code == "untrusted"


def test_a_dry_run_refuses_the_address_that_a_run_refuses(root: Path) -> None:
    """No plan is made for a model that could never be asked."""
    with (root / "findback.toml").open("a") as settings:
        settings.write('base_url = "file:///etc/passwd"\n')
    with pytest.raises(FindbackError, match="base_url"):
        generate("--dry-run")


def test_a_plan_adds_up(root: Path) -> None:
    """Drawn, reserve, fit and neither, and skipped documents are all 30; no more calls than can come are priced."""
    generate("--n", "100000", "--dry-run", "-o", str(root / "out.json"))
    plan = json.loads((root / "out.json").read_text())
    drawn, skipped = sum(row["sample"] for row in plan["mix"]), sum(one["count"] for one in plan["ended"])
    assert drawn + plan["reserve"] + plan["spare"] + skipped == 30
    assert plan["estimates"][0]["calls"] < 1_000
