"""Exports opened: a folder, a zip or one file."""

import stat
from pathlib import Path

from findback.errors import DataError
from findback.sources.archive import LIMITS, Archive, Limits, reading_error
from findback.sources.folder import Folder, SingleFile
from findback.sources.zipped import END_RECORD, Zip


def open_archive(path: Path | Archive, limits: Limits = LIMITS) -> Archive:
    """Open a folder, a zip, or one file as an export of one member; what is open already is returned as it is.

    Raises:
        MissingError: If nothing is there.
        DataError: If it is no file or folder, or a damaged zip.
        RefusedError: If it holds more than may be read.
        StorageError: If it may not be read.
    """
    if isinstance(path, Archive):
        return path
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return Folder(path, limits)
        if not stat.S_ISREG(mode):
            raise DataError(f"{path} is no file or folder")
        with path.open("rb") as file:
            first = file.read(4)
    except OSError as error:
        raise reading_error(str(path), error) from None
    except ValueError:
        raise DataError(f"{path!s:.200} is not a usable path") from None
    return Zip(path, limits) if first in (b"PK\x03\x04", END_RECORD) else SingleFile(path, limits)
