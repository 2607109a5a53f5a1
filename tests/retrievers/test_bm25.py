"""BM25 over passages."""

import math
from dataclasses import replace

import pytest

from findback.errors import SettingsError
from findback.model.hits import Span
from findback.model.settings import RetrieverSettings
from findback.retrievers.bm25 import Bm25Retriever
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import TEXTS, SmallDocuments, SmallPassages
from retrievers.contract import ask, documents, search


def make(surroundings, **own):
    return Bm25Retriever.build("bm25", RetrieverSettings(kind="bm25", **own), surroundings)


@pytest.mark.parametrize("query", ["", "   ", "the of and", "xylophone quasar", "!?", "⟦USER_1⟧"])
def test_a_query_without_a_known_word_finds_nothing(surroundings, query):
    """Empty queries, function words and unknown words give an empty, exhausted answer."""
    answer = search(make(surroundings), query)
    assert answer.hits == ()
    assert answer.exhausted


def test_only_passages_with_a_word_of_the_query_come_back(surroundings):
    """`gate` stands in one document of four: one result, with its passage and place."""
    answer = search(make(surroundings), "When does the gate close?", 10)
    assert {hit.document for hit in answer.hits} == {"gate hours.md"}
    assert answer.hits[0].passage == TEXTS["gate hours.md"]
    assert answer.hits[0].span == Span(0, len(TEXTS["gate hours.md"]))


def test_the_score_is_lucenes_formula():
    """Two passages of two words, one holds the term once: ln(1 + 1.5/1.5) × 1 / (1 + 1.2)."""
    passages = SmallPassages({"a": "crane fuel", "b": "berth window"}, cut=False)
    answer = search(make(Surroundings(passages=passages), stop_words="none", stems=False), "crane")
    assert [hit.document for hit in answer.hits] == ["a"]
    assert answer.hits[0].score == pytest.approx(math.log(2) / 2.2, abs=1e-6)


def test_equal_scores_keep_the_order_of_the_corpus():
    """Five equal passages, three wanted: the first three, in order, every time."""
    passages = SmallPassages(dict.fromkeys("edcba", "crane fuel"), cut=False)
    for _ in range(3):
        found = search(make(Surroundings(passages=passages)), "crane", 3)
        assert [hit.document for hit in found.hits] == ["e", "d", "c"]
        assert not found.exhausted


def test_more_is_asked_for_until_there_are_enough_documents():
    """Two passages of the best document come first; two documents are found all the same."""
    passages = SmallPassages({"a": "crane one. crane two. crane three", "b": "crane in a long text about berths"})
    run = ask(make(Surroundings(passages=passages)), ["crane"], depth=2).run
    assert set(documents(run, 0)) == {"a", "b"}


def test_stems_meet_in_the_language_of_the_corpus():
    """`Prüfungen` finds `Prüfung` where the corpus is German."""
    texts = {"a.md": "die Prüfung der Papiere", "b.md": "das Tor ist offen"}
    german = Surroundings(documents=SmallDocuments(texts, "de"), passages=SmallPassages(texts))
    retriever = make(german)
    assert retriever.settings()["language"] == "de"
    assert [hit.document for hit in search(retriever, "Prüfungen").hits] == ["a.md"]


def test_scripts_without_spaces_are_found_by_pairs():
    """A Japanese word is found inside a sentence without spaces."""
    passages = SmallPassages({"ja.md": "返金額の確認方法", "en.md": "refund amount"}, cut=False)
    assert [hit.document for hit in search(make(Surroundings(passages=passages)), "返金額").hits] == ["ja.md"]


def test_the_index_is_cached_and_damage_is_repaired(surroundings):
    """A second retriever reads the first one's index; a truncated file makes it anew, with the same result."""
    first = search(make(surroundings), "lost parcel")
    folders = list((surroundings.cache / "bm25").iterdir())
    assert len(folders) == 1
    made_at = (folders[0] / "params.index.json").stat().st_mtime_ns
    fresh = replace(surroundings, kept={})
    assert search(make(fresh), "lost parcel") == first
    assert (folders[0] / "params.index.json").stat().st_mtime_ns == made_at
    (folders[0] / "data.csc.index.npy").write_bytes(b"\x93NUMPY")
    assert search(make(replace(surroundings, kept={})), "lost parcel") == first
    assert len(list((surroundings.cache / "bm25").iterdir())) == 1


def test_other_settings_get_another_index(surroundings):
    """k1 is part of the digest."""
    search(make(surroundings), "parcel")
    search(make(surroundings, k1=0.9), "parcel")
    assert len(list((surroundings.cache / "bm25").iterdir())) == 2


def test_an_empty_corpus_finds_nothing(tmp_path):
    """No passage, no word: an empty answer, not an error."""
    empty = Surroundings(passages=SmallPassages({}), cache=tmp_path)
    assert search(make(empty), "parcel").hits == ()


def test_existence_is_what_the_corpus_holds(surroundings):
    """A document of the corpus exists, another does not."""
    import asyncio

    retriever = make(surroundings)
    assert asyncio.run(retriever.exists("claims.md")) is True
    assert asyncio.run(retriever.exists("gone.md")) is False


def test_wrong_settings_are_named_together():
    """Every wrong key of the table is in one error, without the values."""
    with pytest.raises(SettingsError) as caught:
        make(Surroundings(passages=SmallPassages(TEXTS)), b=7, method="bm42", kk=1)
    for said in (
        "[retrievers.bm25] b:",
        "[retrievers.bm25] method:",
        "[retrievers.bm25] kk: unknown setting",
    ):
        assert said in str(caught.value)
    assert "bm42" not in str(caught.value)


def test_without_a_corpus_there_is_nothing_to_search():
    """The error names the setting to give."""
    with pytest.raises(SettingsError, match=r"\[retrievers.bm25\] searches the corpus"):
        make(Surroundings())


def test_reference_figures_on_real_questions(data):
    """348 real questions over 546 help texts: within .005 of bm25s' own recall@10 and reciprocal rank."""
    import json

    from findback.model.document import Passage

    class Texts:
        digest = "ubuntu"

        def __init__(self, rows):
            self.rows = rows

        def __len__(self):
            return len(self.rows)

        def __iter__(self):
            return iter(self.rows)

        def __getitem__(self, at):
            return self.rows[at]

    def lines(name):
        return [json.loads(line) for line in (data / "ubuntu" / name).read_text("utf-8").splitlines()]

    rows = [Passage(row["id"], Span(0, len(row["text"])), row["text"]) for row in lines("corpus.jsonl")]
    questions = lines("queries.jsonl")
    run = ask(make(Surroundings(passages=Texts(rows))), [row["query"] for row in questions], depth=10).run
    ranks = []
    for at, row in enumerate(questions):
        golds = {row["gold"]} if isinstance(row["gold"], str) else set(row["gold"])
        ranks.append(next((rank for rank, name in enumerate(documents(run, at), 1) if name in golds), None))
    assert sum(rank is not None for rank in ranks) / 348 == pytest.approx(0.431, abs=0.005)
    assert sum(1 / rank for rank in ranks if rank) / 348 == pytest.approx(0.255, abs=0.005)
