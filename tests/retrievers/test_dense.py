"""Dense search and reranking with the real small model."""

import asyncio
import json
import threading
from dataclasses import replace

import numpy as np
import pytest

from findback.errors import EngineError, MissingError, RefusedError, SettingsError
from findback.model.hits import Hit
from findback.model.protocols import SILENT
from findback.model.settings import RetrieverSettings
from findback.retrievers import embedder as embedder_module
from findback.retrievers.dense import DenseRetriever
from findback.retrievers.embedder import Embedder
from findback.retrievers.memory import MemoryRetriever
from findback.retrievers.rerank import RerankRetriever, RerankSettings
from findback.retrievers.vectors import VectorStore, digest_of
from retrievers.builders import TEXTS, SmallDocuments, SmallPassages
from retrievers.contract import ask, documents, search


@pytest.fixture
def around(surroundings, models):
    """The small corpus with the model."""
    return replace(surroundings, models=models)


@pytest.fixture
def counted(monkeypatch):
    """Texts that went through the model."""
    seen = []
    real = Embedder.embed

    def embed(self, text):
        seen.append(text)
        return real(self, text)

    monkeypatch.setattr(embedder_module.Embedder, "embed", embed)
    return seen


def dense(around, **own):
    return DenseRetriever.build("dense", RetrieverSettings(kind="dense", **own), around)


def rerank(around, first, **own):
    return RerankRetriever("rerank", RerankSettings(of="first", **own), first, around)


def test_meaning_finds_what_no_word_shares(around):
    """`package went missing` shares no word with the tracing page, and finds it first."""
    answer = search(dense(around), "my package went missing", 4)
    assert answer.hits[0].document == "tracing.md"
    assert answer.hits[0].passage in TEXTS["tracing.md"]
    assert TEXTS["tracing.md"][slice(*answer.hits[0].span)] == answer.hits[0].passage


def test_scores_are_cosines(around):
    """A passage as query has cosine 1 with itself; scores fall from first to last."""
    passage = TEXTS["claims.md"]
    hits = search(dense(around), passage, 10).hits
    assert hits[0].document == "claims.md"
    assert hits[0].score == pytest.approx(1.0, abs=1e-5)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert len(hits) == len(around.passages)


def test_an_empty_query_finds_nothing(around):
    """White space has no meaning to be near to."""
    answer = search(dense(around), "  \n")
    assert (answer.hits, answer.exhausted) == ((), True)


def test_only_a_changed_document_is_embedded_again(around, counted):
    """Of four documents one changes: only its passages go through the model the second time."""
    search(dense(around), "parcel")
    passages = len(around.passages)
    assert len(counted) == passages + 1
    counted.clear()
    changed = {**TEXTS, "claims.md": "File a claim within nine days. Bring the form."}
    search(dense(replace(around, passages=SmallPassages(changed), kept={})), "parcel")
    assert counted == ["File a claim within nine days", "Bring the form.", "parcel"]


def test_interrupted_embedding_goes_on_where_it_stopped(around, counted, monkeypatch):
    """After three of five texts the process is interrupted; two are left to do."""
    real = Embedder.embed

    def failing(self, text):
        if len(counted) >= 3:
            raise KeyboardInterrupt
        return real(self, text)

    monkeypatch.setattr(embedder_module.Embedder, "embed", failing)
    with pytest.raises(KeyboardInterrupt):
        dense(around)._embed_all(Embedder(around.models / "minilm-l6"), SILENT, threading.Event())
    assert len(counted) == 3
    monkeypatch.setattr(embedder_module.Embedder, "embed", real)
    counted.clear()
    search(dense(replace(around, kept={})), "parcel")
    assert len(counted) == len(around.passages) - 3 + 1


def test_cancelling_stops_the_embedding_thread(around, counted, monkeypatch):
    """A cancelled preparation embeds no further text."""
    import time

    real = Embedder.embed

    started = threading.Event()

    def slow(self, text):
        started.set()
        time.sleep(0.1)
        return real(self, text)

    monkeypatch.setattr(embedder_module.Embedder, "embed", slow)

    async def work():
        retriever = dense(around)
        task = asyncio.create_task(retriever.prepare())
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert 0 < len(counted) < len(around.passages)


