"""Whatever a corpus holds, reading it ends in documents or in an error that says where and what to do."""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from findback.corpus.corpus import Corpus
from findback.corpus.findings import Findings
from findback.corpus.open import open_corpus
from findback.errors import DataError, Fault, FindbackError, MissingError, SettingsError
from findback.model.settings import CorpusSettings


def opened(folder: Path, name: str, content: bytes, *, skip_bad: bool = False, **options: object) -> Corpus:
    """Write one file and open it."""
    (folder / name).write_bytes(content)
    return open_corpus(CorpusSettings(path=name, **options), base=folder, skip_bad=skip_bad)


def faults_of(corpus: Corpus) -> list[Fault]:
    """Return the faults reading ends in."""
    with pytest.raises(DataError) as caught:
        len(corpus)
    assert caught.value.hint
    return list(caught.value.faults)


def test_every_bad_line_of_jsonl_is_named(tmp_path: Path) -> None:
    """Truncated, wrong and foreign lines come together, each with its line."""
    lines = [
        b'{"id": "a", "text": "fine"}',
        b'{"id": "b", "text": "cut o',
        b"[1, 2]",
        b'{"id": "c", "text": "caf\xe9"}',
        b"",
        b'{"id": "d", "text": NaN}',
        b'{"id": "e"}',
        b'{"id": "f", "text": "\\ud800"}',
        b'{"id": "a", "text": "again"}',
        b'{"text": "nobody"}',
        b'{"id": "g", "text": ["a"]}',
        b'{"id": "h", "text": "a\\u0000b"}',
    ]
    found = faults_of(opened(tmp_path, "d.jsonl", b"\n".join(lines)))
    assert [fault.line for fault in found] == [2, 3, 4, 6, 7, 8, 9, 10, 11, 12]
    messages = [fault.message for fault in found]
    assert "not valid JSON" in messages[0]
    assert messages[1] == "a JSON list where an object is expected"
    assert messages[2] == "byte 86: is not UTF-8"
    assert messages[4] == "nothing in 'text'"
    assert messages[6] == "the id 'a' is there twice, first on line 1"
    assert messages[7] == "there is no 'id' to take the id from"
    assert messages[9] == "the text holds a NUL character"


def test_bad_lines_are_left_out_only_when_asked(tmp_path: Path) -> None:
    """With skip_bad the good documents are there and the bad ones are counted."""
    corpus = opened(tmp_path, "d.jsonl", b'{"id": "a", "text": "x"}\nbroken\n', skip_bad=True)
    assert [document.id for document in corpus] == ["a"]
    assert [fault.line for fault in corpus.faults] == [2]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (b'""', "there is no id"),
        (b'"  "', "the id is blank"),
        (b'"a\\nb"', "the id holds a control character (U+000A)"),
        (b'"a\\u0000b"', "the id holds a control character (U+0000)"),
        (b'"a\\u2028b"', "the id holds a control character (U+2028)"),
        (b"null", "there is no id"),
        (b"[1]", "the id is a list, not text"),
        (b"true", "the id is a bool, not text"),
        (b"123456789012345678901234", "the id is a number that loses digits; write it as text"),
    ],
)
def test_ids_that_cannot_be_ids(written: bytes, said: str, tmp_path: Path) -> None:
    """What cannot be told apart or written to a line is refused as an id, with the reason."""
    found = faults_of(opened(tmp_path, "d.jsonl", b'{"id": ' + written + b', "text": "x"}'))
    assert [(fault.line, fault.message) for fault in found] == [(1, said)]


def test_ids_that_can_be_ids(tmp_path: Path) -> None:
    """Spaces, other scripts, marks and numbers are fine."""
    rows = [' {"id": "a b/ü #1?.md", "text": ""}', '{"id": 7, "text": ""}', '{"id": "0012", "text": ""}']
    corpus = opened(tmp_path, "d.jsonl", "\n".join(rows).encode())
    assert [document.id for document in corpus] == ["0012", "7", "a b/ü #1?.md"]


