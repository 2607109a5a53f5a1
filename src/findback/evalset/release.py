"""A release: an immutable numbered folder, written under a temporary name and renamed once."""

import hashlib
import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import orjson
from pydantic import Field, ValidationError

from findback.errors import DataError, Fault, MissingError, RefusedError
from findback.evalset.cases import case_line, read_cases
from findback.evalset.checks import ANY_LEAK, DEFAULT_LEAK_LIMIT
from findback.evalset.glossary import GLOSSARY, read_glossary
from findback.evalset.manifest import MANIFEST, Digest, Manifest, manifest_bytes, read_manifest
from findback.evalset.sentences import sentences
from findback.evalset.textfile import Faults, open_file, read_lines
from findback.files import TEMPORARY, storage_errors, write_atomically
from findback.model.case import Case, CaseId, DocumentId, Name
from findback.model.record import Record

CASES = "cases.jsonl"
MEASURED = "measured.jsonl"
DOCUMENTS = "documents.jsonl"
FILES = (CASES, MEASURED, DOCUMENTS)
RELEASES = "releases"
_LINE_LIMIT = 100_000

Share = Annotated[float, Field(ge=0, le=1)]
Row = TypeVar("Row", bound=Record)


class MeasuredGold(Record):
    """One line of `measured.jsonl`: how much of a case's wording stands in one of its golds."""

    case: CaseId
    doc: DocumentId
    leak: Share | None
    """Share of the query's rare words in the window; None when it cannot be told."""
    leak_reason: Name | None = None
    """Why not."""
    overlap: Share | None
    """Share of the query's content words in the window; None when it cannot be told."""
    overlap_reason: Name | None = None
    """Why not."""
    window: Annotated[int, Field(ge=1)] | None
    """Characters of the gold that were compared; None where there was no text."""
    tokenizer: Name


class GoldDocument(Record):
    """One line of `documents.jsonl`: a gold document as it was."""

    id: DocumentId
    sha256: Digest | None
    """Digest of its text; None where it is no document of the corpus, or there was none."""


class Content(NamedTuple):
    """What a release holds beside its manifest."""

    cases: tuple[Case, ...]
    measured: tuple[MeasuredGold, ...]
    documents: tuple[GoldDocument, ...]

    def files(self) -> dict[str, bytes]:
        """Return the files by name, sorted within: the same content gives the same bytes."""
        cases = sorted(self.cases, key=lambda case: case.id)
        measured = sorted(self.measured, key=lambda row: (row.case, row.doc))
        documents = sorted(self.documents, key=lambda row: row.id)
        return {CASES: b"".join(map(case_line, cases)), MEASURED: _lines(measured), DOCUMENTS: _lines(documents)}


class Release(NamedTuple):
    """A release as it was read."""

    manifest: Manifest
    content: Content


def release_folder(evalset: Path, number: int) -> Path:
    """Return where a release lies."""
    return evalset / RELEASES / str(number)


def list_numbers(evalset: Path) -> list[int]:
    """Return the numbers of all releases, rising; none where nothing was released."""
    folder = evalset / RELEASES
    if not folder.is_dir():
        return []
    return sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal() and path.is_dir())


def write_release(evalset: Path, manifest: Manifest, content: Content) -> Path:
    """Write a release and return its folder; one with the same bytes may be there already.

    Args:
        evalset: Folder of the set.
        manifest: What it says about itself; the digests are put in here.
        content: What it holds, already checked.

    Raises:
        RefusedError: If the number is used for other bytes: a release never changes.
        StorageError: If the disk refuses; there is no folder of that number then.
    """
    files = content.files()
    whole = manifest.model_copy(update={"digests": digests_of(files)})
    files[MANIFEST] = manifest_bytes(whole)
    target = release_folder(evalset, manifest.number)
    if target.exists():
        return _compare(target, files)
    temporary = target.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
    with storage_errors(target):
        temporary.mkdir(parents=True)
        try:
            for name, data in files.items():
                write_atomically(temporary / name, data)
            temporary.rename(target)
        except FileExistsError:
            return _compare(target, files)
        except OSError:
            # Where a release of that number came first, the rename fails in a way of each system's own.
            if target.exists():
                return _compare(target, files)
            raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return target


