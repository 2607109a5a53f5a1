"""Looks again at what was written: texts, files, folders and a repository's history."""

import gzip
import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from findback.errors import RefusedError
from findback.privacy.canaries import Canary
from findback.privacy.core import TEXT_LIMIT, CoreRedactor, fold_forms, mask_placeholders
from findback.privacy.git_blobs import read_blobs
from findback.privacy.needles import Needles
from findback.privacy.release_check import SecretScanner
from findback.privacy.roster import Roster
from findback.text.placeholders import list_faults

MOST_BYTES = 2_000_000_000
"""Most bytes of one file or history that are looked at; what lies beyond is named, never passed over."""
MOST_INFLATED = 500_000_000
MOST_RULED = 50_000_000
"""Largest file that rules read; canaries are searched for in larger ones too."""
_CHUNK = 8_000_000
_DEPTH = 60


class ScanHit(NamedTuple):
    """Something that should not be there; where it is and what kind, never the thing itself."""

    where: str
    """File, blob or name of a text."""
    line: int | None
    """1-based line, where there are lines."""
    type: str
    rule: str
    """Our rule, `canary`, `roster.…`, `second.…` or `placeholder`."""


@dataclass(slots=True)
class ScanReport:
    """What a scan saw."""

    hits: list[ScanHit] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    """What could not be looked at, and why: never the same as clean."""
    texts: int = 0
    files: int = 0
    blobs: int = 0
    bytes: int = 0


