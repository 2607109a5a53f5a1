"""`findback backup` and `findback restore`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.progress import Bars
from findback.cli.requests import make_request
from findback.cli.shown import say, show_json, warn
from findback.steps.backup import BackupRequest
from findback.steps.backup import backup as back_up
from findback.steps.restore import RestoreRequest
from findback.steps.restore import restore as put_back
from findback.workspace import open_workspace

IDENTITY = Annotated[Path | None, Parameter(name=("--identity", "-i"))]


def backup(file: Path, /, *, recipient: tuple[str, ...] = (), with_key: bool = False, json: bool = False) -> None:
    """Back the workbench up, while it is in use, into one file that restores into SQLite or PostgreSQL.

    The key of all digests is not in it: keep that apart, for without it nobody in the backup is recognised again.

    Args:
        file: Where it goes; an older backup there is replaced once the new one is whole.
        recipient: Public keys of age that may open it, age1…; in the clear without one.
        with_key: Put the key into it too; encrypted backups only.
        json: Print JSON instead of lines.
    """
    request = make_request(BackupRequest, file=file, recipient=recipient, with_key=with_key)
    with Bars() as progress:
        done = back_up(open_workspace(required=False), request, progress=progress)
    if json:
        show_json(done)
    else:
        how = "encrypted" if done.encrypted else "in the clear: it holds personal data"
        say(f"wrote {done.file} ({how}): {done.candidates} candidates, {done.cases} cases, {done.events} events")
    if not done.with_key:
        warn(f"the key is not in the backup. Keep a copy of it apart from the backup: {done.key_at}")
    warn(f"copy the list of what was erased to another disk too: {done.ledger_at}")


def restore(
    file: Path,
    /,
    *,
    identity: IDENTITY = None,
    replace: bool = False,
    ledger: Path | None = None,
    key_lost: bool = False,
    json: bool = False,
) -> None:
    """Put a backup back into the workbench of this workspace: all of it or nothing.

    What was purged, excluded or withdrawn since it was made stays so. Stop findback serve first.

    Args:
        file: The backup.
        identity: File of private keys of age, for an encrypted one.
        replace: Replace what the workbench holds.
        ledger: A further list of what was erased (erased.jsonl), where the private folder is a new one.
        key_lost: Restore although the key is gone for good: nobody is recognised again.
        json: Print JSON instead of lines.
    """
    request = make_request(
        RestoreRequest, file=file, identity=identity, replace=replace, ledger=ledger, key_lost=key_lost
    )
    with Bars() as progress:
        done = put_back(open_workspace(required=False), request, progress=progress)
    if json:
        show_json(done)
    else:
        say(f"restored {done.candidates} candidates and {done.cases} cases, as of {done.made:%Y-%m-%d %H:%M} UTC")
        if done.migrated_from is not None:
            say(f"brought up from format {done.migrated_from}")
        if done.erased:
            counted = ", ".join(f"{count} {name}" for name, count in done.erased.items())
            say(f"taken out, because it was erased since or its time is over: {counted}")
    for note in done.notes:
        warn(note)
