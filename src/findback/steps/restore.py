"""Put a backup back: all of it or nothing, and without what was erased since it was made."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, BinaryIO

from findback.errors import FindbackError, MissingError, MissingLibraryError, RefusedError, UsageError
from findback.evalset.cases import read_cases
from findback.evalset.checks import ANY_LEAK
from findback.evalset.release import CASES, list_numbers, release_folder
from findback.files import storage_errors, write_atomically
from findback.model.protocols import SILENT, Progress
from findback.model.record import LOCAL_ONLY, Record, Request
from findback.privacy.key import FILE_NAME, VARIABLE, Key
from findback.steps.backup import AGE
from findback.steps.bench import bench_address, has_bench, open_bench, open_workspace_key
from findback.steps.kept import now
from findback.steps.ledger import ledger_file, read_ledger, record_erasures
from findback.steps.retention import retention_of
from findback.workbench.archive import Archive, open_archive
from findback.workbench.backup import load_archive
from findback.workbench.database import connect_database
from findback.workbench.gone import Gone, erase_loaded
from findback.workbench.migration import FORMAT
from findback.workbench.restoration import Past, Place, past_of, restore_into
from findback.workbench.tables import CANDIDATES
from findback.workbench.tables import CASES as CASE_TABLE
from findback.workspace import Workspace

UNPACKED = "restore-"
"""Begins the name of a folder in which a backup is unpacked; the number of its process follows."""
NOTHING_KNOWN = (
    "nothing is known of what was erased since this backup was made: if the list of it lies elsewhere "
    "(erased.jsonl, of the private folder the workbench had), run it again with --ledger FILE --replace"
)


class RestoreRequest(Request):
    """Put a backup back into the workbench of this workspace, in a file or on a server."""

    file: Annotated[Path, LOCAL_ONLY]
    """The backup."""
    identity: Annotated[Path | None, LOCAL_ONLY] = None
    """File of private keys of age, for an encrypted one."""
    replace: bool = False
    """Whether what the workbench holds may be replaced."""
    ledger: Annotated[Path | None, LOCAL_ONLY] = None
    """A further list of what was erased (erased.jsonl), where the private folder is a new one."""
    key_lost: bool = False
    """Restore although the key is gone for good: nobody is recognised again, and objections and erasures hold no
    more for what is mined from then on."""


class Restored(Record):
    """What was restored."""

    made: datetime
    """When the backup was made."""
    candidates: int
    cases: int
    migrated_from: int | None
    """Format of the workbench in it, where that was an older one."""
    erased: dict[str, int]
    """What was taken out of it: it was erased since, or its time is over."""
    notes: tuple[str, ...]


def restore(workspace: Workspace, request: RestoreRequest, *, progress: Progress = SILENT) -> Restored:
    """Restore a backup; a killed restore leaves the workbench as it was.

    Raises:
        MissingError: If the file, its key or a list is not there.
        UsageError: If the backup is encrypted and no private key opens it.
        DataError: If the backup is damaged.
        RefusedError: If a newer findback made it, another key did, or the workbench holds something.
        StorageError: If the disk or the database refuses.
    """
    moment = now()
    with ExitStack() as stack:
        folder = stack.enter_context(_private_folder(workspace))
        archive = stack.enter_context(_opened(request, folder))
        scratch = connect_database(folder / "restored.sqlite")
        stack.callback(scratch.close)
        load_archive(archive, scratch, progress)
        key = _find_key(workspace, archive, request)
        gone, notes = _what_is_gone(workspace, archive, request, moment)
        erased = erase_loaded(scratch, gone, retention_of(workspace), moment)
        place = Place(bench_address(workspace), key.id, request.replace)
        made, written = archive.manifest.made, archive.manifest.workbench
        details: dict[str, int | str] = {"made": made.isoformat(), "format": written}
        details |= {f"erased_{name}": count for name, count in erased._asdict().items()}
        counts = restore_into(place, scratch, gone, now=moment, details=details, progress=progress)
    with open_bench(workspace, key) as bench:
        record_erasures(workspace, bench)
    if request.key_lost:
        notes.append("the key is another one: nobody in this workbench is recognised again, and who objected or was "
                     "erased has to be named again before anything is mined")  # fmt: skip
    return Restored(
        made=made,
        candidates=counts[CANDIDATES.name],
        cases=counts[CASE_TABLE.name],
        migrated_from=written if written < FORMAT else None,
        erased={name: count for name, count in erased._asdict().items() if count},
        notes=tuple(notes),
    )


@contextmanager
def _private_folder(workspace: Workspace) -> Iterator[Path]:
    """Make a private folder to unpack into; those of killed restores go, for they hold what may be erased by now."""
    temporary = workspace.temporary()
    for left in temporary.glob(f"{UNPACKED}*"):
        if not _is_running(left.name.removeprefix(UNPACKED).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=f"{UNPACKED}{os.getpid()}-", dir=temporary) as folder:
        yield Path(folder)


def _is_running(number: str) -> bool:
    try:
        os.kill(int(number), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


@contextmanager
def _opened(request: RestoreRequest, folder: Path) -> Iterator[Archive]:
    """Open the backup, decrypted into a private folder where it is encrypted."""
    shown = request.file.name
    if not request.file.is_file():
        raise MissingError(f"there is no file {request.file}")
    plain = request.file
    with storage_errors(request.file), request.file.open("rb") as handle:
        encrypted = handle.read(len(AGE)) == AGE
        if encrypted:
            handle.seek(0)
            plain = folder / "backup.zip"
            with plain.open("xb") as target:
                _decrypt(handle, target, request.identity, shown)
    with open_archive(plain, shown) as archive:
        yield archive


def _decrypt(handle: BinaryIO, target: BinaryIO, identity: Path | None, shown: str) -> None:
    if identity is None:
        raise UsageError(f"{shown} is encrypted", hint="--identity FILE, with a private key of age")
    try:
        from findback.workbench.encryption import decrypt  # noqa: PLC0415  (its library is optional)
    except ModuleNotFoundError as error:
        raise MissingLibraryError("pyrage", extra="age", wanted_for="an encrypted backup") from error
    decrypt(handle, target, identity, shown)


def _find_key(workspace: Workspace, archive: Archive, request: RestoreRequest) -> Key:
    """Return the key that made the backup's digests: the one here, else the one in the backup, which is put here."""
    file = workspace.private_part("workbench") / FILE_NAME
    here = VARIABLE in workspace.environment or file.exists()
    given = archive.key()
    if not here and given is not None:
        key = Key.parse(given)
        key.check(archive.manifest.key)
        write_atomically(file, key.written() + "\n", private=True)
        return key
    if not here and not request.key_lost:
        raise MissingError(
            f"the key of this backup is not here, and without it nobody in the backup can be recognised: {file}",
            hint=f"put the old {FILE_NAME} there (mode 0600), or set {VARIABLE}; --key-lost if it is gone for good",
        )
    key = open_workspace_key(workspace)
    if key.id != archive.manifest.key and not request.key_lost:
        raise RefusedError(
            "this backup was made with another key than the one here",
            hint=f"put the {FILE_NAME} it was made with at {file} or set {VARIABLE}; --key-lost if it is gone for good",
        )
    return key


