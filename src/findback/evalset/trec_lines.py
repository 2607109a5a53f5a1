"""Lines of TREC files, and what is wrong with them."""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import BinaryIO

from findback.errors import DataError, Fault, MissingError, StorageError

RUN_COLUMNS, QRELS_COLUMNS = 6, 4
BLOCK = 1 << 20
"""Bytes read in one go."""
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_HINT = "mend them, or read the good lines only with --skip-bad"


class DamagedError(Exception):
    """Compressed data that end too early or cannot be unpacked."""


def _open(path: Path) -> BinaryIO:
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
        if not packed:
            return path.open("rb")
        import gzip  # noqa: PLC0415  (few runs are compressed)

        return gzip.open(path, "rb")  # type: ignore[return-value]
    except FileNotFoundError:
        raise MissingError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder, not a file") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {(error.strerror or '').lower()}") from None


def read_blocks(path: Path) -> Iterator[bytes]:
    """Yield a file in stretches of whole lines, each ended with a line feed.

    Raises:
        DamagedError: If compressed data cannot be unpacked.
    """
    with _open(path) as file:
        carry = b""
        first = True
        while piece := _read(file):
            if first:
                piece, first = piece.removeprefix(_BOM), False
            cut = piece.rfind(b"\n") + 1
            if cut:
                yield carry + piece[:cut]
                carry = piece[cut:]
            else:
                carry += piece
        if carry:
            yield carry + b"\n"


def _read(file: BinaryIO) -> bytes:
    try:
        return file.read(BLOCK)
    except (EOFError, OSError, ValueError) as error:
        raise DamagedError from error
    except Exception as error:
        # zlib has its own error, and is only there when a file is compressed.
        if type(error).__module__ == "zlib":
            raise DamagedError from error
        raise


def finite_number(text: str) -> float | None:
    """Return the number a text means, None when it means none or one that is not finite."""
    try:
        value = float(text) if "_" not in text else float("nan")
    except ValueError:
        return None
    return value if isfinite(value) else None


def shown(text: str) -> str:
    """Return an id as it can stand in a message: short, quoted, without control characters."""
    cut = text if len(text) <= 80 else text[:79] + "…"
    return "'" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut) + "'"


def read_rows(path: Path, columns: int, faults: list[Fault]) -> Iterator[tuple[int, list[str]]]:
    """Yield number and columns of each line that has enough of them; the others become faults."""
    number = 0
    try:
        for block in read_blocks(path):
            for raw in block.splitlines():
                number += 1
                try:
                    line = raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    faults.append(Fault(str(path), number, f"byte {error.start + 1} is not UTF-8"))
                    continue
                cells = line.split()
                if "\0" in line:
                    faults.append(Fault(str(path), number, "there is a NUL byte"))
                elif len(cells) >= columns:
                    yield number, cells
                elif cells:
                    faults.append(Fault(str(path), number, _guess_columns(line, cells, columns)))
    except DamagedError:
        faults.append(Fault(str(path), number, "the file ends too early or is damaged"))


def _guess_columns(line: str, cells: list[str], columns: int) -> str:
    """Return what a line with too few columns looks like."""
    wanted = {
        RUN_COLUMNS: "a run has six (query Q0 document rank score tag)",
        QRELS_COLUMNS: "judgements have four (query 0 document grade)",
    }[columns]
    like = ""
    if line.lstrip().startswith(("{", "[")):
        like = "; this looks like JSON"
    elif line.count("\t") == 2 and columns == QRELS_COLUMNS:
        like = "; this looks like BEIR's tab-separated judgements"
    elif len(cells) == QRELS_COLUMNS and columns == RUN_COLUMNS:
        like = "; this looks like judgements (qrels)"
    elif line.count("\t") == 2:
        like = "; this looks like a tab-separated run of another format"
    elif line.count(",") >= columns - 2:
        like = "; this looks like CSV"
    return f"{len(cells)} column{'s' if len(cells) > 1 else ''}: {wanted}{like}"


def settle_faults(path: Path, what: str, faults: list[Fault], *, skip_bad: bool) -> None:
    """Raise DataError with all faults, unless bad lines are to be left out."""
    if faults and not skip_bad:
        count = f"{len(faults):,} fault{'s' if len(faults) > 1 else ''}"
        raise DataError(f"the {what} {path} has {count}", faults=faults, hint=_HINT)
