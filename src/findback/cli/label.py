"""`findback label`."""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from findback.cli.asking import ask_for_trust
from findback.cli.labelling import Labelling
from findback.cli.progress import Bars
from findback.cli.requests import make_request
from findback.cli.shown import say, show_json, warn
from findback.errors import UsageError
from findback.steps.label import JudgeRequest, LabelRequest, open_session
from findback.steps.label import judge as keep
from findback.steps.labelsheet import LabelExportRequest, LabelImportRequest, ReadSheet, export_sheet, import_sheet
from findback.workspace import open_workspace

app = App(
    name="label", help="Label real queries in the terminal, or candidates in a spreadsheet.", help_format="plaintext"
)

NOT_PASSED = 1


class Options(LabelRequest):
    """What is given by name; the sample is an argument."""

    set: Annotated[Path | None, Parameter(parse=False)] = None
    release: Annotated[int | None, Parameter(parse=False)] = None


class ExportOptions(LabelExportRequest):
    """What is given by name; the file has a short name too."""

    output: Annotated[Path, Parameter(name=("--output", "-o"))] = Path("labels.csv")
    """CSV file to write."""


class ImportOptions(LabelImportRequest):
    """What is given by name; the sheet is an argument."""

    sheet: Annotated[Path, Parameter(parse=False)] = Path()


@app.command(name="quick")
def quick(sample: Path, /, *, request: Annotated[Options | None, Parameter(name="*")] = None) -> None:
    """Label 30 to 50 real queries, in well under a minute each.

    Args:
        sample: Real queries: any format findback knows, or one query a line.
        request: Everything else.
    """
    if not sys.stdin.isatty():
        raise UsageError("label quick asks a person, so it needs a terminal", hint="run it in one")
    asked = (request or Options()).model_copy(update={"set": sample})
    with Bars() as bars:
        session = open_session(open_workspace(required=False), asked, progress=bars, ask=ask_for_trust)
    with session:
        Labelling(session).run()
    if not session.decided:
        say(f"nothing labelled yet of {session.total}")
        return
    say(f"{session.decided} of {session.total} labelled, kept in {session.output}")
    say(f"next: findback audit YOUR_SET --real {session.output}")


@app.command(name="judge")
def judge(
    question: str,
    /,
    *,
    doc: str,
    set_: Annotated[Path | None, Parameter(name="--set")] = None,
    grade: int = 3,
    part: int = 1,
) -> None:
    """Grade one document for one question of an unreleased set.

    Args:
        question: Id of the question.
        doc: Id of the document.
        set_: The set file the question is in.
        grade: 0 is not an answer, 3 answers it fully.
        part: Which part of the need it answers.
    """
    if set_ is None:
        raise UsageError("a release never changes", hint="name the set file the question is in: --set FILE")
    done = keep(
        open_workspace(required=False),
        make_request(JudgeRequest, set=set_, question=question, doc=doc, grade=grade, part=part),
    )
    say(f"kept in {done.file}; it counts from the next evaluation on")


@app.command(name="export")
def export(*, request: Annotated[ExportOptions | None, Parameter(name="*")] = None) -> None:
    """Write candidates as a CSV sheet, to be reviewed in a spreadsheet.

    Args:
        request: Which ones, and where to.
    """
    with Bars() as bars:
        written = export_sheet(open_workspace(required=False), request or ExportOptions(), progress=bars)
    for note in written.notes:
        warn(note)
    say(f"wrote {written.rows} candidates to {written.file}; keep it to yourself: nobody released what it holds")
    say(f"next: fill it in, then findback label import {written.file}")


@app.command(name="import")
def import_(
    sheet: Path, /, *, request: Annotated[ImportOptions | None, Parameter(name="*")] = None, json: bool = False
) -> int:
    """Keep what a filled-in sheet says, as reviews; reading it again changes nothing.

    Args:
        sheet: CSV file that `findback label export` wrote.
        request: Everything else.
        json: Print JSON instead of lines.
    """
    asked = (request or ImportOptions()).model_copy(update={"sheet": sheet})
    with Bars() as bars:
        found = import_sheet(open_workspace(required=False), asked, progress=bars)
    if json:
        show_json(found)
    else:
        _say_imported(found, dry=asked.dry_run)
    return NOT_PASSED if found.conflicts else 0


def _say_imported(found: ReadSheet, *, dry: bool) -> None:
    for note in found.notes:
        warn(note)
    for one in found.conflicts:
        say(f"row {one.row} was left alone: {one.reason}")
    stages = Counter(one.stage for one in found.applied)
    verb = "would be" if dry else "were"
    say(
        f"{stages['submitted']} reviews {verb} submitted, {stages['draft']} saved as drafts;"
        f" {found.unchanged} rows change nothing, {len(found.conflicts)} conflicts"
    )
    states = Counter(one.state for one in found.applied if one.state is not None)
    if states:
        say("now " + ", ".join(f"{count} {state}" for state, count in states.most_common()))
    if states["ready"]:
        say('next: findback release -m "…"')
