"""What earlier steps left in the private folder: evaluations, audits, comparisons, what a model wrote, and runs."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from findback.errors import DataError, FindbackError, MissingError
from findback.evalset.textfile import open_file
from findback.files import write_atomically
from findback.model.across import Across, Effects
from findback.model.audit import Audit
from findback.model.compared import Comparison
from findback.model.evaluation import Evaluation
from findback.model.generated import Generated
from findback.model.items import ItemAnalysis
from findback.model.question import UNRELEASED_POOL
from findback.model.record import Record
from findback.model.week import Week
from findback.workspace import Workspace

Kept = TypeVar("Kept", Across, Audit, Comparison, Effects, Evaluation, Generated, ItemAnalysis, Week)

PREFIX: dict[type[Record], str] = {
    Across: "across",
    Audit: "audit",
    Comparison: "comparison",
    Effects: "effects",
    Evaluation: "evaluation",
    Generated: "generated",
    ItemAnalysis: "items",
    Week: "week",
}
COMMAND: dict[type[Record], str] = {
    Across: "compare --across",
    Audit: "audit",
    Comparison: "compare",
    Effects: "compare --by",
    Evaluation: "evaluate",
    Generated: "generate",
    ItemAnalysis: "items",
    Week: "week",
}
POOL = "pool"
"""Begins the file of an evaluation of the unreleased pool: who asks for the newest scores never gets it."""


def keep(
    workspace: Workspace, result: Across | Audit | Comparison | Effects | Evaluation | Generated | ItemAnalysis | Week
) -> Path:
    """Store a result so that `findback report` finds it, and return its file; scores of the pool stand apart.

    Raises:
        StorageError: If the disk refuses.
    """
    stamp = result.made.astimezone(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    pool = isinstance(result, Evaluation) and result.set.heading.startswith(UNRELEASED_POOL)
    prefix = POOL if pool else PREFIX[type(result)]
    file = workspace.private_part("evaluations") / f"{prefix}-{stamp}.json"
    write_atomically(file, result.model_dump_json(), private=True)
    return file


class Newest(NamedTuple, Generic[Kept]):
    """The newest stored result that can be read."""

    result: Kept | None
    """None when there is none."""
    unreadable: tuple[str, ...]
    """What is wrong with each newer one."""


def newest(workspace: Workspace, kind: type[Kept]) -> Newest[Kept]:
    """Return the newest stored result of a kind that can be read, and what is wrong with newer ones."""
    unreadable: list[str] = []
    for file in _list_files(workspace, kind):
        try:
            return Newest(load(file, kind), tuple(unreadable))
        except FindbackError as error:
            unreadable.append(str(error))
    return Newest(None, tuple(unreadable))


def each_kept(workspace: Workspace, kind: type[Kept], *, most: int) -> Iterator[Kept]:
    """Yield the stored results of a kind that can be read among the `most` newest, newest first."""
    for file in _list_files(workspace, kind)[:most]:
        try:
            yield load(file, kind)
        except FindbackError:
            continue


def _list_files(workspace: Workspace, kind: type[Record]) -> list[Path]:
    folder = workspace.private / "evaluations"
    return sorted(folder.glob(f"{PREFIX[kind]}-*.json"), reverse=True) if folder.is_dir() else []


def load(file: Path, kind: type[Kept]) -> Kept:
    """Return a stored result.

    Raises:
        MissingError: If there is no such file.
        DataError: If it is no regular file, of another version of findback or broken.
        StorageError: If it may not be read.
    """
    try:
        with open_file(file) as handle:
            return kind.model_validate_json(handle.read())
    except MissingError:
        raise MissingError(f"there is no file {file}") from None
    except OSError as error:
        raise DataError(f"cannot read {file}: {(error.strerror or 'unknown').lower()}") from error
    except ValidationError:
        raise DataError(
            f"{file} is not an {PREFIX[kind]} of this version of findback",
            hint=f"make it again: findback {COMMAND[kind]}",
        ) from None


def now() -> datetime:
    """Return the time of a result, in UTC."""
    return datetime.now(UTC)
