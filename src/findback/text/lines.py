"""Lines of a file of bytes, numbered, placed and bounded."""

from collections.abc import Iterator
from typing import IO, NamedTuple

BOM = b"\xef\xbb\xbf"
"""What some programs put before UTF-8."""
UTF16 = (b"\xff\xfe", b"\xfe\xff")
"""How a file of UTF-16 begins."""
_CHUNK = 1 << 20


class RawLine(NamedTuple):
    """One line of a file."""

    number: int
    """1-based."""
    offset: int
    """Byte at which it starts."""
    raw: bytes
    """With its line end, the first one without its byte order mark."""
    whole: bool
    """False where the line is longer than may be and `raw` is only its beginning."""


def raw_lines(file: IO[bytes], limit: int) -> Iterator[RawLine]:
    r"""Yield the lines of a file; never more of one than its limit is held in memory.

    Args:
        file: Opened for reading at its start.
        limit: Most bytes of a line, its end counted.

    >>> from io import BytesIO
    >>> [line.raw for line in raw_lines(BytesIO(b"\xef\xbb\xbfone\n" + b"2" * 99 + b"\nthree"), limit=8) if line.whole]
    [b'one\n', b'three']
    """
    number = offset = 0
    while raw := file.readline(limit + 1):
        number += 1
        start, offset = offset, offset + len(raw)
        whole = len(raw) <= limit
        if not whole:
            last = raw
            while last and not last.endswith(b"\n"):
                last = file.readline(_CHUNK)
                offset += len(last)
        if number == 1:
            raw = raw.removeprefix(BOM)
        yield RawLine(number, start, raw, whole)
