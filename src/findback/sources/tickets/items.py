"""Records of JSON files, one at a time: an array's items, an envelope's arrays, or one object a line."""

import re
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import orjson

from findback.model.thread import Skipped
from findback.sources.faults import Faults
from findback.text.lines import BOM, raw_lines

MOST_ITEM = 64_000_000
"""Most bytes of one record; larger ones are counted and left out."""
MOST_DEPTH = 100
"""Deepest nesting of a record that is read."""
TOO_LONG = f"records of more than {MOST_ITEM // 1_000_000} MB"
"""Why such a record is skipped."""

_CHUNK = 1 << 18
_BLANK = re.compile(rb"[ \t\r\n]*+")
_NEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{}]', re.DOTALL)
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_SCALAR = re.compile(rb'[^\s,\[\]{}"]*+')
_QUOTE = 0x22
_OPENING = b'"{['
_NAMES_A_RECORD = frozenset((b'"id"', b'"key"', b'"number"', b'"sys_id"'))


class Item(NamedTuple):
    """One record and where it lies."""

    array: str | None
    """Key of the envelope's array that holds it; None for a record of its own."""
    value: dict[str, Any]
    line: int
    """1-based line on which it begins."""
    offset: int
    """Byte on which it begins."""


class Items:
    """The records of one JSON file in order; what cannot be read becomes a fault with its line."""

    def __init__(
        self, file: IO[bytes], shown: str, faults: Faults, skipped: Skipped, *, envelopes: frozenset[str]
    ) -> None:
        self._file = file
        self._shown = shown
        self._faults = faults
        self._skipped = skipped
        self._envelopes = {b'"' + name.encode() + b'"' for name in envelopes}
        self._buffer = b""
        self._at = 0
        self._before = 0
        self._line = 1
        self._ended = False

    def __iter__(self) -> Iterator[Item]:
        """Yield each record; stops at the first place after which the file makes no sense."""
        if self._peek().startswith(BOM):
            self._at += len(BOM)
        try:
            while (head := self._skip_blank()) is not None:
                if head == b"[":
                    yield from self._array(None)
                elif head == b"{":
                    yield from self._object()
                else:
                    self._fault("is no JSON record: it starts with no brace or bracket")
                    return
        except _BrokenError as broken:
            self._fault(str(broken))

    def _array(self, name: str | None) -> Iterator[Item]:
        self._at += 1
        fresh = True
        while True:
            head = self._skip_blank()
            if head is None:
                raise _BrokenError("the file ends inside an array: it is not whole")
            if head == b"]":
                self._at += 1
                return
            if not fresh:
                if head != b",":
                    raise _BrokenError("no comma between two items of an array")
                self._at += 1
                head = self._skip_blank()
            fresh = False
            line, offset = self._line, self._before + self._at
            raw = self._value()
            if raw is not None and (value := self._load(raw, line)) is not None:
                if isinstance(value, dict):
                    yield Item(name, value, line, offset)
                else:
                    self._fault(f"a JSON {type(value).__name__} where an object is expected", line)

    def _object(self) -> Iterator[Item]:
        """Yield the items of an envelope's arrays, then the rest of the object, or the object as it is."""
        line, offset = self._line, self._before + self._at
        self._at += 1
        rest: list[bytes] = []
        size, named, fresh, opened = 0, False, True, False
        while (name := self._name(fresh=fresh)) is not None:
            fresh = False
            named = named or name in _NAMES_A_RECORD
            if name in self._envelopes and not named and self._skip_blank() == b"[":
                opened = True
                yield from self._array(orjson.loads(name))
                continue
            raw = self._value()
            grown = size + len(name) + len(raw) if raw is not None else MOST_ITEM + 1
            if raw is not None:
                rest.append(name + b":" + raw)
                if size <= MOST_ITEM < grown:
                    self._skipped.add(TOO_LONG)
            size = grown
            if size > MOST_ITEM:
                rest.clear()
        if size <= MOST_ITEM and (rest or not opened):
            value = self._load(b"{" + b",".join(rest) + b"}", line)
            if value is not None:
                yield Item(None, value, line, offset)

    def _name(self, *, fresh: bool) -> bytes | None:
        """Return the name of the next field, quotation marks included, and go to its value; None at the end."""
        head = self._skip_blank()
        if head == b"}":
            self._at += 1
            return None
        if not fresh:
            if head != b",":
                raise _BrokenError("no comma between two fields of an object" if head else _ENDS)
            self._at += 1
            head = self._skip_blank()
        name = self._value() if head == b'"' else None
        if name is None:
            raise _BrokenError("a field has no name in quotation marks" if head else _ENDS)
        if (head := self._skip_blank()) != b":":
            raise _BrokenError("no colon after a field's name" if head else _ENDS)
        self._at += 1
        self._skip_blank()
        return name

    def _load(self, raw: bytes, line: int) -> Any:
        if (raw.count(b"[") + raw.count(b"{")) > MOST_DEPTH and _is_deep(raw):
            self._fault(f"nested deeper than {MOST_DEPTH} levels", line)
            return None
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError as bad:
            self._fault(f"not valid JSON: {bad.msg}", line + bad.lineno - 1)
            return None

    def _value(self) -> bytes | None:
        """Return the bytes of the value that begins here, and go past it; None for one that is too long."""
        scan, at, dropped = _Scan(), self._at, False
        while True:
            at, done = scan.advance(self._buffer, at)
            if done:
                break
            if at - self._at > MOST_ITEM:
                # Its beginning is let go; only the end is still looked for.
                dropped = True
                self._line += self._buffer.count(b"\n", self._at, at)
                self._before += at
                self._buffer, self._at, at = self._buffer[at:], 0, 0
            start = self._at
            if not self._fill():
                raise _BrokenError(_ENDS)
            at -= start
        raw = self._buffer[self._at : at]
        self._at = at
        self._line += raw.count(b"\n")
        if dropped or len(raw) > MOST_ITEM:
            self._skipped.add(TOO_LONG)
            return None
        return raw

    def _fill(self) -> bool:
        """Read further bytes behind what is still needed; False at the end of the file."""
        if self._ended:
            return False
        kept = len(self._buffer) - self._at
        chunk = self._file.read(max(_CHUNK, min(kept, MOST_ITEM)))
        if not chunk:
            self._ended = True
            return False
        self._before += self._at
        self._buffer = self._buffer[self._at :] + chunk
        self._at = 0
        return True

    def _skip_blank(self) -> bytes | None:
        while True:
            match = _BLANK.match(self._buffer, self._at)
            end = match.end() if match else self._at
            self._line += self._buffer.count(b"\n", self._at, end)
            self._at = end
            if end < len(self._buffer):
                return self._buffer[end : end + 1]
            if not self._fill():
                return None

    def _peek(self) -> bytes:
        if not self._buffer:
            self._fill()
        return self._buffer[:3]

    def _fault(self, message: str, line: int | None = None) -> None:
        self._faults.add(self._shown, self._line if line is None else line, message)


