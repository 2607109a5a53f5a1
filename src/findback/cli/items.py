"""`findback items`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.asking import ask_for_trust
from findback.cli.output import check_output, deliver
from findback.cli.progress import Bars
from findback.cli.requests import make_request
from findback.cli.shown import say, show_json, warn
from findback.errors import UsageError
from findback.reporting.items import say_sent
from findback.reporting.render import items_terminal
from findback.steps.items import analyse_items
from findback.steps.items_scores import ItemsRequest
from findback.steps.items_send import MOST, SendRequest, send_items
from findback.workspace import open_workspace


class Options(ItemsRequest):
    """What is given by name; the systems are arguments."""

    systems: Annotated[tuple[str, ...], Parameter(parse=False)] = ()


def items(
    *names: str,
    request: Annotated[Options | None, Parameter(name="*")] = None,
    send: bool = False,
    most: int = MOST,
    every: Annotated[bool, Parameter(name="--all")] = False,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    json: bool = False,
) -> None:
    """Find the cases, labels and documents that look wrong, and send them to be looked at again.

    Args:
        names: Retrievers of findback.toml, ids of kept runs, or files of runs; every retriever when none is named.
        request: Everything else.
        send: Send the suspicious cases to review, mixed with as many random ones; which are which is not shown.
        most: Suspicious cases to send at most.
        every: Print every case and document.
        output: Write .html, .md or .json instead of printing.
        json: Print JSON.
    """
    asked = (request or Options()).model_copy(update={"systems": names})
    if send:
        if output is not None or every:
            raise UsageError("--send shows no case: whoever looks at them again must not know what was found")
        _send(asked, most, json=json)
        return
    workspace, renderer = open_workspace(required=False), items_terminal(every=every)
    check_output(output, renderer, workspace, asked, *(Path(name) for name in names))
    with Bars() as bars:
        result = analyse_items(workspace, asked, progress=bars, ask=ask_for_trust)
    deliver(result, renderer, output=output, json=json)


def _send(asked: ItemsRequest, most: int, *, json: bool) -> None:
    shared = {name: getattr(asked, name) for name in ItemsRequest.model_fields}
    with Bars() as bars:
        sent = send_items(
            open_workspace(), make_request(SendRequest, **shared, most=most), progress=bars, ask=ask_for_trust
        )
    if json:
        show_json(sent)
        return
    for note in sent.notes:
        warn(note)
    say(say_sent(sent))
    if sent.cases:
        say("findback review opens the page: they are under Cases, among those that wait for a lead")
