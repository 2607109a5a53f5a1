"""`findback glossary`."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from findback.cli.asking import ask_for_trust
from findback.cli.output import check_output, deliver
from findback.cli.progress import Bars
from findback.cli.shown import say, warn
from findback.errors import UsageError
from findback.model.glossary import Accepted, Proposal
from findback.reporting.glossary import GLOSSARY, PROPOSALS
from findback.steps.glossary_accept import AcceptRequest
from findback.steps.glossary_accept import accept as decide
from findback.steps.glossary_evaluate import GlossaryEvaluateRequest
from findback.steps.glossary_evaluate import evaluate as measure
from findback.steps.glossary_export import GlossaryExportRequest
from findback.steps.glossary_export import export as write
from findback.steps.glossary_kept import load_proposals
from findback.steps.glossary_suggest import SuggestRequest
from findback.steps.glossary_suggest import suggest as propose
from findback.workspace import Workspace, open_workspace

app = App(
    name="glossary",
    help="Propose, accept, measure and export terms: what people search with, and what documents say.",
    help_format="plaintext",
)

Output = Annotated[Path | None, Parameter(name=("--output", "-o"))]


class AcceptOptions(AcceptRequest):
    """What is given by name; the terms are arguments."""

    terms: Annotated[tuple[str, ...], Parameter(parse=False)] = ()


class ExportOptions(GlossaryExportRequest):
    """What is given by name; the file has a short name too."""

    output: Output = None
    """File to write; printed when left out."""


@app.command(name="suggest")
def suggest(
    *,
    request: Annotated[SuggestRequest | None, Parameter(name="*")] = None,
    output: Output = None,
    json: bool = False,
) -> None:
    """Propose terms, with the questions behind each and what it would gain.

    Args:
        request: Which questions.
        output: Write .md or .json instead of printing.
        json: Print JSON.
    """
    workspace, asked = open_workspace(required=False), request or SuggestRequest()
    check_output(output, PROPOSALS, workspace, asked)
    with Bars() as bars:
        found = propose(workspace, asked, progress=bars, ask=ask_for_trust)
    deliver(found, PROPOSALS, output=output, json=json)


@app.command(name="accept")
def accept(*terms: str, request: Annotated[AcceptOptions | None, Parameter(name="*")] = None) -> None:
    """Accept proposed terms into glossary.toml; without any named, each is asked about.

    Args:
        terms: Numbers of the newest proposals, the words looked for, or `words => added words`.
        request: Everything else.
    """
    workspace = open_workspace()
    asked = (request or AcceptOptions()).model_copy(update={"terms": terms})
    if asked.terms or asked.refuse:
        _say(decide(workspace, asked))
        return
    if not sys.stdin.isatty():
        raise UsageError("say which terms", hint="findback glossary accept 1 4: numbers of the newest proposals")
    _ask_each(workspace, asked)


@app.command(name="evaluate")
def evaluate(
    *,
    request: Annotated[GlossaryEvaluateRequest | None, Parameter(name="*")] = None,
    output: Output = None,
    json: bool = False,
) -> None:
    """Say what the glossary is worth in front of a retriever, on answers it was built from and on others.

    Args:
        request: Which questions and retrievers.
        output: Write .md or .json instead of printing.
        json: Print JSON.
    """
    workspace, asked = open_workspace(required=False), request or GlossaryEvaluateRequest()
    check_output(output, GLOSSARY, workspace, asked)
    with Bars() as bars:
        result = measure(workspace, asked, progress=bars, ask=ask_for_trust)
    deliver(result, GLOSSARY, output=output, json=json)


@app.command(name="export")
def export(*, request: Annotated[ExportOptions | None, Parameter(name="*")] = None) -> None:
    """Write the glossary as another search system, or an agent's tool, reads it.

    Args:
        request: For which system, and where to.
    """
    asked = request or ExportOptions()
    done = write(open_workspace(), asked)
    for line in done.warnings:
        warn(line)
    for line in done.left_out:
        warn(f"left out: {line}")
    if asked.output is None:
        sys.stdout.write(done.text)
    else:
        say(f"wrote {done.rules} rules to {asked.output}")


def _ask_each(workspace: Workspace, asked: AcceptOptions) -> None:
    """Go through the proposals; each decision is kept when it is made."""
    proposals = load_proposals(workspace).proposals
    say("y accepts, n never proposes it again, Enter leaves it for later, q stops")
    for one in proposals:
        _show(one)
        answer = input("accept? ").strip().lower()
        if answer in {"q", "quit"}:
            return
        if answer in {"y", "yes"}:
            _say(decide(workspace, asked.model_copy(update={"terms": (str(one.number),)})))
        elif answer in {"n", "no"}:
            _say(decide(workspace, asked.model_copy(update={"refuse": (str(one.number),)})))


def _show(one: Proposal) -> None:
    say("")
    say(f"{one.number}. {one.when} => {one.add}  ({one.kind}, from {one.source})")
    say(
        f"   {len(one.cases)} questions of {one.clusters} clusters; own answers {one.own.better} better,"
        f" {one.own.worse} worse; others {one.others.better} better, {one.others.worse} worse of {one.others.cases}"
    )
    for query in one.examples:
        say(f"   - {query}")


def _say(done: Accepted) -> None:
    for term in done.terms:
        say(f"accepted: {term.when} => {term.add}")
    if done.refused:
        say(f"refused: {done.refused}; not proposed again")
    if done.terms:
        say(f"kept in {done.file}; {done.left} still proposed. next: findback glossary evaluate")