def _compare(target: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        path = target / name
        if not path.is_file() or path.read_bytes() != data:
            raise RefusedError(
                f"release {target.name} is there already with another {name}, and a release never changes",
                hint="release again: it gets the next number",
            )
    return target


def digests_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the sha256 of each file, in the order of `FILES`."""
    return {name: hashlib.sha256(files[name]).hexdigest() for name in FILES}


def read_release(folder: Path, *, leak_limit: float = ANY_LEAK) -> Release:
    """Return a release; every file is checked against its digest, every case against what must hold.

    Raises:
        MissingError: If there is no such release.
        DataError: If it is not as it was published; every fault is listed.
    """
    if not folder.is_dir():
        raise MissingError(f"there is no release {folder.name}", hint="findback releases lists them")
    manifest = read_manifest(folder)
    faults = find_damage(folder, manifest)
    if faults:
        raise DataError(
            f"{folder} is not release {manifest.number} as it was published",
            faults=faults,
            hint="a release never changes: restore it from version control; after a withdrawal that was interrupted,"
            " withdraw again",
        )
    cases = read_cases(folder / CASES, leak_limit=leak_limit)
    measured = read_rows(folder / MEASURED, MeasuredGold)
    documents = read_rows(folder / DOCUMENTS, GoldDocument)
    return Release(manifest, Content(cases, measured, documents))


def find_damage(folder: Path, manifest: Manifest) -> list[Fault]:
    """Return what differs from the digests of a release's manifest; nothing for a sound one."""
    faults = []
    for name in FILES:
        path = folder / name
        if name not in manifest.digests:
            faults.append(Fault(str(folder / MANIFEST), None, f"`digests` does not name {name}"))
        elif not path.is_file():
            faults.append(Fault(str(path), None, "it is not there"))
        elif _digest(path) != manifest.digests[name]:
            faults.append(Fault(str(path), None, "it has another digest than the manifest says"))
    return faults


def check_set(evalset: Path, *, leak_limit: float = DEFAULT_LEAK_LIMIT) -> list[Fault]:
    """Return everything that is wrong with a set: its head, each release and its glossary, as far as they can be read.

    Args:
        evalset: Folder of a set, or of one release; anything else has neither head nor releases.
        leak_limit: Most leak of a generated case in the head; releases were made under the limit of their time.
    """
    faults: list[Fault] = []
    head = evalset / CASES
    places = [release_folder(evalset, number) for number in list_numbers(evalset)]
    if (evalset / MANIFEST).exists():
        places = [evalset]
    elif head.exists():
        places = [head, *places]
    if (evalset / GLOSSARY).exists():
        places.append(evalset / GLOSSARY)
    for place in places:
        try:
            if place == head:
                read_cases(head, leak_limit=leak_limit)
            elif place.name == GLOSSARY:
                read_glossary(place)
            else:
                read_release(place)
        except DataError as error:
            faults += error.faults or [Fault(str(place), None, error.message)]
        except MissingError as error:
            faults.append(Fault(str(place), None, error.message))
    return faults


def read_rows(path: Path, kind: type[Row]) -> tuple[Row, ...]:
    """Return the rows of one of a release's files.

    Raises:
        DataError: With every fault of the file.
    """
    faults = Faults()
    rows = []
    for line in read_lines(path, faults, limit=_LINE_LIMIT):
        try:
            rows.append(kind.model_validate_json(line.text, strict=True))
        except ValidationError as error:
            for sentence in sentences(error):
                faults.add(path, line.number, sentence)
    faults.settle(path.name, skip_bad=False, hint=f"mend the line, or restore {path} from version control")
    return tuple(rows)


def _lines(rows: Iterable[Record]) -> bytes:
    return b"".join(orjson.dumps(row.model_dump(mode="python")) + b"\n" for row in rows)


def _digest(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
