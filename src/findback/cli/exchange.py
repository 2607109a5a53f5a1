"""`findback import` and `findback export`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.shown import say
from findback.steps.exchange import ExportRequest, ImportRequest, export_set, import_set
from findback.workspace import open_workspace


class ImportOptions(ImportRequest):
    """What is given by name; set and file are arguments of their own."""

    set: Annotated[Path | None, Parameter(parse=False)] = None
    release: Annotated[int | None, Parameter(parse=False)] = None
    output: Annotated[Path, Parameter(parse=False)] = Path()


class ExportOptions(ExportRequest):
    """What is given by name; set and file are arguments of their own."""

    set: Annotated[Path | None, Parameter(parse=False)] = None
    release: Annotated[int | None, Parameter(parse=False)] = None
    output: Annotated[Path, Parameter(parse=False)] = Path()


def import_(
    set_: Annotated[Path, Parameter(name="SET")],
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    request: Annotated[ImportOptions | None, Parameter(name="*")] = None,
) -> None:
    """Read a set in any known format into an unreleased set file.

    Args:
        set_: File or folder to read.
        output: JSON Lines file to write.
        request: Everything else.
    """
    asked = (request or ImportOptions()).model_copy(update={"set": set_, "output": output})
    done = import_set(open_workspace(required=False), asked)
    for note in done.notes:
        say(note)
    say(f"wrote {done.questions} questions to {', '.join(done.files)} ({done.heading})")


def export(
    set_: Annotated[Path, Parameter(name="SET")],
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    request: Annotated[ExportOptions | None, Parameter(name="*")] = None,
) -> None:
    """Write a set in another format.

    Args:
        set_: File or folder to read.
        output: File or folder to write.
        request: Everything else.
    """
    asked = (request or ExportOptions()).model_copy(update={"set": set_, "output": output})
    done = export_set(open_workspace(required=False), asked)
    for note in done.notes:
        say(note)
    say(f"wrote {done.questions} questions to {', '.join(done.files)}")
