"""Another retriever, asked with the words a glossary adds."""

import asyncio
from pathlib import Path

import pytest

from builders.glossary import bare_workspace
from findback.errors import MissingError, SettingsError
from findback.model.case import Context
from findback.model.glossary import Glossary, Term
from findback.model.protocols import Query
from findback.model.settings import RetrieverSettings
from findback.retrievers.asking import config_digest
from findback.retrievers.build import build_retriever, list_trusted
from findback.retrievers.expand import ExpandRetriever, ExpandSettings
from findback.retrievers.memory import MemoryRetriever
from findback.retrievers.surroundings import Surroundings
from findback.steps.opening import SetRequest, open_documents, open_retrievers
from retrievers.builders import TEXTS, SmallDocuments, SmallPassages
from retrievers.contract import RetrieverContract, ask, search

PARCEL = Glossary(terms=(Term(when="package", add="parcel"), Term(when="gone", add="lost trace")))


def expand(first: MemoryRetriever, glossary: Glossary = PARCEL, **own: object) -> ExpandRetriever:
    return ExpandRetriever("more", ExpandSettings(of="first", **own), first, glossary, "en")


class TestExpand(RetrieverContract):
    """What it asks keeps every promise through it."""

    def open(self, answers: dict[str, object], folder: Path) -> ExpandRetriever:
        prepared = {
            text: ValueError(found["error"]) if isinstance(found, dict) and "error" in found else found
            for text, found in answers.items()
        }
        return expand(MemoryRetriever(prepared))


def test_the_question_is_asked_with_the_words_added() -> None:
    """Once, behind the question, with its context and k as they are."""
    first = MemoryRetriever(lambda query, k: ["a"])
    assert [hit.document for hit in search(expand(first), "packages GONE").hits] == ["a"]
    search(expand(first), "gate hours")
    assert [query.text for query, _ in first.asked] == ["packages GONE parcel lost trace", "gate hours"]


def test_weight_and_stems_are_settings() -> None:
    """The question stands twice; without stems `packages` is another word."""
    first = MemoryRetriever(lambda query, k: [])
    search(expand(first, weight=2, stems=False), "package")
    search(expand(first, stems=False), "packages")
    assert [query.text for query, _ in first.asked] == ["package package parcel", "packages"]


def test_terms_count_in_the_config_digest() -> None:
    """Another term, order, weight or retriever underneath is another configuration; evidence is not."""
    first = MemoryRetriever({})
    same = Glossary(terms=tuple(one.model_copy(update={"accepted_by": "reviewer"}) for one in PARCEL.terms))
    plain = config_digest(expand(first))
    assert config_digest(expand(first, same)) == plain
    others = [
        expand(first, Glossary(terms=PARCEL.terms[:1])),
        expand(first, Glossary(terms=PARCEL.terms[::-1])),
        expand(first, weight=2),
        expand(first, stems=False),
        expand(MemoryRetriever({}, readers={"a": ["x"]})),
    ]
    assert len({plain, *map(config_digest, others)}) == 6


def test_it_is_what_it_asks() -> None:
    """Honours, egress, direction and whether a document is there come from underneath."""
    first = MemoryRetriever({}, honours={"locale"}, score_direction="lower", holds={"a"})
    made = expand(first)
    assert (made.honours, made.egress, made.score_direction) == (frozenset({"locale"}), "local", "lower")
    run = ask(made, ["package"], depth=3).run
    assert (run.name, run.kind) == ("more", "expand")


def around(tmp_path: Path, **retrievers: RetrieverSettings) -> Surroundings:
    return Surroundings(
        documents=SmallDocuments(TEXTS),
        passages=SmallPassages(TEXTS),
        base=tmp_path,
        retrievers=retrievers,
        glossary=lambda path: PARCEL if path is None else Glossary(),
    )


def test_it_is_built_from_settings(tmp_path: Path) -> None:
    """A word no document holds finds the document whose word the glossary knows."""
    known = {
        "words": RetrieverSettings(kind="bm25"),
        "more": RetrieverSettings(kind="expand", of="words"),
        "other": RetrieverSettings(kind="expand", of="words", glossary="other.toml"),
    }
    surroundings = around(tmp_path, **known)
    found = {name: search(build_retriever(name, one, surroundings), "gone") for name, one in known.items()}
    assert [hit.document for hit in found["words"].hits] == []
    assert found["more"].hits[0].document == "tracing.md"
    assert found["other"].hits == ()
    assert list_trusted(known) == ()


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({}, "of: is needed"),
        ({"of": "none"}, "names 'none', which is not there"),
        ({"of": "more"}, "in a circle"),
        ({"of": "words", "weight": 0}, "weight"),
        ({"of": "words", "add": "x"}, "add: unknown setting"),
        ({"of": "kept"}, "kept is a recorded run"),
    ],
)
def test_settings_that_make_no_sense(tmp_path: Path, own: dict[str, object], said: str) -> None:
    """Each is refused before anything is searched."""
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 1.0 x\n")
    known = {
        "words": RetrieverSettings(kind="bm25"),
        "kept": RetrieverSettings(kind="file", path="run.txt"),
        "more": RetrieverSettings(kind="expand", **own),
    }
    with pytest.raises(SettingsError, match=said.replace("(", r"\(")):
        build_retriever("more", known["more"], around(tmp_path, **known))


def test_without_a_glossary_it_says_how_to_get_one(tmp_path: Path) -> None:
    """A workspace without glossary.toml has none to read."""
    workspace = bare_workspace(
        tmp_path, "[retrievers.words]\nkind = 'bm25'\n[retrievers.more]\nkind='expand'\nof='words'\n"
    )
    with pytest.raises(MissingError, match="there is no glossary at") as caught:
        open_retrievers(workspace, ["more"], open_documents(workspace, SetRequest()))
    assert "findback glossary suggest" in str(caught.value.hint)


def test_prepared_queries_keep_their_context() -> None:
    """Only the words change."""
    first = MemoryRetriever(lambda query, k: [], honours={"locale"})
    context = Context(locale="de")
    asyncio.run(expand(first).search(Query("package", context), 5))
    assert first.asked == [(Query("package parcel", context), 5)]
