"""PDF, Word, PowerPoint and Excel files as documents, converted where they can do no harm."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from builders.office import write_docx, write_pdf
from findback.corpus import office as office_module
from findback.corpus.office import Office
from findback.corpus.open import open_corpus
from findback.errors import DataError, MissingLibraryError
from findback.model.settings import CorpusSettings

pytest.importorskip("markitdown")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with one file of each kind, and a page."""
    from openpyxl import Workbook
    from pptx import Presentation

    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "page.md").write_text("# Page\nPlain.\n", "utf-8")
    write_docx(folder / "badge.docx", "Lost badge", "Report it at the desk.")
    write_pdf(folder / "vpn.pdf", "Use the client")
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Rooms"
    deck.save(folder / "rooms.pptx")
    book = Workbook()
    book.active.title = "Phones"
    book.active.append(["room", "phone"])
    book.active.append(["A1", 7])
    book.save(folder / "phones.xlsx")
    return folder


def test_office_files_are_documents(docs: Path) -> None:
    """Each is a document under its path, its text as Markdown and a title where it has one."""
    corpus = open_corpus(CorpusSettings(path="docs", office=True), base=docs.parent)
    texts = {document.id: document.text for document in corpus}
    assert set(texts) == {"badge.docx", "page.md", "phones.xlsx", "rooms.pptx", "vpn.pdf"}
    assert "Report it at the desk." in texts["badge.docx"]
    assert "Use the client" in texts["vpn.pdf"]
    assert "| A1 | 7 |" in texts["phones.xlsx"]
    rooms = corpus.get("rooms.pptx")
    assert rooms is not None
    assert rooms.title == "Rooms"


def test_office_files_are_left_out_unless_asked_for(docs: Path) -> None:
    """Without the setting they are counted, and nothing is converted."""
    corpus = open_corpus(CorpusSettings(path="docs"), base=docs.parent)
    assert [document.id for document in corpus] == ["page.md"]
    assert "files of another kind (.docx), left out: 1" in corpus.notes


def test_broken_files_are_faults(docs: Path) -> None:
    """What is not what its name says, unpacks to too much or cannot be read is a fault; the others are converted."""
    (docs / "no.pdf").write_bytes(b"nothing")
    (docs / "no.xlsx").write_bytes(b"nothing")
    (docs / "cut.pdf").write_bytes(write_pdf(docs / "whole.pdf", "Whole").read_bytes()[:60])
    with (
        zipfile.ZipFile(docs / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("word/document.xml", "w", force_zip64=True) as member,
    ):
        for _ in range(501):
            member.write(bytes(1_000_000))
    corpus = open_corpus(CorpusSettings(path="docs", office=True), base=docs.parent, skip_bad=True)
    assert "Whole" in {document.id: document.text for document in corpus}["whole.pdf"]
    faults = {fault.path: fault.message for fault in corpus.faults}
    assert faults["docs/no.pdf"] == "it is no PDF"
    assert faults["docs/no.xlsx"] == "it is no xlsx file"
    assert faults["docs/bomb.docx"] == "it unpacks to more than 500,000,000 bytes"
    assert faults["docs/cut.pdf"].startswith("it cannot be read as pdf")


def test_entities_of_a_file_are_not_read(docs: Path) -> None:
    """A Word file that names a file of this machine does not get its content."""
    secret = docs.parent / "secret.txt"
    secret.write_text("the secret of this machine", "utf-8")
    head = f'<!DOCTYPE x [<!ENTITY s SYSTEM "{secret.as_uri()}">]>'
    path = write_docx(docs / "entity.docx", "before &s; after", head=head)
    with Office() as office:
        try:
            text = office.convert(path, "entity.docx").text
        except DataError as error:
            text = str(error)
    assert "the secret" not in text


def test_a_conversion_that_takes_too_long_is_ended(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that gets no answer in time is a fault, its process is ended, and the next file gets a new one."""
    with Office() as office:
        monkeypatch.setattr(office_module, "SECONDS", 0.0)
        with pytest.raises(DataError) as error:
            office.convert(docs / "vpn.pdf", "vpn.pdf")
        assert "its conversion was ended" in str(error.value)
        assert office._child is None
        monkeypatch.setattr(office_module, "SECONDS", 120.0)
        assert "Use the client" in office.convert(docs / "vpn.pdf", "vpn.pdf").text


def test_a_killed_process_is_a_fault(docs: Path) -> None:
    """A process that dies under a file does not take the reading along."""
    with Office() as office:
        office.convert(docs / "vpn.pdf", "vpn.pdf")
        child = office._child
        assert child is not None
        child.kill()
        child.wait()
        assert "Use the client" in office.convert(docs / "vpn.pdf", "vpn.pdf").text
    assert office._child is None


@pytest.mark.parametrize(
    "attempt",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import pathlib; pathlib.Path('written').write_bytes(b'x')",
        "bytearray(3 << 30)",
    ],
)
def test_the_process_is_bounded(tmp_path: Path, attempt: str) -> None:
    """Where files are parsed there is no network, no other program, no file with content, and not all memory."""
    code = f"from findback.corpus import officechild\nofficechild._bound()\n{attempt}"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(("PermissionError", "OSError", "MemoryError")), last
    assert not any(path.stat().st_size for path in tmp_path.iterdir())


def test_the_library_is_named(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without markitdown the error says what to install."""
    monkeypatch.setattr(office_module, "find_spec", lambda _name: None)
    with pytest.raises(MissingLibraryError) as error:
        len(open_corpus(CorpusSettings(path="docs", office=True), base=docs.parent))
    assert error.value.hint == "pip install 'findback[office]'"


def test_secrets_of_the_environment_stay_outside(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process gets none of the variables that could hold keys or change what is imported."""
    monkeypatch.setenv("OPENAI_API_KEY", "not for you")
    with Office() as office:
        office.convert(docs / "vpn.pdf", "vpn.pdf")
        assert office._child is not None
        environment = Path(f"/proc/{office._child.pid}/environ")
        if environment.exists():
            assert b"not for you" not in environment.read_bytes()
