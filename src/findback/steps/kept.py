"""What earlier steps left in the private folder: evaluations, audits and runs."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from findback.errors import DataError, MissingError
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


def newest(workspace: Workspace, kind: type[Kept]) -> Kept | None:
    """Return the newest stored result of a kind, or None when there is none.

    Raises:
        DataError: If the file is of another version of findback or broken.
    """
    folder = workspace.private / "evaluations"
    files = sorted(folder.glob(f"{PREFIX[kind]}-*.json")) if folder.is_dir() else []
    return load(files[-1], kind) if files else None


def load(file: Path, kind: type[Kept]) -> Kept:
    """Return a stored result.

    Raises:
        MissingError: If there is no such file.
        DataError: If the file is of another version of findback or broken.
    """
    try:
        return kind.model_validate_json(file.read_bytes())
    except FileNotFoundError:
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