def test_a_json_array_is_told_from_json_lines(tmp_path: Path) -> None:
    """The commonest mistake has its own hint."""
    with pytest.raises(DataError, match="one JSON array") as caught:
        len(opened(tmp_path, "d.jsonl", b'[\n{"id": "a"}\n]'))
    assert "jq" in str(caught.value.hint)


def test_missing_columns_are_listed(tmp_path: Path) -> None:
    """A table without text says which columns it has and which option names one."""
    with pytest.raises(DataError, match="has no column 'text'") as caught:
        len(opened(tmp_path, "d.csv", b"id,inhalt\n1,x\n"))
    assert "'inhalt'" in str(caught.value.hint)
    assert "text_field" in str(caught.value.hint)


def test_well_known_columns_are_found_and_said(tmp_path: Path) -> None:
    """Other people's column names are taken where the usual ones are absent, and the notes say so."""
    corpus = opened(tmp_path, "d.csv", b"doc_id\tcontents\n1\tx\n")
    assert [(document.id, document.text) for document in corpus] == [("1", "x")]
    assert "d.csv: the id is taken from 'doc_id' (there is no 'id')" in corpus.notes
    assert "d.csv: cells are parted by tabs" in corpus.notes


def test_a_named_column_is_never_replaced(tmp_path: Path) -> None:
    """A column the user named and the table lacks is an error, not a guess."""
    with pytest.raises(DataError, match="has no column 'body_en'"):
        len(opened(tmp_path, "d.csv", b"id,text\n1,x\n", text_field="body_en"))


def test_csv_quoting(tmp_path: Path) -> None:
    """Quoted line ends stay, wrong cell counts and open quotes are named by the line where they start."""
    content = b'id,text\r\na,"one\r\ntwo"\r\nb\r\nc,x,y\r\nd,"open\r\n'
    found = faults_of(opened(tmp_path, "d.csv", content))
    assert [fault.line for fault in found] == [4, 5, 6]
    kept = opened(tmp_path, "d.csv", content, skip_bad=True)
    assert [(document.id, document.text) for document in kept] == [("a", "one\ntwo")]


def test_csv_in_another_encoding(tmp_path: Path) -> None:
    """An undecodable cell is a fault with byte and line, once."""
    found = faults_of(opened(tmp_path, "d.csv", b"id,text\na,fine\nb,caf\xe9\nc,fine\n"))
    assert found == [Fault("d.csv", 3, "byte 20: is not UTF-8")]


def test_a_column_named_twice(tmp_path: Path) -> None:
    """A header that names a column twice is refused."""
    with pytest.raises(DataError, match="names a column twice: 'text'"):
        len(opened(tmp_path, "d.csv", b"id,text,text\n1,a,b\n"))


@pytest.mark.parametrize("name", ["d.jsonl", "d.csv", "d.tsv", "d.parquet", "d.ndjson"])
def test_empty_tables(name: str, tmp_path: Path) -> None:
    """An empty table is an error with a hint, not a corpus of nothing."""
    with pytest.raises(DataError) as caught:
        len(opened(tmp_path, name, b""))
    assert caught.value.hint


