"""Proposed and refused terms, kept in the private folder until somebody decides or asks again."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from findback.errors import DataError, MissingError
from findback.evalset.textfile import open_file
from findback.files import write_atomically
from findback.model.glossary import Proposal, Proposals
from findback.model.record import Record
from findback.text.words import fold
from findback.workspace import Workspace

PLACE = "glossary"
PROPOSED = "proposals.json"
REFUSED = "refused.json"


class Refused(Record):
    """Pairs of words that are not proposed again."""

    format: Literal[1] = 1
    pairs: tuple[tuple[str, str], ...] = ()
    """Folded."""


def keep_proposals(workspace: Workspace, found: Proposals) -> Path:
    """Store proposals in the place of older ones, and return their file.

    Raises:
        StorageError: If the disk refuses.
    """
    file = workspace.private_part(PLACE) / PROPOSED
    write_atomically(file, found.model_dump_json(), private=True)
    return file


def load_proposals(workspace: Workspace) -> Proposals:
    """Return the newest proposals.

    Raises:
        MissingError: If there are none.
        DataError: If they are of another version of findback or broken.
    """
    file = workspace.private / PLACE / PROPOSED
    hint = "make them: findback glossary suggest"
    if not file.exists():
        raise MissingError("no terms have been proposed yet", hint=hint)
    try:
        with open_file(file) as handle:
            return Proposals.model_validate_json(handle.read())
    except ValidationError:
        raise DataError(f"{file} holds no proposals of this version of findback", hint=hint) from None


def read_refused(workspace: Workspace) -> frozenset[tuple[str, str]]:
    """Return the pairs of words that are not proposed again.

    Raises:
        DataError: If they cannot be read.
    """
    file = workspace.private / PLACE / REFUSED
    if not file.exists():
        return frozenset()
    try:
        with open_file(file) as handle:
            return frozenset(Refused.model_validate_json(handle.read()).pairs)
    except ValidationError:
        raise DataError(f"{file} holds no refused terms", hint="remove it: refused terms are proposed again") from None


def refuse_terms(workspace: Workspace, proposals: Iterable[Proposal]) -> None:
    """Remember that terms are not to be proposed again.

    Raises:
        StorageError: If the disk refuses.
    """
    pairs = read_refused(workspace) | {pair_of(one.when, one.add) for one in proposals}
    file = workspace.private_part(PLACE) / REFUSED
    write_atomically(file, Refused(pairs=tuple(sorted(pairs))).model_dump_json(), private=True)


def pair_of(when: str, add: str) -> tuple[str, str]:
    """Return what makes two terms the same."""
    return fold(when), fold(add)


def forget_proposals(workspace: Workspace, cases: AbstractSet[str]) -> int:
    """Take out the proposals that rest on some cases, and what was refused, where any does; return how many go.

    What was refused names no cases, so all of it goes: it may hold their words.

    Raises:
        StorageError: If the disk refuses.
    """
    folder = workspace.private / PLACE
    gone = 0
    if (folder / PROPOSED).exists():
        try:
            found = load_proposals(workspace)
        except DataError:
            (folder / PROPOSED).unlink()
            return 1
        left = tuple(one for one in found.proposals if cases.isdisjoint(one.cases))
        gone = len(found.proposals) - len(left)
        if gone:
            keep_proposals(workspace, found.model_copy(update={"proposals": left}))
    if (folder / REFUSED).exists():
        (folder / REFUSED).unlink()
    return gone
