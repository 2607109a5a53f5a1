"""Files that are either wholly written or not touched."""

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from findback.errors import StorageError


def write_atomically(path: Path, chunks: Iterable[str | bytes]) -> None:
    """Write a file under a temporary name beside it and rename it; text is UTF-8.

    Raises:
        StorageError: If the disk refuses; the old file, if any, is then as it was.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:60]}.", suffix=".part", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            for chunk in chunks:
                file.write(chunk.encode("utf-8") if isinstance(chunk, str) else chunk)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files only their owner reads; a committed set follows the user's own mask.
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
        temporary = None
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else "the disk refused"
        raise StorageError(
            f"{path} cannot be written: {reason}", hint="choose a folder that can be written to"
        ) from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
