"""Documents a person has confirmed to be the same: translations, mirrors."""

from collections.abc import Callable, Mapping
from pathlib import Path

from findback.corpus.csv import read_records
from findback.corpus.findings import Findings
from findback.corpus.groups import Groups
from findback.errors import MissingError


def read_same(path: Path, shown: str, resolve: Callable[[str], str | None], findings: Findings) -> Mapping[str, str]:
    """Return for each id of a group the id that stands for the group: the one named first.

    The file is CSV, one group a row, ids or anything that resolves to one; rows that share a document are
    one group. A first row of which nothing resolves is a header. Names of no document are faults.

    Raises:
        MissingError: If there is no such file.
    """
    if not path.is_file():
        raise MissingError(f"there is no file of same documents {shown}", hint="correct same under [corpus]")
    groups = Groups()
    for number, row in enumerate(read_records(path, shown, findings)):
        cells = [cell.strip() for cell in row.cells if cell.strip()]
        found = [resolve(cell) for cell in cells]
        if number == 0 and not any(found):
            continue
        for cell, identity in zip(cells, found, strict=True):
            if identity is None:
                findings.fault(shown, row.line, f"no document is called {cell[:100]!r}")
        known = [identity for identity in found if identity is not None]
        if len(set(known)) < 2:
            if len(known) == len(cells):
                findings.fault(shown, row.line, "a row needs two documents or more")
            continue
        for other in known[1:]:
            groups.join(known[0], other)
    return groups.mapping()
