"""Back the workbench up into one file that restores into SQLite or PostgreSQL."""

from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, BinaryIO

from findback.errors import MissingError, MissingLibraryError, UsageError
from findback.files import open_atomically, storage_errors, sweep
from findback.model.protocols import SILENT, Progress
from findback.model.record import LOCAL_ONLY, Record, Request
from findback.privacy.key import FILE_NAME, VARIABLE, Key
from findback.steps.bench import has_bench, open_bench, open_workspace_key
from findback.steps.exports import refuse_tracked
from findback.steps.kept import now
from findback.steps.ledger import ledger_file, record_erasures
from findback.steps.targets import refuse_targets
from findback.workbench.archive import Manifest, write_archive
from findback.workbench.migration import FORMAT
from findback.workbench.store import Workbench
from findback.workbench.tables import CANDIDATES, CASES, EVENTS
from findback.workspace import Workspace

AGE = b"age-encryption.org/v1"
ZIP = b"PK"
"""How the files begin that a backup may be written over."""


class BackupRequest(Request):
    """Back the workbench up, while it is in use, into one file."""

    file: Annotated[Path, LOCAL_ONLY]
    """Where it goes; an older backup there is replaced once the new one is whole."""
    recipient: Annotated[tuple[str, ...], LOCAL_ONLY] = ()
    """Public keys of age that may open it, age1…; in the clear without one."""
    with_key: bool = False
    """Whether the key of all digests goes into it; only into an encrypted one."""


class BackedUp(Record):
    """What was backed up."""

    file: str
    made: datetime
    candidates: int
    cases: int
    events: int
    encrypted: bool
    with_key: bool
    key_at: str
    """Where the key is, which whoever restores needs."""
    ledger_at: str
    """Where the list of what was erased is, which makes that stay erased."""


def backup(workspace: Workspace, request: BackupRequest, *, progress: Progress = SILENT) -> BackedUp:
    """Write a backup; a killed one leaves the older file.

    Raises:
        UsageError: If the key is to go into a file that is not encrypted, a recipient is none, or another file is
            there.
        MissingError: If there is no workbench yet.
        MissingLibraryError: If it is to be encrypted and the library is not installed.
        RefusedError: If git could commit the file.
        StorageError: If the disk or the database refuses.
    """
    if request.with_key and not request.recipient:
        raise UsageError("the key goes into encrypted backups only", hint="--recipient age1…, or leave --with-key out")
    if not has_bench(workspace):
        raise MissingError("there is no workbench to back up", hint="findback mine fills one")
    _refuse_others(workspace, request.file)
    # What killed backups left beside the file.
    sweep(request.file.absolute().parent)
    key = open_workspace_key(workspace)
    with open_bench(workspace, key) as bench:
        record_erasures(workspace, bench)
        if not request.recipient:
            with open_atomically(request.file, private=True) as handle:
                manifest = _write(bench, handle, key, request, progress)
        else:
            with storage_errors(request.file), TemporaryFile(dir=workspace.temporary()) as plain:
                manifest = _write(bench, plain, key, request, progress)
                plain.seek(0)
                with open_atomically(request.file, private=True) as handle:
                    _encrypt(plain, handle, request.recipient)
        counts = {name.removesuffix(".jsonl"): member.rows for name, member in manifest.members.items()}
        encrypted = bool(request.recipient)
        bench.log("backup", now=now(), details={"rows": sum(counts.values()), "encrypted": int(encrypted)})
    return BackedUp(
        file=str(request.file),
        made=manifest.made,
        candidates=counts[CANDIDATES.name],
        cases=counts[CASES.name],
        events=counts[EVENTS.name],
        encrypted=encrypted,
        with_key=request.with_key,
        key_at=_key_place(workspace),
        ledger_at=str(ledger_file(workspace)),
    )


def _write(bench: Workbench, handle: BinaryIO, key: Key, request: BackupRequest, progress: Progress) -> Manifest:
    made = now()
    with write_archive(handle) as archive:
        bench.back_up(archive, progress)
        if request.with_key:
            archive.add_key(key.written())
        manifest = Manifest(
            findback=version("findback"),
            made=made,
            workbench=FORMAT,
            key=key.id,
            with_key=request.with_key,
            members=archive.members,
        )
        archive.finish(manifest)
    return manifest


def _encrypt(plain: BinaryIO, handle: BinaryIO, recipients: tuple[str, ...]) -> None:
    try:
        from findback.workbench.encryption import encrypt  # noqa: PLC0415  (its library is optional)
    except ModuleNotFoundError as error:
        raise MissingLibraryError("pyrage", extra="age", wanted_for="an encrypted backup") from error
    encrypt(plain, handle, recipients)


def _refuse_others(workspace: Workspace, file: Path) -> None:
    """Stop before a backup takes the place of something else, or lies where git could commit it."""
    refuse_targets(workspace, [file], read=(), corpus=None)
    refuse_tracked(file, hint="keep backups outside the repository: whoever is erased must be able to go from them")
    with storage_errors(file):
        if file.is_file() and file.stat().st_size:
            with file.open("rb") as handle:
                if not handle.read(len(AGE)).startswith((AGE, ZIP)):
                    raise UsageError(f"{file} is there already, and is no backup", hint="name another file")


def _key_place(workspace: Workspace) -> str:
    if VARIABLE in workspace.environment:
        return VARIABLE
    return str(workspace.private / "workbench" / FILE_NAME)
