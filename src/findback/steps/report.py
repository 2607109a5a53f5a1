"""Write the report of the newest evaluation and audit."""

from pathlib import Path
from typing import Annotated, Literal

from findback.errors import MissingError, UsageError
from findback.files import write_atomically
from findback.model.audit import Audit
from findback.model.evaluation import Evaluation
from findback.model.record import LOCAL_ONLY, Record, Request
from findback.reporting.card import render_card
from findback.reporting.render import render_report
from findback.steps.kept import load, newest
from findback.workspace import Workspace

Format = Literal["html", "md", "json"]
SUFFIXES: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}


class ReportRequest(Request):
    """Write the report of the newest evaluation and audit."""

    output: Annotated[Path | None, LOCAL_ONLY] = None
    """File to write; report.html (or .md, .json) when left out."""
    format: Format | None = None
    """html, md or json; by the file's name when left out."""
    share: bool = False
    """Leave out every text and id, so that the report can leave the team."""
    card: bool = False
    """One page and a badge with everything needed to publish a number honestly."""
    retriever: str | None = None
    """Whose number the card carries; needed when several were scored."""
    evaluation: Annotated[Path | None, LOCAL_ONLY] = None
    """A JSON file of `findback evaluate` instead of the newest one kept."""
    audit: Annotated[Path | None, LOCAL_ONLY] = None
    """A JSON file of `findback audit` instead of the newest one kept."""


class Report(Record):
    """What was written."""

    files: tuple[str, ...]


def report(workspace: Workspace, request: ReportRequest) -> Report:
    """Write the report.

    Raises:
        MissingError: If nothing has been evaluated or audited yet.
        UsageError: If the format cannot be told.
        StorageError: If the file cannot be written.
    """
    evaluation = load(request.evaluation, Evaluation) if request.evaluation else newest(workspace, Evaluation)
    audited = load(request.audit, Audit) if request.audit else newest(workspace, Audit)
    if evaluation is None and audited is None:
        raise MissingError(
            "nothing has been evaluated or audited here yet",
            hint="findback evaluate --set SET, or findback audit SET",
        )
    output = request.output or Path(f"report.{request.format or 'html'}")
    chosen = request.format or SUFFIXES.get(output.suffix.lower())
    if chosen is None:
        raise UsageError(f"cannot tell the format of {output.name}", hint="add --format html, md or json")
    if request.card:
        return _write_card(evaluation, request.retriever, output, chosen)
    text = render_report(evaluation, audited, format=chosen, share=request.share)
    write_atomically(output, text, private=not request.share)
    return Report(files=(str(output),))


def _write_card(evaluation: Evaluation | None, retriever: str | None, output: Path, chosen: Format) -> Report:
    if evaluation is None:
        raise MissingError("a card needs an evaluation", hint="findback evaluate --set SET")
    if chosen != "html":
        raise UsageError("a card is a page with a badge beside it", hint="let -o end in .html")
    card = render_card(evaluation, retriever)
    badge = output.with_suffix(".svg")
    write_atomically(output, card.html)
    write_atomically(badge, card.badge)
    return Report(files=(str(output), str(badge)))
