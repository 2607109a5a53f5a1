"""`findback import` and `findback export`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.shown import say, show, show_json, table
from findback.errors import DataError, UsageError
from findback.steps.exchange import ExportRequest, ImportRequest, export_set, import_set
from findback.steps.opening import SetRequest
from findback.steps.preview import Previewed, PreviewRow, preview_import
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
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    preview: bool = False,
    json: bool = False,
    request: Annotated[ImportOptions | None, Parameter(name="*")] = None,
) -> int:
    """Read a set in any known format into an unreleased set file.

    Args:
        set_: File or folder to read.
        output: JSON Lines file to write.
        preview: Say what the set was taken for, with its first questions and its faults, and write nothing.
        json: Print JSON.
        request: Everything else.
    """
    asked = request or ImportOptions()
    if preview:
        return _preview(set_, asked, json=json)
    if output is None:
        raise UsageError("nowhere to write the set", hint="name a file with -o, or look first with --preview")
    done = import_set(open_workspace(required=False), asked.model_copy(update={"set": set_, "output": output}))
    if json:
        show_json(done)
        return 0
    for note in done.notes:
        say(note)
    say(f"wrote {done.questions} questions to {', '.join(done.files)} ({done.heading})")
    return 0


def _preview(place: Path, asked: ImportRequest, *, json: bool) -> int:
    how = {name: getattr(asked, name) for name in SetRequest.model_fields}
    seen = preview_import(open_workspace(required=False), SetRequest(**how | {"set": place}))
    if json:
        show_json(seen)
    else:
        _print_preview(seen)
    # What an import would refuse, its preview does not call well.
    return DataError.exit_status if seen.fault_count and not asked.skip_bad else 0


def _print_preview(seen: Previewed) -> None:
    for note in seen.notes:
        say(note)
    if seen.rows:
        rows = [(row.id, row.query, row.answer, _list_gold(row)) for row in seen.rows]
        show(table(("id", "query", "answer", "gold (grade)"), rows))
    if len(seen.rows) < seen.questions:
        say(f"and {seen.questions - len(seen.rows):,} more questions")
    if seen.judgements:
        grades = ", ".join(f"grade {grade} {count:,}" for grade, count in seen.grades.items())
        say(f"{seen.judgements:,} judgements: {grades}")
    if seen.beside is not None and seen.beside.kept:
        kept = ", ".join(f"{loss} of {count:,}" for loss, count in seen.beside.kept.items())
        say(f"the side file of {seen.beside.format} adds {kept}")
    for fault in seen.faults:
        where = fault.path if fault.line is None else f"{fault.path}:{fault.line}"
        say(f"fault: {where}: {fault.message}")
    if seen.fault_count > len(seen.faults):
        say(f"and {seen.fault_count - len(seen.faults):,} more faults")
    if seen.format is None:
        say("nothing can be read beside these faults")
    say("nothing was written")


def _list_gold(row: PreviewRow) -> str:
    return ", ".join(row.gold) + (f" and {row.more} more" if row.more else "")


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
