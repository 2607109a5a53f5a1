"""Read a set in any known format, and write it in another."""

from pathlib import Path
from typing import Annotated

from findback import registry
from findback.errors import UsageError
from findback.evalset.extra import read_head, side_file
from findback.evalset.format import WritableFormat
from findback.evalset.open import GROUP, installed_formats
from findback.model.record import LOCAL_ONLY, Record
from findback.steps.judged import judgements_file
from findback.steps.opening import SetRequest, find_set, open_documents, open_questions
from findback.steps.targets import corpus_place, refuse_targets
from findback.workspace import Workspace


class ImportRequest(SetRequest):
    """Read a set in any known format into an unreleased set file."""

    output: Annotated[Path, LOCAL_ONLY] = Path("set.jsonl")
    """JSON Lines file to write."""
    force: bool = False
    """Replace files that are there already."""


class ExportRequest(SetRequest):
    """Write a set in another format."""

    output: Annotated[Path, LOCAL_ONLY] = Path("export")
    """File or folder to write."""
    force: bool = False
    """Replace files that are there already."""
    to: str = "beir"
    """Format to write; docs/formats.md lists them."""


class Exchanged(Record):
    """What was written."""

    heading: str
    questions: int
    files: tuple[str, ...]
    notes: tuple[str, ...]


def import_set(workspace: Workspace, request: ImportRequest) -> Exchanged:
    """Write a set as an unreleased set file, redacted and with its gold resolved where there is a corpus.

    Raises:
        DataError: If it cannot be read; every fault with file and line.
        UsageError: If the file is there already, or is what is read.
        StorageError: If the file cannot be written.
    """
    return _exchange(workspace, request, "questions", request.output, force=request.force)


def export_set(workspace: Workspace, request: ExportRequest) -> Exchanged:
    """Write a set in another format; what that format cannot hold goes to a side file that is named.

    Raises:
        DataError: If it cannot be read; every fault with file and line.
        UsageError: If the format cannot be written, or a file is there already or is what is read.
        StorageError: If it cannot be written.
    """
    return _exchange(workspace, request, request.to, request.output, force=request.force)


def _exchange(workspace: Workspace, request: SetRequest, name: str, target: Path, *, force: bool) -> Exchanged:
    written_as = registry.load(GROUP, name)
    if not isinstance(written_as, WritableFormat):
        raise UsageError(f"{name} can be read but not written", hint=f"these can: {', '.join(_list_writable())}")
    place = find_set(workspace, request)
    refuse_targets(
        workspace,
        written_as.places(target),
        read=(place, side_file(place), judgements_file(place)),
        corpus=corpus_place(workspace, request),
        replace=force,
    )
    documents = open_documents(workspace, request)
    questions = open_questions(workspace, request, documents)
    files = written_as.write(questions, target)
    return Exchanged(
        heading=questions.heading,
        questions=len(questions.questions),
        files=tuple(str(file) for file in files),
        notes=(*questions.notes, *_losses(files)),
    )


def _list_writable() -> list[str]:
    return sorted(name for name, form in installed_formats().items() if isinstance(form, WritableFormat))


def _losses(files: tuple[Path, ...]) -> tuple[str, ...]:
    """Return what the side file, the last that was written, says of what its format cannot hold."""
    head = read_head(files[-1])
    if head is None:
        return ()
    listed = ", ".join(f"{loss} of {count:,}" for loss, count in head.kept.items())
    kept = (f"{head.format} cannot hold {listed}: kept in {files[-1].name}",) if listed else ()
    lost = (f"kept in neither: {', '.join(head.lost)}",) if head.lost else ()
    return (*kept, *lost)
