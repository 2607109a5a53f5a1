"""Text files: encodings, line ends and sizes, judged before anything is parsed."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from findback.corpus.findings import Findings
from findback.errors import DataError, Fault
from findback.text.lines import raw_lines

MOST_BYTES = 10_000_000
"""Most bytes one document may have; what is longer is an export, not a document."""
MOST_LINE_BYTES = 40_000_000
"""Most bytes of one line of a table: a document of the longest kind with every character escaped."""

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def find_encoding(head: bytes) -> str:
    r"""Return the encoding a byte order mark names, else UTF-8.

    >>> find_encoding(b"plain"), find_encoding(b"\xff\xfea\x00")
    ('utf-8', 'utf-16')
    """
    return next((name for bom, name in _BOMS if head.startswith(bom)), "utf-8")


def fold_newlines(text: str) -> str:
    r"""Return the text with every line end as a single line feed.

    >>> fold_newlines("a\r\nb\rc")
    'a\nb\nc'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def decode_text(raw: bytes, shown: str) -> str:
    """Return the text of a file, line ends folded, byte order mark removed.

    Anchors and spans count characters of this text.

    Raises:
        DataError: If the bytes are not UTF-8 (or UTF-16/32 with a byte order mark), or hold NUL;
            its one fault has the line and the byte offset.
    """
    encoding = find_encoding(raw)
    if encoding in ("utf-8", "utf-8-sig") and b"\0" in raw:
        place = raw.index(b"\0")
        raise _not_text(shown, raw, place, "holds a NUL byte, so it is no text (or UTF-16 without its mark)")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as bad:
        raise _not_text(shown, raw, bad.start, f"is not {encoding.removesuffix('-sig').upper()}") from None
    if "\0" in text:
        raise DataError("not a text file", faults=[Fault(shown, None, "holds NUL characters")])
    return fold_newlines(text)


def read_text(path: Path, shown: str) -> str:
    """Return the text of a file, see `decode_text`.

    Raises:
        DataError: If it cannot be read, is longer than a document may be, or is no text.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as refused:
        raise DataError("unreadable file", faults=[unreadable(shown, refused)]) from None
    if len(raw) > MOST_BYTES:
        raise DataError("file too long", faults=[Fault(shown, None, too_long("file"))])
    return decode_text(raw, shown)


def read_lines(path: Path, shown: str, findings: Findings) -> Iterator[tuple[int, str]]:
    """Yield each line of a table with its number, line end included, as text.

    A line that is not in the file's encoding, or longer than a line may be, becomes a fault; an undecodable
    line still comes, with replacement characters, so that what spans lines (a quoted cell) stays in step:
    check `findings.faults` before trusting it.
    """
    try:
        with path.open("rb") as file:
            encoding = find_encoding(file.read(4))
            file.seek(0)
            if encoding in ("utf-16", "utf-32"):
                yield from _read_wide_lines(path, encoding, shown, findings)
                return
            for line in raw_lines(file, MOST_LINE_BYTES):
                if not line.whole:
                    findings.fault(shown, line.number, too_long("line", MOST_LINE_BYTES))
                    continue
                try:
                    yield line.number, line.raw.decode()
                except UnicodeDecodeError as bad:
                    findings.fault(shown, line.number, f"byte {line.offset + bad.start}: is not UTF-8")
                    yield line.number, line.raw.decode(errors="replace")
    except OSError as refused:
        fault = unreadable(shown, refused)
        findings.fault(*fault)


def _read_wide_lines(path: Path, encoding: str, shown: str, findings: Findings) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with path.open(encoding=encoding, newline="\n") as file:
            while line := file.readline(MOST_LINE_BYTES):
                number += 1
                yield number, line
    except UnicodeError:
        findings.fault(shown, number + 1, f"is not {encoding.upper()} from here on")


def too_long(what: str, limit: int = MOST_BYTES) -> str:
    """Return the sentence for something beyond its limit."""
    return f"the {what} is longer than {limit:,} bytes"


def unreadable(shown: str, refused: OSError) -> Fault:
    """Return the fault for a file the system would not read."""
    return Fault(shown, None, f"cannot be read: {(refused.strerror or type(refused).__name__).lower()}")


def _not_text(shown: str, raw: bytes, place: int, what: str) -> DataError:
    line = raw.count(b"\n", 0, place) + 1
    return DataError("not a text file", faults=[Fault(shown, line, f"byte {place}: {what}; save it as UTF-8")])
