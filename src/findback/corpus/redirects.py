"""Files that say which old address stands for which new one."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from findback.corpus.csv import SUFFIXES, read_records
from findback.corpus.findings import Findings
from findback.corpus.textfile import read_lines
from findback.errors import MissingError

_HEADERS = frozenset({"old", "from", "source", "alias", "old_path", "old_url"})


class Redirect(NamedTuple):
    """One line of such a file."""

    old: str
    new: str
    splat: bool = False
    """Whether both end in a part that stands for anything."""


def read_redirects(path: Path, shown: str, findings: Findings) -> list[Redirect]:
    """Return the redirects of a file in its order: CSV with old and new, or the `_redirects` format.

    Of that format, `/old /new`, a trailing `*` with `:splat`, and status codes are read; lines with status
    404 and conditions are passed over.

    Raises:
        MissingError: If there is no such file.
    """
    if not path.is_file():
        raise MissingError(f"there is no file of aliases {shown}", hint="correct aliases_from under [corpus]")
    if path.suffix.lower() in SUFFIXES:
        return list(_read_table(path, shown, findings))
    return list(_read_plain(path, shown, findings))


def _read_table(path: Path, shown: str, findings: Findings) -> Iterator[Redirect]:
    for number, row in enumerate(read_records(path, shown, findings)):
        cells = [cell.strip() for cell in row.cells]
        if number == 0 and cells and cells[0].casefold() in _HEADERS:
            continue
        if len(cells) < 2 or not cells[0] or not cells[1]:
            findings.fault(shown, row.line, "a line needs the old name and the new one")
            continue
        yield Redirect(cells[0], cells[1])


def _read_plain(path: Path, shown: str, findings: Findings) -> Iterator[Redirect]:
    for number, line in read_lines(path, shown, findings):
        words = line.partition("#")[0].split() if line.lstrip().startswith("#") or " #" in line else line.split()
        if not words:
            continue
        if len(words) < 2:
            findings.fault(shown, number, "a line needs the old path and the new one")
            continue
        old, new = words[0], next((word for word in words[1:] if word.startswith(("/", "http"))), None)
        if new is None or "404" in words[2:] or any("=" in word for word in words[2:]):
            findings.count(f"lines of {shown} with conditions or without a target, passed over")
            continue
        splat = old.endswith("*")
        if splat and not new.endswith(":splat"):
            findings.count(f"lines of {shown} that lead many pages to one, passed over")
            continue
        if ":" in old.removeprefix("https:").removeprefix("http:"):
            findings.count(f"lines of {shown} with placeholders, passed over")
            continue
        yield Redirect(old.removesuffix("*"), new.removesuffix(":splat"), splat)
