"""`findback assist`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builders.candidates import NOON, candidate
from builders.portal import write_portal
from builders.sets import case
from findback.cli import assist
from findback.evalset.cases import write_cases
from findback.llm.ask import Ask, ItemFailedError, ScriptedModel
from findback.model.record import Record
from findback.steps import assist_asking, assist_cluster
from findback.steps.assist_embedder import Embedding
from findback.steps.bench import open_bench
from findback.workspace import open_workspace
from findback.writing.classify import Classified
from findback.writing.paraphrase import Paraphrases
from findback.writing.suggest import GradedDocument, Grades
from findback.writing.themes import ThemeLabel

CASES = (
    case(1, query="badge does not open the gate", wording="vague"),
    case(2, query="badge gate stays \x9b2J shut", wording="plain"),
)
MODEL = "[models.m]\nprovider = 'openai'\nmodel = 'gpt-test'\n[mining]\nnames = false\n"


def answer(ask: Ask[Record]) -> Record:
    if ask.answer is Paraphrases:
        if "\x9b" in ask.user or "stays" in ask.user:
            raise ItemFailedError("the model refused")
        return Paraphrases(variants=("door card is dead at the entrance",))
    if ask.answer is Classified:
        return Classified(wording="vague", confidence=0.9)
    if ask.answer is ThemeLabel:
        return ThemeLabel(label="door cards")
    return Grades(grades=tuple(GradedDocument(number=n + 1, grade=0) for n in range(ask.user.count("Document "))))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with two cases, whose model and embedder are scripted."""
    place = write_portal(tmp_path / "portal", MODEL)
    (place / "evalset").mkdir()
    write_cases(place / "evalset" / "cases.jsonl", CASES)
    axis = np.array([1.0, 0.0], dtype=np.float32)
    monkeypatch.setattr(assist_asking, "open_writer", lambda *given, **options: ScriptedModel(answer, name="m"))
    monkeypatch.setattr(assist_cluster, "open_embedder", lambda *given: Embedding("scripted", lambda text: axis))
    return place


def test_variants_are_counted_and_a_failure_is_status_1(run: Any, root: Path) -> None:
    """Asked for six, kept one, one case failed with its reason; as JSON the record; nothing steers the terminal."""
    found = run("assist", "paraphrase", "--n", "3", cwd=root)
    assert found.status == 1
    assert "asked for 6 variants, kept 1" in found.out
    assert "the model refused" in found.out
    assert "\x9b" not in found.out
    record = json.loads(run("assist", "paraphrase", "--case", "c0000000001", "--n", "1", "--json", cwd=root).out)
    assert (record["roots"][0]["kept"], record["stored"]) == (["door card is dead at the entrance"], {"unchanged": 1})
    assert run("assist", "paraphrase", "--case", "c0000000001", cwd=root).status == 0


def test_wordings_are_shown_beside_people_s(run: Any, root: Path) -> None:
    """The confusion table with agreement, precision and recall, and what differs by id."""
    found = run("assist", "classify", cwd=root)
    assert found.status == 0
    for words in (
        "people's wordings down, the model's across",
        "beyond chance (kappa)",
        "precision",
        "case c0000000002",
    ):
        assert words in found.out
    assert run("assist", "classify", "-o", "wordings.txt", cwd=root).status == 2


def test_themes_are_printed_and_written(run: Any, root: Path) -> None:
    """A table with a label and what each costs; -o writes the questions as well, and prints where to alone."""
    found = run("assist", "cluster", cwd=root)
    assert found.status == 0
    assert "door cards" in found.out
    assert "1 theme with 2 questions; 0 are like no other." in found.out
    assert run("assist", "cluster", "-o", "../themes.md").out == "wrote ../themes.md\n"
    assert "## door cards" in (root.parent / "themes.md").read_text("utf-8")


def test_drafts_are_counted_and_never_shown(run: Any, root: Path) -> None:
    """Before anything was mined it is said; then drafts are kept, and no document of one is printed."""
    assert run("assist", "suggest", cwd=root).status == 6
    with open_bench(open_workspace(root)) as bench:
        bench.put([candidate("q", query="lost badge at reception")], now=NOON)
    found = run("assist", "suggest", cwd=root)
    assert found.status == 0
    assert "1 draft, 1 of them new or other than before" in found.out
    assert "hidden from each reviewer until they answered" in found.out
    assert "badge.md" not in found.out


@pytest.mark.parametrize("kind", ["paraphrase", "classify", "cluster"])
def test_a_dry_run_says_what_it_would_cost(run: Any, root: Path, kind: str) -> None:
    """No key is needed, nothing is asked, and the price is not made up."""
    found = run("assist", kind, "--dry-run", cwd=root)
    assert found.status == 0
    assert "dry run: nothing was asked and nothing stored" in found.out
    assert "no price is known" in found.out


def test_every_kind_has_its_command() -> None:
    """Each is there under the name the documentation has."""
    assert {"paraphrase", "classify", "cluster", "suggest"} <= set(assist.app)


def test_what_contradicts_itself_or_is_no_id_is_said(run: Any, root: Path) -> None:
    """Words and a model cannot both name themes; what is no case id is called that, without a pattern."""
    both = run("assist", "cluster", "--words", "--model", "m", cwd=root)
    assert (both.status, "not by both" in both.err) == (2, True)
    nobody = run("assist", "paraphrase", "--case", "nope", cwd=root)
    assert (nobody.status, "'nope' is no case id" in nobody.err) == (2, True)
