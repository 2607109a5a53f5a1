"""One contract for every reader: the same documents read alike wherever they come from."""

import csv
import json
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from findback.corpus.corpus import Corpus
from findback.corpus.open import open_corpus
from findback.model.settings import CorpusSettings

DOCUMENTS = {
    "guides/set up.md": '# Set up\n\nPlug it in, "twice"; then wait.\n\nDone, or not.\n',
    "guides/grün.md": "Für Grün: 絵文字 🎉 and a | bar\n",
    "notes.md": "Line one\nline two",
    "z.md": "",
}


def write_folder(folder: Path, documents: dict[str, str]) -> CorpusSettings:
    """Write a folder of pages with Windows line ends."""
    for name, text in documents.items():
        file = folder / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.replace("\n", "\r\n").encode())
    return CorpusSettings(path="docs")


def write_jsonl(folder: Path, documents: dict[str, str]) -> CorpusSettings:
    """Write JSON Lines with a byte order mark."""
    lines = [json.dumps({"id": name, "text": text}) for name, text in documents.items()]
    (folder / "docs.jsonl").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    return CorpusSettings(path="docs.jsonl")


def write_csv(folder: Path, documents: dict[str, str]) -> CorpusSettings:
    """Write CSV as spreadsheets on European machines do."""
    with (folder / "docs.csv").open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["text", "id"])
        writer.writerows([text, name] for name, text in documents.items())
    return CorpusSettings(path="docs.csv")


def write_utf16(folder: Path, documents: dict[str, str]) -> CorpusSettings:
    """Write tab-separated UTF-16, as spreadsheets export "Unicode text"."""
    with (folder / "docs.tsv").open("w", newline="", encoding="utf-16") as file:
        writer = csv.writer(file, delimiter="\t")
        writer.writerow(["id", "text"])
        writer.writerows(documents.items())
    return CorpusSettings(path="docs.tsv")


def write_parquet(folder: Path, documents: dict[str, str]) -> CorpusSettings:
    """Write Parquet."""
    table = pa.table({"id": list(documents), "text": list(documents.values())})
    pq.write_table(table, folder / "docs.parquet")
    return CorpusSettings(path="docs.parquet")