def _what_is_gone(
    workspace: Workspace, archive: Archive, request: RestoreRequest, moment: datetime
) -> tuple[list[Gone], list[str]]:
    """Return what must not come back: from the workbench that is there, from the lists, and from the published set."""
    key, notes = archive.manifest.key, list[str]()
    lists = [read_ledger(ledger_file(workspace), key)]
    if request.ledger is not None:
        lists.append(read_ledger(request.ledger, key, required=True))
    there = past_of(bench_address(workspace)) if has_bench(workspace) else Past([], None)
    found = {one.mark: one for one in [*there.gone, *(one for ledger in lists for one in ledger.gone)]}
    reaches_back = there.since is not None and there.since <= archive.manifest.made
    if not reaches_back and request.ledger is None and not ledger_file(workspace).exists():
        notes.append(NOTHING_KNOWN)
    if foreign := sum(ledger.foreign for ledger in lists):
        notes.append(f"{foreign} entries of the list of what was erased were made with another key, and say nothing")
    if unreadable := sum(ledger.unreadable for ledger in lists):
        notes.append(f"{unreadable} lines of the list of what was erased cannot be read")
    for id_ in _withdrawn(workspace, notes):
        one = Gone("withdrawn", "case", id_, moment)
        found.setdefault(one.mark, one)
    return list(found.values()), notes


def _withdrawn(workspace: Workspace, notes: list[str]) -> set[str]:
    """Return the ids of the cases that the published set says are withdrawn."""
    evalset = workspace.evalset
    files = [evalset / CASES, *(release_folder(evalset, number) / CASES for number in list_numbers(evalset))]
    found: set[str] = set()
    for file in files:
        try:
            cases = read_cases(file, leak_limit=ANY_LEAK) if file.exists() else ()
        except FindbackError:
            notes.append(f"{file} cannot be read: which of its cases are withdrawn is not known from it")
            continue
        found.update(case.id for case in cases if case.status == "withdrawn")
    return found
