"""Lines of a text file, with every way a file can be wrong said in words."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from findback.errors import DataError, Fault, FindbackError, MissingError, StorageError
from findback.text.lines import BOM, UTF16, raw_lines

LINE_LIMIT = 20_000_000
"""Most bytes one line may have."""

FAULT_LIMIT = 10_000
"""Most faults that are kept of one set; further ones are only counted."""

_CHUNK = 1 << 20
SKIPPING = "mend them, or read the good rows only with --skip-bad"
"""What to do about faults where the command can leave rows out."""


class Line(NamedTuple):
    """One line of a file."""

    number: int
    """1-based."""
    text: str
    """With its line end."""
    sound: bool = True
    """False for a line with a fault, whose text is then only an approximation."""


class Faults:
    """Everything found wrong while one set is read."""

    def __init__(self) -> None:
        self.found: list[Fault] = []
        self._places: set[tuple[str, int | None, str]] = set()
        self._dropped = 0

    def add(self, path: Path, line: int | None, message: str) -> None:
        """Remember a fault."""
        self._places.add((str(path), line, message.partition(":")[0] if line is None else ""))
        if len(self.found) < FAULT_LIMIT:
            self.found.append(Fault(str(path), line, message))
        else:
            self._dropped += 1

    @property
    def rows(self) -> int:
        """Return how many rows have a fault."""
        return len(self._places)

    def settle(self, what: str, *, skip_bad: bool, hint: str = SKIPPING) -> tuple[str, ...]:
        """Return notes about the rows left out at the user's wish; nothing when all is well.

        Raises:
            DataError: If there are faults and nobody asked to skip bad rows.
        """
        if not self.found:
            return ()
        if not skip_bad:
            count = len(self.found) + self._dropped
            raise DataError(
                f"{what} has {count:,} fault{'s' if count > 1 else ''}",
                faults=self.found,
                hint=hint,
            )
        return (
            f"{self.rows:,} bad row{'s' if self.rows > 1 else ''} left out",
            *(f"left out: {fault}" for fault in self.found[:5]),
        )


def shown(reference: str, limit: int = 80) -> str:
    r"""Return an id as it can stand in a message: short, quoted, without control characters.

    >>> shown("a\nb")
    "'a\\nb'"
    """
    cut = reference if len(reference) <= limit else reference[: limit - 1] + "…"
    escaped = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
    return f"'{escaped}'"


def open_file(path: Path) -> BufferedReader:
    """Open a regular file for reading.

    Raises:
        MissingError: If nothing is there.
        DataError: If it is a folder, a device or a loop of links.
        StorageError: If it may not be read.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise DataError(f"{path} is a folder, and a file was expected")
        if not stat.S_ISREG(mode):
            raise DataError(f"{path} is not a regular file")
        return path.open("rb")
    except (OSError, ValueError, RuntimeError) as error:
        raise reading_error(path, error) from None


def reading_error(path: Path, error: Exception) -> FindbackError:
    """Return the error of ours that says why a path cannot be read."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return MissingError(f"{path} is not there", hint="check the path")
    if isinstance(error, PermissionError):
        return StorageError(f"{path} may not be read", hint="check its permissions")
    # Python below 3.13 reports a loop of links as RuntimeError in some calls.
    if isinstance(error, RuntimeError) or getattr(error, "errno", None) == errno.ELOOP:
        return DataError(f"{path} is a loop of symbolic links")
    if isinstance(error, OSError) and error.errno is not None:
        return StorageError(f"{path} cannot be read: {os.strerror(error.errno).lower()}")
    return DataError(f"{path!s:.200} is not a usable path")


def read_lines(path: Path, faults: Faults, *, limit: int = LINE_LIMIT, approximate: bool = False) -> Iterator[Line]:
    """Yield the lines of a UTF-8 file; a byte order mark is dropped, CRLF made LF, blank lines are kept.

    Lines that are too long, no UTF-8 or hold NUL bytes become faults and are left out.

    Args:
        path: A file.
        faults: Where bad lines are noted.
        limit: Most bytes of a line.
        approximate: For formats whose rows span lines: yield bad lines as well, as far as they can be read, and
            leave line ends as they are.

    Raises:
        MissingError: If nothing is there.
        DataError: If it is no regular file, or is UTF-16.
        StorageError: If it may not be read.
    """
    with open_file(path) as file:
        for number, _, raw, whole in raw_lines(file, limit):
            if number == 1 and raw.startswith(UTF16):
                fault = Fault(str(path), 1, "the file is UTF-16")
                raise DataError(f"{path} is not UTF-8", faults=[fault], hint="save it as UTF-8")
            if not whole:
                faults.add(path, number, f"the line has more than {limit:,} bytes")
                if approximate:
                    yield Line(number, "\n", sound=False)
                continue
            line = raw[:-2] + b"\n" if raw.endswith(b"\r\n") and not approximate else raw
            trouble = _find_trouble(line)
            if trouble is None:
                yield Line(number, line.decode("utf-8"))
                continue
            faults.add(path, number, trouble)
            if approximate:
                yield Line(number, line.replace(b"\0", b" ").decode("utf-8", "replace"), sound=False)


def _find_trouble(raw: bytes) -> str | None:
    if b"\0" in raw:
        return f"NUL byte at position {raw.index(0) + 1}"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte 0x{raw[error.start]:02x} at position {error.start + 1} is not UTF-8"
    return None


def first_line(path: Path) -> str:
    """Return the first line that is not blank, decoded as well as may be; empty when there is none."""
    try:
        with open_file(path) as file:
            for _ in range(100):
                raw = file.readline(_CHUNK)
                if not raw:
                    return ""
                text = raw.removeprefix(BOM).decode("utf-8", errors="replace").strip()
                if text:
                    return text
    except FindbackError:
        pass
    return ""


def digest_files(paths: list[Path]) -> str:
    """Return the sha256 of one file's bytes, or of several files' names and digests in the order given."""
    digests = []
    for path in paths:
        with open_file(path) as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    if len(digests) == 1:
        return digests[0]
    listing = "".join(f"{path.name} {digest}\n" for path, digest in zip(paths, digests, strict=True))
    return hashlib.sha256(listing.encode()).hexdigest()
