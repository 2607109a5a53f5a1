"""Read a set in any known format, and write it in another."""

from pathlib import Path
from typing import Annotated

from findback import registry
from findback.errors import UsageError
from findback.evalset.extra import side_file
from findback.evalset.format import WritableFormat
from findback.evalset.open import GROUP
from findback.model.question import QuestionSet
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
    """Format to write: beir, trec, quepid, ragas, mapped or questions."""


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
        raise UsageError(
            f"{name} can be read but not written", hint="beir, trec, quepid, ragas, mapped and questions can"
        )
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
        notes=(*questions.notes, *_losses(written_as, questions)),
    )


def _losses(written_as: WritableFormat, questions: QuestionSet) -> tuple[str, ...]:
    if not written_as.losses or not questions.questions:
        return ()
    return (f"{written_as.name} cannot hold {', '.join(written_as.losses)}: kept in the side file",)
