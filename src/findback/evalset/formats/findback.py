"""findback's own format: `cases.jsonl`, or a folder of a release that holds one."""

from pathlib import Path

import orjson

from findback.errors import DataError, Fault
from findback.evalset.cases import parse_cases
from findback.evalset.checks import ANY_LEAK, DEFAULT_LEAK_LIMIT
from findback.evalset.format import ReadOptions
from findback.evalset.manifest import MANIFEST, MANIFEST_LIMIT, refuse_newer
from findback.evalset.textfile import Faults, digest_files, first_line, open_file
from findback.model.case import Split
from findback.model.question import QuestionSet, question_from_case

name = "findback"

_CASES = "cases.jsonl"


def recognise(path: Path) -> str | None:
    """Return the reason to take a path for cases of findback, or None."""
    if path.is_dir():
        if not (path / _CASES).is_file():
            return None
        return f"a release: {_CASES} beside {MANIFEST}" if (path / MANIFEST).is_file() else f"a folder with {_CASES}"
    try:
        first = orjson.loads(first_line(path))
    except orjson.JSONDecodeError:
        return None
    if isinstance(first, dict) and "format" in first and {"query", "labelled_by", "redaction"} & first.keys():
        return "every line is a case of findback"
    return None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return the active dev cases as questions, or those held out where they are asked for.

    Retired and withdrawn cases, and those of the other side, are counted in notes.

    Raises:
        DataError: With every fault found, or when a release is not what its manifest says.
    """
    file = path / _CASES if path.is_dir() else path
    faults = Faults()
    released = path.is_dir() and (path / MANIFEST).is_file()
    if released:
        # Before its cases: those of a newer format would look like faults.
        refuse_newer(path / MANIFEST, _read_manifest(path))
    cases = parse_cases(file, faults, leak_limit=ANY_LEAK if released else DEFAULT_LEAK_LIMIT)
    notes = faults.settle(f"{file.name} (cases)", skip_bad=options.skip_bad)
    if not cases:
        raise DataError(f"{file} holds no cases")
    digest = digest_files([file])
    number = _release_number(path, digest) if path.is_dir() else None
    active = [case for case in cases if case.status == "active"]
    if len(active) < len(cases):
        notes += (f"{len(cases) - len(active):,} retired or withdrawn cases left out",)
    side: Split = "holdout" if options.holdout else "dev"
    kept = [case for case in active if case.split == side]
    if len(kept) < len(active):
        notes += (f"{len(active) - len(kept):,} {'dev' if options.holdout else 'held-out'} cases left out",)
    return QuestionSet(
        name=path.name,
        kind="unreleased set" if number is None else "release",
        questions=tuple(question_from_case(case) for case in kept),
        sha256=digest,
        release=number,
        format=name,
        notes=notes,
        skipped=faults.rows,
    )


def _read_manifest(folder: Path) -> bytes:
    with open_file(folder / MANIFEST) as file:
        return file.read(MANIFEST_LIMIT)


def _release_number(folder: Path, digest: str) -> int | None:
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return None
    try:
        values = orjson.loads(_read_manifest(folder))
        number, stated = values["number"], values["digests"][_CASES]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        number, stated = None, None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise DataError(
            f"{manifest} is no manifest of a release",
            faults=[Fault(str(manifest), None, "`number` and the digest of cases.jsonl are expected")],
        )
    if stated != digest:
        raise DataError(
            f"{folder} is not release {number} as it was published: {_CASES} has another digest",
            hint="a release never changes; restore the file, or read cases.jsonl itself as an unreleased set",
        )
    return number
