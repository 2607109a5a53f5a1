"""Files written whole or not at all."""

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from findback.errors import StorageError


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file beside its place and move it there, readable by its owner only; folders are made (mode
    0700).

    Raises:
        StorageError: If the disk refuses; an earlier file is then still there.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        temporary = None
    except OSError as refused:
        reason = (refused.strerror or type(refused).__name__).lower()
        raise StorageError(
            f"{path} cannot be written: {reason}", hint="make its folder writable, or choose another"
        ) from None
    finally:
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)