def test_an_empty_folder(tmp_path: Path) -> None:
    """A folder without pages is an error that says what was left out."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "logo.png").write_bytes(b"\x89PNG\0")
    with pytest.raises(DataError, match="holds no document") as caught:
        len(open_corpus(CorpusSettings(path="docs"), base=tmp_path))
    assert "files of another kind (.png), left out: 1" in str(caught.value.hint)


@pytest.mark.parametrize("path", ["gone", "gone.jsonl", "a\0b", "x" * 5_000])
def test_a_missing_place(path: str, tmp_path: Path) -> None:
    """A path with nothing behind it is a MissingError with a hint."""
    with pytest.raises(MissingError) as caught:
        open_corpus(CorpusSettings(path=path), base=tmp_path)
    assert caught.value.hint


def test_an_unknown_kind(tmp_path: Path) -> None:
    """A file or kind nobody knows is named, with the kinds there are."""
    (tmp_path / "d.xyz").write_text("x")
    with pytest.raises(MissingError, match="no known kind") as caught:
        open_corpus(CorpusSettings(path="d.xyz"), base=tmp_path)
    assert "parquet" in str(caught.value.hint)
    with pytest.raises(MissingError, match="no kind of corpus named 'xyz'"):
        open_corpus(CorpusSettings(path="d.xyz", kind="xyz"), base=tmp_path)


def test_a_million_character_line(tmp_path: Path) -> None:
    """One line of a million characters is an ordinary document, in every kind of table."""
    text = "word " * 200_000
    for name, content in (
        ("d.jsonl", '{"id": "a", "text": "' + text + '"}'),
        ("d.csv", f"id,text\na,{text}\n"),
        ("d.md", text),
    ):
        corpus = opened(tmp_path, name, content.encode())
        assert [len(document.text) for document in corpus] == [1_000_000]


def test_a_document_beyond_the_limit(tmp_path: Path) -> None:
    """More than ten million bytes are a fault that states the limit."""
    long = b"x" * 10_000_001
    assert faults_of(opened(tmp_path, "d.md", long)) == [
        Fault("d.md", None, "the file is longer than 10,000,000 bytes")
    ]
    found = faults_of(opened(tmp_path, "d.jsonl", b'{"id": "a", "text": "' + long + b'"}\n{"id": "b", "text": ""}'))
    assert found == [Fault("d.jsonl", 1, "the text is longer than 10,000,000 bytes")]


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b"one\ntw\xff\n", 2, "byte 6: is not UTF-8; save it as UTF-8"),
        (
            b"one\ntwo\0\n",
            2,
            "byte 7: holds a NUL byte, so it is no text (or UTF-16 without its mark); save it as UTF-8",
        ),
        (b"\xff\xfea\x00\x00", 1, "byte 4: is not UTF-16; save it as UTF-8"),
        (b"---\ntitle: [a\n---\nx", 1, "the front matter is not valid YAML (line 3)"),
        (
            b"---\na: &x [1]\nb: *x\n---\nx",
            1,
            "the front matter refers to itself (YAML aliases are not read)",
        ),
    ],
)
def test_pages_that_are_no_text(content: bytes, line: int, said: str, tmp_path: Path) -> None:
    """A page that cannot be decoded or has broken front matter is named by file, line and byte."""
    assert faults_of(opened(tmp_path, "p.md", content)) == [Fault("p.md", line, said)]


def test_marks_and_line_ends_are_folded(tmp_path: Path) -> None:
    """Byte order marks go, every line end is a line feed."""
    for content in (b"\xef\xbb\xbfa\r\nb\rc", "a\r\nb\rc".encode("utf-16"), "a\nb\nc".encode("utf-32")):
        assert [document.text for document in opened(tmp_path, "p.txt", content)] == ["a\nb\nc"]


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    """Front matter and JSON nested thousands deep are faults, not crashes."""
    assert "front matter" in faults_of(opened(tmp_path, "p.md", b"---\na: " + b"- " * 30_000 + b"x\n---\n"))[0].message
    assert faults_of(opened(tmp_path, "d.jsonl", b'{"id": ' + b"[" * 100_000))[0].line == 1


def test_links_stay_inside(tmp_path: Path) -> None:
    """Loops and ways out are counted, links inside are further names, hidden folders are not entered."""
    docs = tmp_path / "docs"
    (docs / "v2" / "deep").mkdir(parents=True)
    (docs / "v2" / "page.md").write_text("Page")
    (docs / ".git").mkdir()
    (docs / ".git" / "secret.md").write_text("hidden")
    (docs / "node_modules").mkdir()
    (docs / "node_modules" / "readme.md").write_text("foreign")
    (tmp_path / "outside.md").write_text("outside")
    (docs / "v2" / "deep" / "loop").symlink_to(docs, target_is_directory=True)
    (docs / "self.md").symlink_to("self.md")
    (docs / "out.md").symlink_to("../outside.md")
    (docs / "up").symlink_to("..", target_is_directory=True)
    (docs / "latest").symlink_to("v2", target_is_directory=True)
    (docs / "old.md").symlink_to("v2/page.md")
    os.mkfifo(docs / "pipe.md")
    corpus = open_corpus(CorpusSettings(path="docs"), base=tmp_path)
    assert [document.id for document in corpus] == ["v2/page.md"]
    assert corpus.resolve("latest/page") == corpus.resolve("old.md") == "v2/page.md"
    assert corpus.resolve("outside.md") is None
    notes = "\n".join(corpus.notes)
    assert "links that lead back to a folder they are in, left out: 1" in notes
    assert "links that lead outside the folder or nowhere, left out: 3" in notes
    assert "hidden files and folders, left out: 1" in notes
    assert "folders named node_modules, left out: 1" in notes
    assert "devices, pipes and sockets, left out: 1" in notes


def test_an_unreadable_file_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file the system refuses is named, and the others are still judged."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("A")
    (tmp_path / "docs" / "b.md").write_text("B")
    opening = Path.open

    def refuse(self: Path, *arguments: object, **options: object) -> object:
        if self.name == "a.md":
            raise PermissionError(13, "Permission denied")
        return opening(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "open", refuse)
    found = faults_of(open_corpus(CorpusSettings(path="docs"), base=tmp_path))
    assert found == [Fault("docs/a.md", None, "cannot be read: permission denied")]


def test_faults_are_bounded() -> None:
    """A file of another kind gives a thousand faults at most, and then stops."""
    findings = Findings()
    for line in range(999):
        findings.fault("d.jsonl", line, "bad")
    with pytest.raises(DataError, match="gave up after 1,000 faults"):
        findings.fault("d.jsonl", 999, "bad")
    skipping = Findings(skip_bad=True)
    for line in range(2_000):
        skipping.fault("d.jsonl", line, "bad")
    assert (len(skipping.faults), skipping.dropped) == (1_000, 1_000)


@pytest.mark.parametrize(
    "options",
    [
        {"base_url": "ftp://example.org"},
        {"base_url": "https://user:word@example.org"},
        {"base_url": "https://[broken"},
        {"language": "english"},
    ],
)
def test_settings_that_make_no_sense(options: dict[str, str], tmp_path: Path) -> None:
    """Bad options are refused before anything is read."""
    with pytest.raises(SettingsError):
        opened(tmp_path, "p.md", b"x", **options)


def test_a_parquet_file_cut_short(tmp_path: Path) -> None:
    """Half a Parquet file is an error that names it."""
    pq.write_table(pa.table({"id": ["a"], "text": ["x"]}), tmp_path / "d.parquet")
    whole = (tmp_path / "d.parquet").read_bytes()
    with pytest.raises(DataError, match=r"d\.parquet cannot be read as Parquet"):
        len(opened(tmp_path, "d.parquet", whole[: len(whole) // 2]))


HOSTILE = st.one_of(
    st.binary(max_size=300),
    st.text(alphabet='{}[]":,;\\\n\r\t-<>!/&#|=.`*_ abidtextNUL\0\ufeff\u2028é', max_size=300).map(str.encode),
)


@pytest.mark.parametrize("name", ["f.md", "f.html", "f.rst", "f.txt", "f.jsonl", "f.csv", "f.tsv", "f.parquet"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=HOSTILE)
def test_nothing_but_our_errors(name: str, content: bytes, tmp_path: Path) -> None:
    """Any bytes under any name give documents or a FindbackError, also where bad ones are left out."""
    for skip_bad in (False, True):
        try:
            corpus = opened(tmp_path, name, content, skip_bad=skip_bad)
            for document in corpus:
                assert corpus.resolve(document.id) == document.id
                assert "\r" not in document.text
                assert "\0" not in document.text
                document.text.encode()
        except FindbackError:
            continue


def test_endless_character_reference_is_text(tmp_path: Path) -> None:
    """A character reference with thousands of digits is no crash: the page is read, whatever it stands for."""
    (tmp_path / "page.html").write_text("<h1>Title</h1><p>before &#" + "9" * 5000 + "; after</p>")
    corpus = open_corpus(CorpusSettings(path=str(tmp_path)), base=tmp_path)
    page = corpus.get("page.html")
    assert page is not None
    assert "before" in page.text
    assert "after" in page.text
