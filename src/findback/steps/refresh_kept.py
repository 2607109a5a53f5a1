"""The last refresh, kept privately: what of it still waits is read by whoever plans the week."""

import orjson
from pydantic import ValidationError

from findback.errors import DataError, FindbackError
from findback.evalset.textfile import open_file
from findback.files import write_atomically
from findback.model.stale import STALE_FORMAT, Refreshed, StaleCase
from findback.steps.caselist import MOST_CHANGES, QUESTIONED, open_head
from findback.steps.refresh_accept import group_by_case
from findback.workbench.store import Workbench
from findback.workspace import Workspace

PLACE = "staleness"
FILE = "refreshed.json"


def keep_refreshed(workspace: Workspace, result: Refreshed) -> None:
    """Store the last refresh in the place of the one before; words of questions are left out.

    Raises:
        StorageError: If the disk refuses.
    """
    found = tuple(one.model_copy(update={"terms": ()}) for one in result.found)
    kept = result.model_copy(update={"found": found})
    write_atomically(workspace.private_part(PLACE) / FILE, kept.model_dump_json(), private=True)


def read_refreshed(workspace: Workspace) -> Refreshed | None:
    """Return the last refresh; None where there was none.

    Raises:
        DataError: If its record is damaged, or of a format this version does not know.
    """
    file = workspace.private / PLACE / FILE
    if not file.is_file():
        return None
    hint = "run findback refresh again"
    with open_file(file) as opened:
        raw = opened.read()
    try:
        found = orjson.loads(raw)
        if isinstance(found, dict) and found.get("format") != STALE_FORMAT:
            raise DataError(f"{file} has a format this version does not know", hint=hint)
        return Refreshed.model_validate_json(raw)
    except (orjson.JSONDecodeError, ValidationError):
        raise DataError(f"{file} is no record of a refresh", hint=hint) from None


def list_stale(workspace: Workspace, bench: Workbench) -> tuple[StaleCase, ...]:
    """Return the cases that the last refresh found stale and that nobody has changed, kept or retired since.

    Cases with certain moves come first, then in the order of the refresh; none where there was no refresh, or its
    record cannot be read. Nothing is read anew.

    Raises:
        DataError: If the head of the set has faults.
    """
    try:
        last = read_refreshed(workspace)
    except FindbackError:
        last = None
    if last is None:
        return ()
    active = {case.id for case in open_head(workspace).cases if case.status == "active"}
    done = {
        change.case_id
        for change in bench.case_changes(limit=MOST_CHANGES)
        if change.what != QUESTIONED and change.at >= last.made
    }
    groups = group_by_case(one for one in last.stale if one.case in active - done)
    cases = [
        StaleCase(
            case=case_id,
            kinds=tuple(dict.fromkeys(one.kind for one in found)),
            proposals=tuple(dict.fromkeys(one.proposal for one in found)),
            certain=all(one.certain for one in found),
            documents=tuple(dict.fromkeys(one.document for one in found if one.document is not None)),
            why=tuple(one.why for one in found),
            found_on=last.made,
        )
        for case_id, found in groups.items()
    ]
    return tuple(sorted(cases, key=lambda one: not one.certain))
