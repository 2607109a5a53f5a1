"""`findback verify`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.shown import say, show, show_json, table
from findback.reporting.figures import plural
from findback.steps.verify import VerifyRequest
from findback.steps.verify import verify as scan
from findback.workspace import open_workspace

NOT_PASSED = 1


class Options(VerifyRequest):
    """What is given by name; the set is an argument."""

    set: Annotated[Path | None, Parameter(parse=False)] = None


def verify(
    set_: Annotated[Path | None, Parameter(name="SET")] = None,
    /,
    *,
    request: Annotated[Options | None, Parameter(name="*")] = None,
    json: bool = False,
) -> int:
    """Scan set, workbench and everything findback keeps for what redaction should have caught.

    Args:
        set_: A set file or folder; the published one when left out.
        request: Everything else.
        json: Print JSON instead of a table.
    """
    asked = (request or Options()).model_copy(update={"set": set_})
    found = scan(open_workspace(required=False), asked)
    if json:
        show_json(found)
        return 0 if found.clean else NOT_PASSED
    if found.findings:
        show(table(("where", "line", "type", "rule"), [(f.where, f.line, f.type, f.rule) for f in found.findings]))
    for line in found.damaged:
        say(f"not as published: {line}")
    for line in found.unread:
        say(f"not looked at: {line}")
    scanner = "with" if found.second_look else "without"
    say(f"{found.files} files, {found.texts} texts, {found.blobs} blobs, {scanner} an independent look for secrets")
    findings = plural(len(found.findings), "finding")
    say(
        "clean"
        if found.clean
        else f"{findings}, {len(found.damaged)} not as published, {len(found.unread)} not looked at"
    )
    return 0 if found.clean else NOT_PASSED
