"""`findback candidates`."""

from typing import Annotated

from cyclopts import App, Parameter

from findback.cli.shown import say, show, show_json, table
from findback.steps.candidates import CandidatesRequest, list_candidates, reject_candidate, show_candidate
from findback.workspace import open_workspace

app = App(name="candidates", help="List, show and reject mined candidates.", help_format="plaintext")


@app.command(name="list")
def list_(*, request: Annotated[CandidatesRequest | None, Parameter(name="*")] = None, json: bool = False) -> None:
    """List mined candidates, redacted, suggestions masked.

    Args:
        request: Which ones.
        json: Print JSON instead of a table.
    """
    listing = list_candidates(open_workspace(required=False), request or CandidatesRequest())
    if json:
        show_json(listing)
        return
    rows = [
        (
            row.number,
            row.key,
            row.state,
            row.source,
            ", ".join(row.rules),
            row.strength,
            row.query,
            ", ".join(row.documents),
        )
        for row in listing.rows
    ]
    show(table(("no.", "key", "state", "source", "rules", "", "query", "documents"), rows))
    say(", ".join(f"{count} {state}" for state, count in listing.counts.items()) or "none")


@app.command(name="show")
def show_(name: str, /, *, json: bool = False) -> None:
    """Show one candidate with its thread and evidence.

    Args:
        name: Its number in the list, its key, or a beginning that only it has.
        json: Print JSON instead of text.
    """
    shown = show_candidate(open_workspace(required=False), name)
    if json:
        show_json(shown)
        return
    say(f"{shown.row.key}  {shown.row.state}  {shown.row.source}, {shown.audience}, {shown.stratum}")
    say(f"query: {shown.row.query}")
    if shown.title:
        say(f"title: {shown.title}")
    for at, line in enumerate(shown.thread):
        mark = ">" if at == shown.query_line else " "
        say(f"{mark} {line.role:<9} {line.text}")
    for evidence in shown.evidence:
        say(f"because {evidence}")
    for link in shown.links:
        say(f"linked  {link.document} by {link.by} ({link.kind})")
    if shown.rewrites:
        say(f"agent   {shown.rewrites}")
    if shown.suggestions:
        say(f"{shown.suggestions} suggested redactions to decide before it can be published")


@app.command(name="reject")
def reject(name: str, /, *, reason: str) -> None:
    """Reject a candidate.

    Args:
        name: Its number in the list, its key, or a beginning that only it has.
        reason: Why it is no question for the exam.
    """
    state = reject_candidate(open_workspace(required=False), name, reason)
    said = "rejected; it is erased after thirty days"
    say(said if state == "rejected" else f"your review says so; others differ, and it is {state} now")
