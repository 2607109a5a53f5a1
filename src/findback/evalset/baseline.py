"""A baseline: what a run gave for each case, kept with the set so that a later run can be paired with it.

Status, ranks of the gold, top score and latency; no text, and no id of what was returned. Documents that were judged
are named by a digest of their id.
"""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import orjson
from pydantic import AwareDatetime, Field, StringConstraints, ValidationError

from findback.errors import DataError, UsageError
from findback.evalset.sentences import sentences
from findback.evalset.textfile import Faults, read_lines
from findback.evalset.writing import write_pieces
from findback.model.case import Name
from findback.model.question import Question
from findback.model.record import Record

BASELINES = "baselines"
LAST_NIGHT = ".last-night"
"""Ends the name of a baseline's companion: what the newest nightly look saw."""
DEEPEST = 100_000
"""Largest rank that is read."""
_NAME = re.compile(r"(?!\d+$)[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_LINE_LIMIT = 1_000_000
_DIGITS = 16

Key = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
Rank = Annotated[int, Field(ge=1, le=DEEPEST)]
Ended = Literal["answered", "failed", "not asked", "not in the run"]


class BaselineHead(Record):
    """First line of a baseline."""

    format: Literal[1] = 1
    release: Annotated[int, Field(ge=1)] | None
    """Release it was made on; None for an unreleased set."""
    set: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None
    """Digest of that release or set."""
    heading: Name
    """How reports call it."""
    retriever: Name
    config_digest: Annotated[str, StringConstraints(max_length=200)] = ""
    primary: Name
    """Metric that carried verdicts when it was published."""
    depth: Annotated[int, Field(ge=1)] | None = None
    """Documents asked for; None when unknown."""
    corpus: Annotated[str, StringConstraints(max_length=200)] | None = None
    """Digest of the documents; None where there were none."""
    findback: Name
    """Version that wrote it."""
    made: AwareDatetime | None = None
    """When the results were made, UTC; None where that is not known."""


class JudgedRank(Record):
    """Where one judged document stood."""

    doc: Key
    """Digest of its id."""
    rank: Rank | None
    """Over documents; the first of the block where results were tied. None when it was not returned."""
    tied: Rank = 1
    """Documents at its score, itself included."""


class BaselineCase(Record):
    """One line: what the run gave for a case."""

    case: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
    """Question id."""
    ended: Ended = "answered"
    answerable: bool = True
    """Whether it had gold."""
    labels: Key
    """Digest of its judgements at that time."""
    ranks: tuple[JudgedRank, ...] = ()
    """Of its judged documents, by digest; empty where it was not answered."""
    returned: Annotated[int, Field(ge=0)] = 0
    """Documents returned."""
    top_score: float | None = None
    """Highest score, turned so that higher is better; None where there was none."""
    latency: Annotated[float, Field(ge=0)] | None = None
    """Milliseconds; None where not measured."""


class Baseline(NamedTuple):
    """A baseline as it was read or made."""

    name: str
    head: BaselineHead
    cases: tuple[BaselineCase, ...]
    """Sorted by id."""


def baseline_file(evalset: Path, name: str) -> Path:
    """Return where a baseline lies.

    Raises:
        UsageError: If it is no name for one.
    """
    if not _NAME.fullmatch(name.removesuffix(LAST_NIGHT)):
        raise UsageError(
            f"{name[:100]!r} is no name for a baseline", hint="letters, digits, - and _, and not digits alone: main"
        )
    return evalset / BASELINES / f"{name}.jsonl"


def list_baselines(evalset: Path) -> list[str]:
    """Return the names of the published baselines, sorted; those of nightly looks are none."""
    folder = evalset / BASELINES
    names = (path.stem for path in folder.glob("*.jsonl")) if folder.is_dir() else ()
    return sorted(name for name in names if _NAME.fullmatch(name))


def write_baseline(path: Path, baseline: Baseline) -> Path:
    """Write a baseline and return its file; the same content gives the same bytes.

    Raises:
        StorageError: If the disk refuses; the old file is then as it was.
    """
    cases = sorted(baseline.cases, key=lambda case: case.case)
    write_pieces(path, [_line(baseline.head), *map(_line, cases)])
    return path


def read_baseline(path: Path) -> Baseline:
    """Return a baseline.

    Raises:
        MissingError: If there is no such file.
        DataError: If it is none; every fault with its line.
    """
    faults = Faults()
    head: BaselineHead | None = None
    cases: dict[str, BaselineCase] = {}
    first = True
    for line in read_lines(path, faults, limit=_LINE_LIMIT):
        if not line.text.strip():
            continue
        try:
            if first:
                head = BaselineHead.model_validate_json(line.text)
                continue
            case = BaselineCase.model_validate_json(line.text)
        except ValidationError as error:
            for sentence in sentences(error):
                faults.add(path, line.number, sentence)
            if first:
                break
            continue
        finally:
            first = False
        if case.case in cases:
            faults.add(path, line.number, "its case stands there twice")
        cases[case.case] = case
    if head is None and not faults.found:
        faults.add(path, None, "it is empty")
    if faults.found or head is None:
        raise DataError(
            f"{path} is no baseline",
            faults=faults.found,
            hint="findback evaluate RETRIEVER --publish NAME writes one; restore it from version control",
        )
    return Baseline(path.stem, head, tuple(cases[name] for name in sorted(cases)))


def is_baseline(path: Path) -> bool:
    """Return whether a file begins as a baseline does; anything else may be a run."""
    try:
        with path.open("rb") as file:
            BaselineHead.model_validate_json(file.readline(_LINE_LIMIT))
    except (OSError, ValueError):
        return False
    return True


def key_of(document: str) -> str:
    """Return the digest that stands for a document's id.

    >>> key_of("guide/vpn.md")
    '962f420238a38e0b'
    """
    return hashlib.sha256(document.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def key_of_labels(question: Question) -> str:
    """Return a digest of a question's judgements: document, grade and part of each, and gold that is no document."""
    return _digest([(one.doc, one.grade, one.part) for one in question.judged or ()], question.unresolved)


def _digest(judged: Iterable[tuple[str, int, int]], unresolved: Iterable[str]) -> str:
    content = [sorted(map(list, judged)), sorted(unresolved)]
    return hashlib.sha256(orjson.dumps(content)).hexdigest()[:_DIGITS]


def _line(record: Record) -> bytes:
    return orjson.dumps(record.model_dump(mode="json")) + b"\n"
