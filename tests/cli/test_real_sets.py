"""Sets of other tools, as they were published, through the commands."""

import json
from pathlib import Path

import pytest

from cli.conftest import Run


def test_opensearch_sets_import_as_they_are(run: Run, tmp_path: Path, data: Path) -> None:
    """Judgement list and query set import without an option, by themselves and as one folder."""
    for place, labelled in (("esci_us_judgments.json", 150), ("esci_us_queryset.json", 0), (".", 150)):
        target = tmp_path / f"{labelled}-{len(place)}.jsonl"
        outcome = run("import", str(data / "ubi" / place), "-o", str(target), cwd=tmp_path)
        assert outcome.status == 0, outcome.err
        questions = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
        assert len(questions) == 150
        assert sum("judged" in question for question in questions) == labelled


def test_autorag_imports_audits_and_evaluates(run: Run, tmp_path: Path, data: Path) -> None:
    """AutoRAG's folder is a set whose gold meets its corpus, in all three commands."""
    pytest.importorskip("pyarrow")
    folder = data / "autorag-en"
    how = ("--corpus", str(folder / "corpus_data_sample.parquet"))
    outcome = run("import", str(folder), "-o", "set.jsonl", *how, cwd=tmp_path)
    assert outcome.status == 0, outcome.err
    assert "gold resolved: 10 by id" in outcome.out
    audited = run("audit", str(folder), *how, "-o", "audit.json")
    assert audited.status == 0, audited.err
    assert (tmp_path / "audit.json").is_file()
    scored = run("evaluate", "--set", str(folder), *how, "--json")
    assert scored.status == 0, scored.err
    assert json.loads(scored.out)
