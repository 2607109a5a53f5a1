"""Anchors of real documents that were reworded, and of documents that are cut otherwise."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from builders.harbour import read_asked, released
from builders.sets import case
from findback.corpus.corpus import Corpus, corpus_of
from findback.corpus.passages import open_passages
from findback.corpus.remembered import Remembered
from findback.corpus.snapshot import take_snapshot
from findback.evalset.manifest import Manifest, count_cases
from findback.model.document import Document
from findback.model.protocols import SILENT
from findback.model.question import Question
from findback.model.settings import PassageSettings
from findback.steps.gold import anchor_share, label_columns
from findback.steps.opening import SetRequest, open_documents
from findback.steps.refresh import RefreshRequest, refresh
from findback.steps.refresh_golds import Sighted, sight_golds
from findback.steps.refresh_past import Past, PastGold
from findback.steps.refresh_scope import Scope
from findback.text.runs import WordHashes
from findback.text.sentences import find_sentences
from findback.text.words import words

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ATTACHED = frozenset({"exact", "edited", "moved", "split", "merged", "superseded"})


class Reworded(NamedTuple):
    """Old sentences as quotes, what became of them, and what comparing everything says."""

    sighted: list[Sighted]
    own: list[float]
    """Share of each one's word triples in today's text of its document; 1 where its exact words are there."""
    anywhere: list[float]
    """The highest share in any document."""


@pytest.fixture(scope="module")
def reworded(data: Path) -> Reworded:
    """Quote every sentence of five words or more of the 168 earlier wordings, and refresh onto today's."""
    lines = (data / "ubuntu" / "corpus.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if len(row["versions"]) > 1]
    assert len(rows) == 168
    old = corpus_of(Document(row["id"], row["versions"][1]) for row in rows)
    today = corpus_of(Document(row["id"], row["versions"][0]) for row in rows)
    quotes = [(document.id, sentence) for document in old for sentence in _cut(document.text)]
    cases = [
        case(number, judged=[{"doc": doc, "grade": 3, "anchor": quote, "found_by": "resolver"}])
        for number, (doc, quote) in enumerate(quotes)
    ]
    sighted, _ = sight_golds(cases, remember(old), today, Scope(None, lambda _: True), progress=SILENT)
    held = {document.id: triples(document.text) for document in today}
    own, anywhere = [], []
    for doc, quote in quotes:
        wanted = triples(quote)
        text = today.get(doc)
        assert text is not None
        exact = f" {' '.join(words(quote))} " in f" {' '.join(words(text.text))} "
        own.append(1.0 if exact else len(wanted & held[doc]) / len(wanted))
        anywhere.append(max(len(wanted & one) / len(wanted) for one in held.values()))
    return Reworded(sighted, own, anywhere)


def _cut(text: str) -> Iterator[str]:
    for start, end in find_sentences(text):
        if len(words(text[start:end])) >= 5:
            yield text[start:end]


def triples(text: str) -> frozenset[tuple[str, ...]]:
    tokens = words(text)
    return frozenset(tuple(tokens[at : at + 3]) for at in range(len(tokens) - 2))


def remember(corpus: Corpus) -> Past:
    hashes = WordHashes()
    golds = {
        document.id: PastGold(1, corpus.text_digests[document.id], hashes.hash_runs(document.text))
        for document in corpus
    }
    manifest = Manifest(
        number=1,
        date=date(2026, 4, 1),
        note="first",
        digests={},
        counts=count_cases([]),
        corpus=corpus.digest,
        tokenizer="words-1",
        findback="0",
    )
    runs = {name: gold.runs for name, gold in golds.items() if gold.runs is not None}
    remembered = {1: Remembered(take_snapshot(corpus, now=NOW), runs)}
    return Past(manifest, {name: [gold] for name, gold in golds.items()}, remembered, ())


def test_sentences_that_stand_in_their_document_stay_with_it(reworded: Reworded) -> None:
    """95 % or more of those with their exact words, or 60 % of their triples, there are attached there, led nowhere."""
    standing = [one for one, share in zip(reworded.sighted, reworded.own, strict=True) if share >= 0.6]
    kept = [one for one in standing if one.fate.kind in {"exact", "edited"} and not one.fate.targets]
    assert len(standing) == 144
    assert len(kept) >= 0.95 * len(standing)


def test_sentences_that_are_nowhere_are_attached_to_nothing(reworded: Reworded) -> None:
    """Of those of which no document holds a fifth at most 2 % are attached to any document."""
    gone = [one for one, share in zip(reworded.sighted, reworded.anywhere, strict=True) if share < 0.2]
    assert len(gone) > 60
    assert sum(one.fate.kind in ATTACHED for one in gone) <= 0.02 * len(gone)


def test_sentences_that_another_document_took_over_are_led_there(reworded: Reworded) -> None:
    """Where their own document has under 20 % and another one 60 % or more, that one is named."""
    left = [
        one
        for one, own, anywhere in zip(reworded.sighted, reworded.own, reworded.anywhere, strict=True)
        if own < 0.2 and anywhere >= 0.6
    ]
    assert all(one.fate.targets and one.fate.kind in ATTACHED for one in left)


CHUNKINGS = (
    PassageSettings(chunker="whole"),
    PassageSettings(chunker="heading", size=1200),
    PassageSettings(chunker="heading", size=400),
    PassageSettings(chunker="size", size=2000),
    PassageSettings(chunker="size", size=600, overlap=100),
    PassageSettings(chunker="size", size=400, overlap=150),
)


def test_cutting_documents_otherwise_touches_no_label(tmp_path: Path) -> None:
    """Thirty quoted golds, cut six ways: the same labels with the same spans, each held by a passage, none stale."""
    anchored = [one for one in read_asked() if len(one.gold) == 1 and one.gold[0].anchor][:30]
    workspace = released(tmp_path / "w", *anchored)
    documents = open_documents(workspace, SetRequest())
    assert documents is not None
    questions = [Question(id=one.id, query=one.query, judged=one.judged) for one in anchored]
    labels = label_columns(questions, documents).gold
    for settings in CHUNKINGS:
        cut = workspace.settings.model_copy(update={"passages": settings})
        other = type(workspace)(workspace.root, cut, workspace.origins, workspace.file, workspace.environment)
        passages = list(open_passages(documents, settings, cache=tmp_path / settings.model_dump_json()[:40]))
        for gold in (one.gold[0] for one in anchored):
            pieces = (piece.text for piece in passages if piece.document == gold.doc)
            assert max(anchor_share(gold.anchor or "", text) or 0.0 for text in pieces) >= 0.5, (settings, gold.doc)
        result = refresh(other, RefreshRequest(), moment=NOW)
        assert (result.golds, result.held, result.found) == (30, 30, ())
        again = label_columns(questions, documents).gold
        assert repr(again) == repr(labels)
