"""Write the report of the newest evaluation and audit."""

from pathlib import Path
from typing import Annotated, Literal

from findback.errors import MissingError, UsageError
from findback.files import refuse_special, write_atomically
from findback.model.audit import Audit
from findback.model.evaluation import Evaluation
from findback.model.generated import Generated
from findback.model.record import LOCAL_ONLY, Record, Request
from findback.reporting.card import render_card
from findback.reporting.render import render_report
from findback.steps.kept import Kept, Newest, load, newest, now
from findback.steps.opening import SetRequest
from findback.steps.targets import corpus_place, refuse_targets
from findback.steps.upkeep import look_after
from findback.workspace import Workspace

Format = Literal["html", "md", "json"]
SUFFIXES: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}


class ReportRequest(Request):
    """Write the report of the newest evaluation, audit, and what a model wrote."""

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
    generated: Annotated[Path | None, LOCAL_ONLY] = None
    """A JSON file of `findback generate` instead of the newest one kept."""


class Report(Record):
    """What was written."""

    files: tuple[str, ...]
    unreadable: tuple[str, ...] = ()
    """What is wrong with newer results that were passed over."""


def report(workspace: Workspace, request: ReportRequest) -> Report:
    """Write the report.

    Raises:
        MissingError: If nothing has been evaluated or audited yet.
        UsageError: If the format cannot be told, or the file is a document or what is read.
        StorageError: If the file cannot be written.
    """
    evaluation, no_evaluation = _choose(workspace, request.evaluation, Evaluation)
    audited, no_audit = _choose(workspace, request.audit, Audit)
    written, no_written = _choose(workspace, request.generated, Generated)
    unreadable = (*no_evaluation, *no_audit, *no_written)
    if evaluation is None and audited is None and written is None:
        raise MissingError(
            "; ".join(("nothing that can be read has been evaluated or audited here yet", *unreadable)),
            hint="findback evaluate --set SET, or findback audit SET",
        )
    output = request.output or Path(f"report.{request.format or 'html'}")
    chosen = request.format or SUFFIXES.get(output.suffix.lower())
    if chosen is None:
        raise UsageError(f"cannot tell the format of {output.name}", hint="add --format html, md or json")
    if request.card:
        files = _write_card(workspace, request, evaluation, output, chosen)
    else:
        files = (output,)
        _refuse(workspace, request, files)
        keeping = look_after(workspace, now=now())
        text = render_report(evaluation, audited, written, format=chosen, share=request.share, keeping=keeping)
        write_atomically(output, text, private=not request.share)
    return Report(files=tuple(str(file) for file in files), unreadable=unreadable)


def _choose(workspace: Workspace, named: Path | None, kind: type[Kept]) -> Newest[Kept]:
    return newest(workspace, kind) if named is None else Newest(load(named, kind), ())


def _refuse(workspace: Workspace, request: ReportRequest, files: tuple[Path, ...]) -> None:
    corpus = corpus_place(workspace, SetRequest())
    refuse_targets(workspace, files, read=(request.evaluation, request.audit, request.generated), corpus=corpus)


def _write_card(
    workspace: Workspace, request: ReportRequest, evaluation: Evaluation | None, output: Path, chosen: Format
) -> tuple[Path, ...]:
    if evaluation is None:
        raise MissingError("a card needs an evaluation", hint="findback evaluate --set SET")
    if chosen != "html":
        raise UsageError("a card is a page with a badge beside it", hint="let -o end in .html")
    refuse_special(output)
    badge = output.with_suffix(".svg")
    _refuse(workspace, request, (output, badge))
    if badge.exists() and not output.exists():
        # Nobody named the badge, so a picture that belongs to no card is somebody else's.
        raise UsageError(
            f"{badge} is there already, and is no badge of {output.name}", hint="name another file with -o"
        )
    card = render_card(evaluation, request.retriever)
    write_atomically(output, card.html)
    write_atomically(badge, card.badge)
    return output, badge
