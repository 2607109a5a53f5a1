"""What earlier steps left in the private folder: evaluations, audits and runs."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from findback.errors import DataError, FindbackError, MissingError
from findback.evalset.textfile import open_file
from findback.files import write_atomically
from findback.model.audit import Audit
from findback.model.evaluation import Evaluation
from findback.model.record import Record
from findback.workspace import Workspace

Kept = TypeVar("Kept", Audit, Evaluation)

PREFIX: dict[type[Record], str] = {Audit: "audit", Evaluation: "evaluation"}


def keep(workspace: Workspace, result: Audit | Evaluation) -> Path:
    """Store a result so that `findback report` finds it, and return its file.

    Raises:
        StorageError: If the disk refuses.
    """
    stamp = result.made.astimezone(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    file = workspace.private_part("evaluations") / f"{PREFIX[type(result)]}-{stamp}.json"
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
    folder = workspace.private / "evaluations"
    files = sorted(folder.glob(f"{PREFIX[kind]}-*.json"), reverse=True) if folder.is_dir() else []
    unreadable: list[str] = []
    for file in files:
        try:
            return Newest(load(file, kind), tuple(unreadable))
        except FindbackError as error:
            unreadable.append(str(error))
    return Newest(None, tuple(unreadable))


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
            hint=f"make it again: findback {'audit' if kind is Audit else 'evaluate'}",
        ) from None


def now() -> datetime:
    """Return the time of a result, in UTC."""
    return datetime.now(UTC)
