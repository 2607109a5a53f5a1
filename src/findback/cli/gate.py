"""`findback gate`."""

import secrets
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.asking import ask_for_trust
from findback.cli.progress import Bars
from findback.cli.shown import say, show, warn
from findback.errors import EngineError, UsageError
from findback.files import write_atomically
from findback.model.gated import Gated
from findback.reporting.annotations import render_annotations
from findback.reporting.gatecomment import render_comment
from findback.reporting.gated import gate_report
from findback.reporting.json import render_json
from findback.reporting.junit import render_junit
from findback.reporting.terminal import ReportView
from findback.steps.gate import gate as run_gate
from findback.steps.gaterequest import GateRequest
from findback.steps.targets import corpus_place, refuse_targets
from findback.workspace import open_workspace

FAILED = 1


class Options(GateRequest):
    """What is given by name; the retriever is an argument."""

    retriever: Annotated[str | None, Parameter(parse=False)] = None


def gate(
    name: str | None = None,
    /,
    *,
    request: Annotated[Options | None, Parameter(name="*")] = None,
    junit: Path | None = None,
    markdown: Path | None = None,
    annotations: bool = False,
    every: Annotated[bool, Parameter(name="--all")] = False,
    json: bool = False,
) -> int:
    """Check a system against a baseline: pass, fail, or undecided.

    Exit status: 0 pass, 1 fail, 11 undecided (or what [gate] undecided says), 8 when every search failed.

    Args:
        name: Retriever of findback.toml to test; the baseline's own when left out.
        request: Everything else.
        junit: File to write as JUnit XML.
        markdown: File to write as Markdown, for a comment on a pull request.
        annotations: Print commands that GitHub Actions shows beside the code.
        every: Print every changed case, not the largest losses.
        json: Print JSON.
    """
    if annotations and json:
        raise UsageError("annotations would stand inside the JSON", hint="leave out --annotations or --json")
    asked = request or Options()
    if name is not None:
        asked = asked.model_copy(update={"retriever": name})
    workspace = open_workspace(required=False)
    targets = [target for target in (junit, markdown) if target is not None]
    named = Path(asked.baseline) if asked.baseline else None
    refuse_targets(workspace, targets, read=(asked.set, asked.run, named), corpus=corpus_place(workspace, asked))
    with Bars() as bars:
        result = run_gate(workspace, asked, progress=bars, ask=ask_for_trust)
    for target, render in ((junit, render_junit), (markdown, render_comment)):
        if target is not None:
            write_atomically(target, render(result))
    if json:
        print(render_json(result))
    elif annotations:
        _annotate(result, every=every)
    else:
        show(ReportView(gate_report(result, examples=None if every else 10)))
    if result.failed and result.failed >= result.asked:
        warn("every search failed")
        return EngineError.exit_status
    return {"pass": 0, "fail": FAILED, "undecided": workspace.settings.gate.undecided}[result.verdict]


def _annotate(result: Gated, *, every: bool) -> None:
    """Print the report where no line of it can be a command, then the commands."""
    token = secrets.token_hex(16)
    say(f"::stop-commands::{token}")
    show(ReportView(gate_report(result, examples=None if every else 10)))
    say(f"::{token}::")
    print(render_annotations(result), end="")