class Scanner:
    """Scans with today's rules, the roster and the canaries of an import."""

    def __init__(
        self,
        redactor: CoreRedactor,
        *,
        roster: Roster | None = None,
        canaries: Iterable[Canary] = (),
        second_look: SecretScanner | None = None,
    ) -> None:
        self._redactor = redactor
        self._roster = roster
        self._types = {canary.value: canary.type for canary in canaries}
        self._needles = Needles(self._types)
        self._second_look = second_look
        self.report = ScanReport()

    def scan_text(self, text: str, where: str, *, line: int | None = None) -> None:
        """Look at one text: rules, roster, placeholders, canaries."""
        self.report.texts += 1
        self._search(text.encode("utf-8", "surrogatepass"), where, line)
        self._judge(text, where, line)

    def scan_path(self, path: Path, *, rules: bool = True) -> None:
        """Look at a file, or at every file below a folder; links are not followed.

        Args:
            path: File or folder.
            rules: Whether rules and roster are tried too; canaries are always searched for. Documents of
                the corpus, for one, may well hold addresses.
        """
        if path.is_symlink():
            return
        if not path.is_dir():
            self._scan_file(path, rules=rules)
            return
        for folder, names, files in os.walk(path, onerror=self._note_unread):
            names.sort()
            for name in sorted(files):
                file = Path(folder, name)
                if not file.is_symlink():
                    self._scan_file(file, rules=rules)

    def scan_bytes(self, data: bytes, where: str, *, rules: bool = True) -> None:
        """Look at the content of a file, unpacked where it is packed."""
        self.report.bytes += len(data)
        self._search(data, where, None)
        for name, inner in self._unpacked(data, where):
            self._search(inner, name, None)
            if rules:
                self._scan_lines(inner, name)
        if rules:
            self._scan_lines(data, where)

    def scan_history(self, root: Path, *, rules: bool = True) -> None:
        """Look at every blob of a git repository, reachable or not."""
        for blob in read_blobs(root, most_bytes=MOST_BYTES):
            if blob.content is None:
                self.report.unread.append((blob.where, blob.reason))
                continue
            self.report.blobs += 1
            self.scan_bytes(blob.content, blob.where, rules=rules)

    def _scan_file(self, path: Path, *, rules: bool) -> None:
        try:
            size = path.stat().st_size
            if not path.is_file():
                self.report.unread.append((str(path), "not a file"))
                return
            with path.open("rb") as handle:
                if size <= MOST_RULED:
                    self.scan_bytes(handle.read(MOST_RULED + 1), str(path), rules=rules)
                else:
                    self._scan_large(handle, str(path), rules=rules)
            self.report.files += 1
        except OSError as error:
            self.report.unread.append((str(path), (error.strerror or "cannot be read").lower()))

    def _scan_large(self, handle: io.BufferedReader, where: str, *, rules: bool) -> None:
        kept, read = b"", 0
        while chunk := handle.read(_CHUNK):
            read += len(chunk)
            if read > MOST_BYTES:
                self.report.unread.append((where, f"only its first {MOST_BYTES:,} bytes were looked at"))
                break
            self._search(kept + chunk, where, None)
            kept = chunk[-self._needles.longest :]
            self.report.bytes += len(chunk)
        if rules:
            self.report.unread.append((where, "too large for the rules; canaries only"))

    def _scan_lines(self, data: bytes, where: str) -> None:
        if b"\0" in data[:8_000] or len(data) > MOST_RULED:
            return
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return
        for number, piece in _strings_of(text):
            self._judge(piece, where, number)

    def _search(self, data: bytes, where: str, line: int | None) -> None:
        for at, value in self._needles.find(data):
            number = line if line is not None else data.count(b"\n", 0, at) + 1
            self.report.hits.append(ScanHit(where, number, self._types[value], "canary"))

    def _judge(self, text: str, where: str, line: int | None) -> None:
        add = self.report.hits.append
        for start in range(0, len(text), TEXT_LIMIT):
            piece = text[start : start + TEXT_LIMIT]
            try:
                findings = self._redactor.find(piece)
            except RefusedError as error:
                self.report.unread.append((where, error.message))
                continue
            for finding in findings:
                if finding.rule != "placeholder.stray":
                    add(ScanHit(where, line, finding.type, finding.rule))
            if list_faults(piece):
                add(ScanHit(where, line, "OTHER", "placeholder"))
            self.report.hits.extend(self._judge_otherwise(piece, where, line))

    def _judge_otherwise(self, text: str, where: str, line: int | None) -> Iterator[ScanHit]:
        """Yield what roster and second look see."""
        if self._roster is not None:
            for mention in self._roster.find(mask_placeholders(fold_forms(text))):
                if mention.finding.band == "applied":
                    yield ScanHit(where, line, mention.finding.type, mention.finding.rule)
        if self._second_look is not None:
            for found in self._second_look.scan(text):
                yield ScanHit(where, line, "SECRET", f"second.{found.rule}")

    def _unpacked(self, data: bytes, where: str) -> Iterator[tuple[str, bytes]]:
        """Yield what a gzip or zip file holds, within bounds."""
        try:
            if data[:2] == b"\x1f\x8b":
                with gzip.open(io.BytesIO(data)) as packed:
                    yield f"{where} (unpacked)", self._bounded(packed.read(MOST_INFLATED + 1), where)
            elif data[:4] == b"PK\x03\x04":
                with zipfile.ZipFile(io.BytesIO(data)) as archive:
                    left = MOST_INFLATED
                    for member in archive.infolist()[:100_000]:
                        if left <= 0:
                            self.report.unread.append((where, "holds more than is unpacked"))
                            return
                        with archive.open(member) as packed:
                            inner = packed.read(left + 1)
                        left -= len(inner)
                        yield f"{where}!{member.filename}", inner
        except (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError):
            self.report.unread.append((where, "looks packed and cannot be unpacked"))

    def _bounded(self, data: bytes, where: str) -> bytes:
        if len(data) > MOST_INFLATED:
            self.report.unread.append((where, "holds more than is unpacked"))
        return data

    def _note_unread(self, error: OSError) -> None:
        self.report.unread.append((str(error.filename), (error.strerror or "cannot be read").lower()))


def _strings_of(text: str) -> Iterator[tuple[int | None, str]]:
    """Yield the texts of a file by line: strings of JSON values, which escapes would hide, else lines."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            yield from ((None, leaf) for leaf in _leaves(whole, _DEPTH))
            return
    for number, line in enumerate(text.splitlines(), start=1):
        if line[:1] in ("{", "[", '"'):
            try:
                yield from ((number, leaf) for leaf in _leaves(json.loads(line), _DEPTH))
            except (ValueError, RecursionError):
                yield number, line
        else:
            yield number, line


def _leaves(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _leaves(inner, depth - 1)
    elif depth and isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, depth - 1)