def write_beir(folder: Path, documents: dict[str, str]) -> CorpusSettings:
    """Write a BEIR folder."""
    (folder / "beir").mkdir()
    lines = [json.dumps({"_id": name, "title": "", "text": text}) for name, text in documents.items()]
    (folder / "beir" / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    return CorpusSettings(path="beir")


WRITERS = {
    "folder": write_folder,
    "jsonl": write_jsonl,
    "csv": write_csv,
    "csv-utf16": write_utf16,
    "parquet": write_parquet,
    "beir": write_beir,
}
Writer = Callable[[Path, dict[str, str]], CorpusSettings]


@pytest.fixture(params=WRITERS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return each kind in turn."""
    return str(request.param)


def read(folder: Path, writer: Writer, documents: dict[str, str]) -> Corpus:
    """Return the corpus a writer's output is read as."""
    return open_corpus(writer(folder, documents), base=folder)


def test_every_reader_gives_the_same_documents(kind: str, tmp_path: Path) -> None:
    """Ids and texts are the same from every kind of place."""
    corpus = read(tmp_path, WRITERS[kind], DOCUMENTS)
    assert {document.id: document.text for document in corpus} == DOCUMENTS
    assert corpus.kind == kind.partition("-")[0]
    assert any(corpus.recognised in note for note in corpus.notes)


def test_order_of_files_does_not_matter(kind: str, tmp_path: Path) -> None:
    """The digest and the order of documents are the same whatever the order in the file."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    one = read(tmp_path / "a", WRITERS[kind], DOCUMENTS)
    other = read(tmp_path / "b", WRITERS[kind], dict(reversed(DOCUMENTS.items())))
    assert one.digest == other.digest
    assert [document.id for document in one] == [document.id for document in other] == sorted(DOCUMENTS)


def test_digest_follows_text(kind: str, tmp_path: Path) -> None:
    """One changed letter is another digest."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    one = read(tmp_path / "a", WRITERS[kind], DOCUMENTS)
    other = read(tmp_path / "b", WRITERS[kind], DOCUMENTS | {"notes.md": "Line one\nline Two"})
    assert one.digest != other.digest


def test_every_reader_is_a_documents_protocol(kind: str, tmp_path: Path) -> None:
    """Length, get, resolve and membership agree with iteration."""
    corpus = read(tmp_path, WRITERS[kind], DOCUMENTS)
    assert len(corpus) == 4
    assert corpus.get("notes.md") in list(corpus)
    assert corpus.get("Notes") is None
    assert corpus.resolve("Notes") == "notes.md"
    assert corpus.resolve("/guides/set%20up.html#done") == "guides/set up.md"
    assert corpus.resolve("nowhere") is None
    assert "notes.md" in corpus


def test_streaming_holds_what_reading_holds(kind: str, tmp_path: Path) -> None:
    """Streamed documents are the corpus' own, in the order of the source."""
    corpus = read(tmp_path, WRITERS[kind], DOCUMENTS)
    streamed = [document.id for document in corpus.iter_documents()]
    assert sorted(streamed) == sorted(DOCUMENTS)
    if kind != "folder":
        assert streamed == list(DOCUMENTS)


def test_real_jsonl(data: Path) -> None:
    """The Ubuntu help texts are 546 documents, and each answers to its aliases."""
    corpus = open_corpus(CorpusSettings(path="ubuntu/corpus.jsonl"), base=data)
    assert len(corpus) == 546
    assert corpus.faults == ()
    assert all(corpus.resolve(document.id) == document.id for document in corpus)
    assert all(document.text for document in corpus)


def test_real_parquet(data: Path) -> None:
    """A foreign Parquet file is read with its own column names, and its nested times."""
    corpus = open_corpus(CorpusSettings(path="autorag-en/corpus_data_sample.parquet"), base=data)
    assert len(corpus) == 30
    assert all(document.modified is not None for document in corpus)
    assert "autorag-en/corpus_data_sample.parquet: the id is taken from 'doc_id' (there is no 'id')" in corpus.notes


def test_real_folder(data: Path) -> None:
    """Five long Markdown files are five documents."""
    corpus = open_corpus(CorpusSettings(path="chroma/corpora"), base=data)
    assert [document.id for document in corpus] == [
        "chatlogs.md",
        "finance.md",
        "pubmed.md",
        "state_of_the_union.md",
        "wikitexts.md",
    ]


def test_aliases_of_two_documents_mean_neither(tmp_path: Path) -> None:
    """A name two documents claim resolves to none, and the notes count it."""
    rows = [json.dumps({"id": name, "text": "x", "aliases": ["old"]}) for name in "ab"]
    (tmp_path / "d.jsonl").write_text("\n".join(rows))
    corpus = open_corpus(CorpusSettings(path="d.jsonl"), base=tmp_path)
    assert corpus.resolve("old") is None
    assert "aliases and addresses of more than one document, taken as none's: 1" in corpus.notes


def test_a_folder_of_tables(tmp_path: Path) -> None:
    """A folder of shards and no pages is read as one table, in the order of names; one page makes it pages."""
    for name in ("b", "a"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": name, "text": name}))
    corpus = open_corpus(CorpusSettings(path="."), base=tmp_path)
    assert (corpus.kind, corpus.recognised) == ("jsonl", "it holds .jsonl files and no pages")
    assert [document.id for document in corpus.iter_documents()] == ["a", "b"]
    (tmp_path / "page.md").write_text("x")
    assert open_corpus(CorpusSettings(path="."), base=tmp_path).kind == "folder"


def test_a_crowd_of_small_documents_is_read_fast(tmp_path: Path) -> None:
    """Twenty thousand small documents take well under five seconds."""
    row = '{"id": "doc/%d", "title": "t", "text": "some words here", "updated": "2024-01-01"}'
    (tmp_path / "d.jsonl").write_text("\n".join(row % number for number in range(20_000)))
    began = time.process_time()
    assert len(open_corpus(CorpusSettings(path="d.jsonl"), base=tmp_path)) == 20_000
    assert time.process_time() - began < 5


def test_roles_that_may_read_a_document(tmp_path: Path) -> None:
    """A list, a comma-separated text or one role; a document without them, or with an empty field, is for everybody."""
    pages = {
        "list.md": "---\nreaders: [staff, partner]\n---\nText",
        "text.md": "---\nreaders: staff,  partner,\n---\nText",
        "one.md": "---\nreaders: staff\n---\nText",
        "empty.md": "---\nreaders:\n---\nText",
        "none.md": "Text",
        "odd.md": "---\nreaders: {a: b}\n---\nText",
    }
    (tmp_path / "docs").mkdir()
    for name, text in pages.items():
        (tmp_path / "docs" / name).write_text(text)
    corpus = open_corpus(CorpusSettings(path="docs", audience_field="readers"), base=tmp_path)
    both = ("staff", "partner")
    found = {document.id: document.audience for document in corpus}
    assert found == {"list.md": both, "text.md": both, "one.md": both[:1], "empty.md": (), "none.md": (), "odd.md": ()}
    assert all("readers" not in document.metadata for document in corpus)
    assert "values of 'readers' that name no role, taken as for everybody: 1" in corpus.notes
    assert corpus.names_audiences
    unread = open_corpus(CorpusSettings(path="docs"), base=tmp_path)
    assert not unread.names_audiences
    assert not any(document.audience for document in unread)


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_roles_in_tables(tmp_path: Path, form: str) -> None:
    """A column names the roles, in JSON Lines as a list."""
    rows = {
        "jsonl": '{"id": "a", "text": "x", "who": ["staff", "hr"]}\n{"id": "b", "text": "x"}\n',
        "csv": 'id,text,who\na,x,"staff, hr"\nb,x,\n',
    }
    (tmp_path / f"docs.{form}").write_text(rows[form])
    corpus = open_corpus(CorpusSettings(path=f"docs.{form}", audience_field="who"), base=tmp_path)
    assert {document.id: document.audience for document in corpus} == {"a": ("staff", "hr"), "b": ()}
