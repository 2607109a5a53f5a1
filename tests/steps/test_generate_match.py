"""Following the overlap of a real sample, in the place of one flat limit."""

import json
from collections import Counter
from pathlib import Path

import pytest

from builders.describers import THINGS, draw
from builders.generaterun import harbour_documents
from builders.judges import shown_documents
from findback.corpus.corpus import corpus_of
from findback.errors import UsageError
from findback.llm.ask import Ask, ScriptedModel
from findback.measure.containment import find_content_words
from findback.model.document import Document
from findback.model.generated import Generated
from findback.model.record import Record
from findback.steps.bench import open_bench
from findback.steps.generate import generate
from findback.steps.generaterequest import GenerateRequest
from findback.workspace import Workspace, open_workspace
from findback.writing.describe import Description
from findback.writing.fidelity import Choice

DOCUMENTS = harbour_documents(120)
BY_ID = {one.id: one for one in DOCUMENTS}
SLOTS = 6


def blend(document: Document, borrowed: int, *parts: object) -> str:
    """Two sentences of which so many of six content words stand close together in the document, never in a row."""
    body = " ".join(document.text.split()[4:60])
    own = [word for word in dict.fromkeys(find_content_words(body, "en")) if word.isalpha() and len(word) > 3]
    own = own[draw(document.id, *parts) % 3 :][: 2 * borrowed : 2][::-1]
    others = dict.fromkeys(THINGS[draw(document.id, at, *parts) % len(THINGS)] for at in range(20))
    strange = [word for word in others if word not in document.text.lower()]
    words = [*own, *strange][:SLOTS]
    return (
        f"Why is the {words[0]} and the {words[3]} with my {words[1]} here? "
        f"How can I have the {words[4]} before the {words[2]} and the {words[5]}?"
    )


def answers(most: int) -> ScriptedModel:
    """A model that borrows up to so many words, and as judge always finds the source."""

    def answer(ask: Ask[Record]) -> Record:
        document = BY_ID[ask.item]
        if ask.answer is Choice:
            beginning = document.text[:12]
            found = (letter for letter, text in shown_documents(ask).items() if text.startswith(beginning))
            return Choice(best=next(found, "none"))
        return Description(query=blend(document, draw(ask.item, ask.attempt) % (most + 1), ask.attempt))

    return ScriptedModel(answer)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "harbour"
    root.mkdir()
    (root / "findback.toml").write_text("[mining]\nnames = false\n[writing]\nattempts = 4\nreserve = 3.0\n")
    return open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)})


@pytest.fixture
def real(tmp_path: Path) -> Path:
    """Ninety labelled queries, fifteen of each number of borrowed words from none to five."""
    file = tmp_path / "asked.jsonl"
    rows = [
        {"id": f"r{at}", "query": blend(document, at % 6, "real"), "gold": [document.id]}
        for at, document in enumerate(DOCUMENTS[:90])
    ]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


def start(workspace: Workspace, real: Path, most: int, n: int = 30) -> Generated:
    return generate(
        workspace,
        GenerateRequest(n=n, match=real),
        writer=answers(most),
        documents=corpus_of(DOCUMENTS, name="harbour"),
    )


def test_accepted_texts_follow_the_overlap_of_the_sample(workspace: Workspace, real: Path) -> None:
    """Every bucket's share is within 5 points of the real one, above the flat leak limit too, and each case says so."""
    result = start(workspace, real, 6)
    matching = result.matching
    assert (matching.refusal, matching.accepted, result.refused) == (None, 30, None)
    assert len([one for one in matching.buckets if one.share > 0.05]) >= 4
    for one in matching.buckets:
        assert abs(one.accepted / matching.accepted - one.share) <= 0.05, one.bucket
    assert sum(one.tried for one in matching.buckets) > 30
    assert matching.effective == pytest.approx(90)
    with open_bench(workspace) as bench:
        stored = [one.candidate for one in bench.list_candidates(limit=500)]
    assert Counter(one.written.matched for one in stored) == {matching.sample: result.got}
    assert matching.sample.startswith("asked.jsonl@") or matching.sample.startswith("asked@")
    assert max(one.written.leak or 0 for one in stored) > result.leak_limit


def test_a_bucket_that_cannot_be_filled_is_refused(workspace: Workspace, real: Path) -> None:
    """A writer that never comes close to its documents: nothing is stored, and the bucket is named."""
    result = start(workspace, real, 1, n=12)
    assert "bucket .5-.75 got 0 of" in (result.refused or "")
    assert (result.got, result.stored) == (0, {})
    assert {one.outcome for one in result.ended} >= {"surplus", "failed"}
    assert not (workspace.private / "workbench" / "workbench.sqlite").exists()


def test_a_sample_that_is_too_small_is_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    """Five queries say nothing about shares; no model is asked."""
    few = tmp_path / "few.jsonl"
    rows = [{"id": f"r{at}", "query": blend(one, at, "few"), "gold": [one.id]} for at, one in enumerate(DOCUMENTS[:5])]
    few.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    model = answers(6)
    with pytest.raises(UsageError, match="too small to be followed"):
        generate(
            workspace,
            GenerateRequest(n=10, match=few),
            writer=model,
            documents=corpus_of(DOCUMENTS, name="harbour"),
        )
    assert model.asked == []
