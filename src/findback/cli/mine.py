"""`findback mine`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.progress import Bars
from findback.cli.shown import say, show, show_json, table
from findback.steps.mine import Mined, MinedExport, MineRequest
from findback.steps.mine import mine as run
from findback.workspace import open_workspace


class Options(MineRequest):
    """What is given by name; the exports are arguments."""

    exports: Annotated[tuple[Path, ...], Parameter(parse=False)] = ()
    release: Annotated[int | None, Parameter(parse=False)] = None


def mine(*exports: Path, request: Annotated[Options | None, Parameter(name="*")] = None, json: bool = False) -> None:
    """Find failed searches in exports, redact them, and put them into the private workbench.

    Args:
        exports: Exports to read; those of [sources] in findback.toml when none is named.
        request: Everything else.
        json: Print JSON instead of tables.
    """
    asked = (request or Options()).model_copy(update={"exports": exports})
    with Bars() as bars:
        mined = run(open_workspace(required=False), asked, progress=bars)
    if json:
        show_json(mined)
        return
    for export in mined.exports:
        _show_export(export)
    _show_outcome(mined)


def _show_export(export: MinedExport) -> None:
    say(f"{export.file}: read as {export.source} ({export.why})")
    for note in export.notes:
        say(f"  {note}")
    rows = [
        *(("read", name, count) for name, count in export.counts.items()),
        *(("left out", name, count) for name, count in export.skipped.items() if count),
        *(("candidates", name, count) for name, count in export.rules.items()),
        *(("folded", name, count) for name, count in export.folded.items() if count),
    ]
    show(table(("", "what", "how many"), rows))
    by_reason: dict[str, list[str]] = {}
    for rule, why in export.unsupported.items():
        by_reason.setdefault(why, []).append(rule)
    for why, rules in by_reason.items():
        say(f"not possible: {', '.join(rules)} ({why})")


def _show_outcome(mined: Mined) -> None:
    if mined.redacted:
        show(table(("redacted", "placeholders"), list(mined.redacted.items())))
    say(f"{mined.candidates} candidates; {mined.suggested} suggested redactions wait for a person")
    for line in mined.names:
        say(line)
    if mined.refused:
        say(f"dropped, because they could not be redacted whole: {mined.refused}")
    if mined.secrets:
        where = f"; where they are stands in {mined.secrets_file}" if mined.secrets_file else ""
        say(f"secrets found: {mined.secrets}. Rotate them{where}")
    if mined.dry_run:
        say("dry run: nothing was stored")
        return
    if mined.stored:
        say("workbench: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in mined.stored.items()))
    say("next: findback candidates list")