def test_a_damaged_cache_is_made_again(around):
    """Garbage in the vector file costs time, not results."""
    first = search(dense(around), "parcel")
    (file,) = (around.cache / "vectors").glob("*-texts.sqlite")
    file.write_bytes(b"garbage" * 1000)
    assert search(dense(replace(around, kept={})), "parcel") == first


def test_the_cache_is_private(around):
    """Vectors tell about texts: only the owner may read the file."""
    search(dense(around), "parcel")
    (file,) = (around.cache / "vectors").glob("*-texts.sqlite")
    assert file.stat().st_mode & 0o077 == 0


def test_settings_hold_the_models_digest_and_no_path(around, models):
    """The same model under another name has the same digest, another limit has another one."""
    by_name = dense(around).settings()
    by_path = dense(around, model=str(models / "minilm-l6")).settings()
    assert by_name == by_path
    assert str(models) not in json.dumps(dict(by_path))
    assert dense(around, max_tokens=64).settings() != by_name


def test_a_long_text_is_cut_not_refused(around):
    """Of a passage of a hundred thousand words the first count; what stands at its end is not seen."""
    start, other = "File a claim for a damaged parcel. ", "the gate opens at six. "
    texts = {"long.md": start * 40 + other * 20_000, "short.md": start * 40}
    hits = search(dense(replace(around, passages=SmallPassages(texts, cut=False))), "damaged parcel", 2).hits
    assert hits[0].score == pytest.approx(hits[1].score, abs=1e-5)


def test_the_tokenizers_own_padding_and_limit_are_switched_off(models):
    """A short text has as many token vectors as words, a long one up to the limit less the two marks."""
    embedder = Embedder(models / "minilm-l6", max_tokens=256)
    assert embedder.embed("lost parcel").tokens.shape == (2, 384)
    assert embedder.embed("parcel " * 1000).tokens.shape == (254, 384)
    assert np.linalg.norm(embedder.embed("lost parcel").text) == pytest.approx(1.0)


def test_a_model_that_is_not_there_says_how_to_get_it(surroundings, tmp_path):
    """Not pulled, no such folder, a folder without the files."""
    with pytest.raises(MissingError, match="has not been pulled"):
        dense(replace(surroundings, models=tmp_path / "none"))
    with pytest.raises(MissingError, match="no model 'elsewhere'"):
        dense(surroundings, model="elsewhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingError, match=r"has no model\.onnx"):
        dense(surroundings, model="empty")


def test_a_model_with_a_wrong_hash_is_refused(surroundings, models, tmp_path):
    """A changed file of a catalogue model is not loaded; both digests are named."""
    folder = tmp_path / "models" / "minilm-l6"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"other")
    (folder / "tokenizer.json").write_bytes((models / "minilm-l6" / "tokenizer.json").read_bytes())
    with pytest.raises(RefusedError, match=r"sha256 is [0-9a-f]{64}, must be 8199be6f"):
        dense(replace(surroundings, models=tmp_path / "models"))


