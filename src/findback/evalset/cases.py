"""`cases.jsonl`: findback's own format, one case a line, sorted by id."""

from collections.abc import Iterable
from pathlib import Path

import orjson
from pydantic import ValidationError

from findback.errors import DataError, Fault
from findback.evalset.checks import DEFAULT_LEAK_LIMIT, CaseFault, PlacedCase, check_cases
from findback.evalset.sentences import sentences
from findback.evalset.textfile import Faults, read_lines
from findback.evalset.writing import write_pieces
from findback.model.case import Case
from findback.model.protocols import Redactor

CASE_LINE_LIMIT = 2_000_000
"""Most bytes a case may have as a line."""


def read_cases(
    path: Path, *, leak_limit: float = DEFAULT_LEAK_LIMIT, redactor: Redactor | None = None
) -> tuple[Case, ...]:
    """Return the cases of a file, checked.

    Raises:
        DataError: With every fault of the file, each with its line.
        MissingError: If the file is not there.
    """
    faults = Faults()
    cases = parse_cases(path, faults, leak_limit=leak_limit, redactor=redactor)
    mend = f"mend the line, or restore {path} from version control"
    faults.settle(f"{path.name} (cases)", skip_bad=False, hint=mend)
    return cases


def parse_cases(
    path: Path, faults: Faults, *, leak_limit: float = DEFAULT_LEAK_LIMIT, redactor: Redactor | None = None
) -> tuple[Case, ...]:
    """Return the cases of a file that have no fault, and add what is wrong with the others."""
    placed = []
    for line in read_lines(path, faults, limit=CASE_LINE_LIMIT):
        if not line.text.strip():
            continue
        try:
            case = Case.model_validate_json(line.text, strict=True)
        except ValidationError as error:
            for sentence in sentences(error):
                faults.add(path, line.number, sentence)
        else:
            placed.append(PlacedCase(line.number, case))
    found = check_cases(placed, leak_limit=leak_limit, redactor=redactor)
    for fault in found:
        faults.add(path, fault.line, fault.message)
    faults.found.sort(key=lambda fault: fault.line or 0)
    bad = {fault.line for fault in found}
    return tuple(case for line, case in placed if line not in bad)


def write_cases(
    path: Path,
    cases: Iterable[Case],
    *,
    leak_limit: float = DEFAULT_LEAK_LIMIT,
    redactor: Redactor | None = None,
) -> None:
    """Write cases, checked and sorted by id; the same cases give the same bytes.

    Raises:
        DataError: If something is wrong with them; nothing is written then.
        StorageError: If the disk refuses; the old file is then as it was.
    """
    ordered = sorted(cases, key=lambda case: case.id)
    placed = [PlacedCase(line, case) for line, case in enumerate(ordered, 1)]
    found: list[CaseFault] = check_cases(placed, leak_limit=leak_limit, redactor=redactor)
    lines = [case_line(case) for case in ordered]
    found += [
        CaseFault(number, f"the case has more than {CASE_LINE_LIMIT:,} bytes")
        for number, line in enumerate(lines, 1)
        if len(line) > CASE_LINE_LIMIT
    ]
    if found:
        raise DataError(
            f"{path.name} was not written: its cases have faults",
            faults=[Fault(str(path), fault.line, f"{ordered[fault.line - 1].id}: {fault.message}") for fault in found],
        )
    write_pieces(path, lines)


def case_line(case: Case) -> bytes:
    """Return a case as its line: keys in the record's order, optional keys that are unset left out.

    Keys that have a default of their own (`judged`, `split`, `status`, `tags`) are always written.
    """
    values = case.model_dump(mode="python", exclude_none=True)
    filters = values.get("context", {}).get("filters")
    if filters is not None:
        values["context"]["filters"] = dict(sorted(filters.items()))
    return orjson.dumps(values) + b"\n"