class _BrokenError(Exception):
    """The file makes no sense from here on."""


class _Scan:
    """Looks for the end of one value, however many pieces it comes in; no byte is looked at more than twice."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False

    def advance(self, buffer: bytes, at: int) -> tuple[int, bool]:
        """Return how far the value is known to reach, and whether that is its end."""
        if self._in_string:
            match = _IN_STRING.match(buffer, at)
            at = match.end() if match else at
            if at >= len(buffer) or buffer[at] != _QUOTE:
                return at, False
            at, self._in_string = at + 1, False
            if not self._depth:
                return at, True
        elif not self._depth and at < len(buffer) and buffer[at] not in _OPENING:
            return self._scalar(buffer, at)
        for found in _NEXT.finditer(buffer, at):
            at, token = found.end(), found[0]
            if token in (b"{", b"["):
                self._depth += 1
            elif token in (b"}", b"]"):
                self._depth -= 1
            elif token == b'"':
                self._in_string = True
                return at, False
            if not self._depth:
                return at, True
        return len(buffer), False

    @staticmethod
    def _scalar(buffer: bytes, at: int) -> tuple[int, bool]:
        match = _SCALAR.match(buffer, at)
        end = match.end() if match else at
        if end == at:
            raise _BrokenError("a field or item has no value")
        # What reaches the end of the buffer may go on; it is looked at again from its start.
        return (end, True) if end < len(buffer) else (at, False)


_ENDS = "the file ends inside a record: it is not whole"
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def _is_deep(raw: bytes) -> bool:
    depth = 0
    for match in _TOKEN.finditer(raw):
        token = match[0]
        if token in (b"[", b"{"):
            depth += 1
            if depth > MOST_DEPTH:
                return True
        elif token in (b"]", b"}"):
            depth -= 1
    return False


def read_lines(file: IO[bytes], shown: str, faults: Faults, skipped: Skipped) -> Iterator[Item]:
    """Yield one record a line; a bad line is a fault, and reading goes on after it."""
    for number, start, raw, whole in raw_lines(file, MOST_ITEM):
        if not whole:
            skipped.add(TOO_LONG)
            continue
        if raw.isspace() or not raw:
            continue
        if raw.count(b"[") + raw.count(b"{") > MOST_DEPTH and _is_deep(raw):
            faults.add(shown, number, f"nested deeper than {MOST_DEPTH} levels")
            continue
        try:
            value = orjson.loads(raw)
        except orjson.JSONDecodeError as bad:
            faults.add(shown, number, f"not valid JSON: {bad.msg} (column {bad.colno})")
            continue
        if isinstance(value, dict):
            yield Item(None, value, number, start)
        else:
            faults.add(shown, number, f"a JSON {type(value).__name__} where an object is expected")


def is_lines(head: bytes, name: str) -> bool:
    """Return whether a file holds one object a line, from its beginning and its name."""
    if name.lower().endswith((".jsonl", ".ndjson")):
        return True
    first, ended, rest = head.removeprefix(BOM).lstrip().partition(b"\n")
    if not ended or not first.startswith(b"{") or not rest.lstrip().startswith(b"{"):
        return False
    try:
        orjson.loads(first)
    except orjson.JSONDecodeError:
        return False
    return True