def test_a_file_that_is_no_model_is_a_clear_error(surroundings, models, tmp_path):
    """Garbage under the right name."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"garbage")
    (folder / "tokenizer.json").write_bytes((models / "minilm-l6" / "tokenizer.json").read_bytes())
    with pytest.raises(SettingsError, match="holds no model that can be loaded"):
        search(dense(surroundings, model="own"), "x")


def test_reranking_puts_the_right_passage_first(around):
    """The first retriever has the answer last; MaxSim and cosine put it first."""
    order = [{"id": name, "passage": TEXTS[name]} for name in ("gate hours.md", "claims.md", "tracing.md")]
    run = ask(
        rerank(around, MemoryRetriever({"my package went missing": order})),
        ["my package went missing"],
        depth=3,
    ).run
    assert documents(run, 0)[0] == "tracing.md"
    assert run.scores is not None
    assert run.scores.tolist() == sorted(run.scores.tolist(), reverse=True)


def test_what_comes_after_the_top_keeps_its_order_without_a_score(around):
    """Two of four are reranked; the other two follow as they came."""
    names = ["gate hours.md", "claims.md", "tracing.md", "zoll/ausfuhr-prüfung.md"]
    hits = search(rerank(around, MemoryRetriever({"parcel claim": names}), top=2), "parcel claim", 4).hits
    assert [hit.document for hit in hits] == ["claims.md", "gate hours.md", *names[2:]]
    assert [hit.score is None for hit in hits] == [False, False, True, True]


def test_the_score_is_half_maxsim_half_cosine(around, models):
    """Counted again from the token vectors, within the rounding of the cache."""
    text = TEXTS["claims.md"]
    (hit,) = search(rerank(around, MemoryRetriever({"broken box": [{"id": "c", "passage": text}]})), "broken box").hits
    embedder = Embedder(models / "minilm-l6")
    query, passage = embedder.embed("broken box"), embedder.embed(text)
    similar = max(float(query.tokens[0] @ token) for token in passage.tokens)
    similar += max(float(query.tokens[1] @ token) for token in passage.tokens)
    assert hit.score == pytest.approx(0.5 * similar / 2 + 0.5 * float(query.text @ passage.text), abs=2e-3)


def test_token_vectors_are_kept(around, counted):
    """A second reranker asks the model only for the query, and gives the same scores."""
    prepared = {"broken box": [{"id": "c", "passage": TEXTS["claims.md"]}]}
    first = search(rerank(around, MemoryRetriever(prepared)), "broken box")
    counted.clear()
    assert search(rerank(around, MemoryRetriever(prepared)), "broken box") == first
    assert counted == ["broken box"]


def test_reranking_documents_outside_the_corpus_is_an_error(around):
    """Without a passage and without the document there is nothing to compare."""
    with pytest.raises(EngineError, match="gives no passages"):
        search(rerank(around, MemoryRetriever({"x": ["gone.md"]})), "x")


def test_nothing_to_rerank_stays_nothing(around):
    """An empty answer, and an abstention, come through."""
    assert search(rerank(around, MemoryRetriever({"x": []})), "x").hits == ()
    assert search(rerank(around, MemoryRetriever({"x": {"abstain": True}})), "x").abstained


def test_a_query_without_tokens_is_no_error(around):
    """An empty query is reranked by cosine alone."""
    assert len(search(rerank(around, MemoryRetriever({"": ["claims.md", "tracing.md"]})), "").hits) == 2


def test_the_store_gives_back_what_it_was_given(tmp_path):
    """One row and many rows, and nothing for what is not there; more digests than one statement takes."""
    store = VectorStore(tmp_path / "v.sqlite")
    many = {digest_of(str(n)): np.full((1, 3), n, dtype=np.float32) for n in range(1200)}
    store.write(many.items())
    store.close()
    found = store.read([*many, digest_of("absent")])
    store.close()
    assert found.keys() == many.keys()
    assert all(np.array_equal(found[key], many[key]) for key in many)


def test_two_stores_may_write_to_one_file(tmp_path):
    """Two processes embedding at once do not lose each other's vectors."""
    one, two = VectorStore(tmp_path / "v.sqlite"), VectorStore(tmp_path / "v.sqlite")
    one.write([(digest_of("a"), np.ones((1, 2), dtype=np.float32))])
    two.write([(digest_of("b"), np.ones((1, 2), dtype=np.float32))])
    assert len(one.read([digest_of("a"), digest_of("b")])) == 2
    one.close()
    two.close()


def test_documents_are_reranked_by_their_text(around):
    """A retriever that gives ids only is reranked on the corpus' texts."""
    corpus = SmallDocuments(TEXTS)
    hits = search(
        rerank(replace(around, documents=corpus), MemoryRetriever({"damaged goods": list(TEXTS)})),
        "damaged goods",
    ).hits
    assert hits[0] == Hit("claims.md", hits[0].score)
