"""Exports that lie in a zip."""

import os
import stat
import struct
import zipfile
from pathlib import Path
from typing import IO

from findback.errors import DataError, Fault, RefusedError
from findback.sources.archive import Archive, Limits, reading_error, too_many

END_RECORD = b"PK\x05\x06"
"""How the list of members ends; an empty zip begins with it."""
_END_RECORD_64 = b"PK\x06\x06"
_PLAIN_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
_ENCRYPTED = 0x1


class Zip(Archive):
    """The members of a zip; names that lead out of it, links and bombs are left out or refused."""

    def __init__(self, path: Path, limits: Limits) -> None:
        super().__init__(path, limits)
        if _count_members(path) > limits.members:
            raise too_many(path, limits)
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
            raise DataError(
                f"{path} is not a zip that can be read", faults=[Fault(str(path), None, str(error))]
            ) from None
        except OSError as error:
            raise reading_error(str(path), error) from None
        self._members: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            if len(self._members) > limits.members:
                raise too_many(path, limits)
            if info.is_dir():
                continue
            reason = _refuse_name(info.filename, limits.depth)
            if reason is None and stat.S_ISLNK(info.external_attr >> 16):
                reason = "symbolic links"
            if reason is None and info.filename in self._members:
                reason = "second members of the same name"
            if reason is None:
                self._members[info.filename] = info
            else:
                self.left_out[reason] += 1
        self.admit({name: info.file_size for name, info in self._members.items()})

    def close(self) -> None:
        """Let go of the file."""
        super().close()
        self._zip.close()

    def where(self, name: str) -> str:
        """Return how messages call a member."""
        return f"{self.path}!{name}"

    def _open(self, name: str) -> IO[bytes]:
        info = self._members[name]
        if info.flag_bits & _ENCRYPTED:
            raise self.damaged(name, "protected by a password")
        if info.compress_type not in _PLAIN_METHODS:
            raise self.damaged(name, "packed by a method that is not read")
        grown = info.file_size > self.limits.free_bytes
        if grown and info.file_size > self.limits.ratio * max(info.compress_size, 1):
            raise RefusedError(
                f"{self.where(name)} grows more than {self.limits.ratio} times when unpacked",
                hint="a member like that is meant to fill memory; unpack the export yourself if you trust it",
            )
        return self._zip.open(info)


def _refuse_name(name: str, depth: int) -> str | None:
    parts = name.split("/")
    if "\\" in name or "\0" in name or name.startswith("/") or ".." in parts or ":" in parts[0]:
        return "names that lead out of the archive"
    if len(parts) > depth:
        return "folders deeper than may be"
    return None


def _count_members(path: Path) -> int:
    """Return how many members a zip claims, read from its end, before any list of them is made."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 66_000, 0))
            tail = file.read()
    except OSError as error:
        raise reading_error(str(path), error) from None
    place = tail.rfind(_END_RECORD_64)
    if place >= 0 and len(tail) >= place + 40:
        return int(struct.unpack_from("<Q", tail, place + 32)[0])
    place = tail.rfind(END_RECORD)
    return int(struct.unpack_from("<H", tail, place + 10)[0]) if 0 <= place <= len(tail) - 12 else 0
