"""What a release says about itself."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import orjson
from pydantic import Field, StringConstraints, ValidationError

from findback.errors import DataError, Fault
from findback.evalset.sentences import sentences
from findback.evalset.textfile import open_file
from findback.measure.rater_agreement import RaterAgreement
from findback.model.case import Case, CaseId, Name, Text
from findback.model.record import Record

MANIFEST = "manifest.json"
MANIFEST_FORMAT = 1
MANIFEST_LIMIT = 10_000_000
"""Most bytes of a manifest that are read."""

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Note = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Number = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]

AXES = ("wording", "answer", "origin", "stratum", "language", "split")
"""By what a release's active cases are counted."""


class Counts(Record):
    """How many there are of what."""

    cases: Count
    active: Count
    retired: Count
    withdrawn: Count
    clusters: Count
    """Of active cases."""
    golds: Count
    """Distinct gold documents of active cases."""
    holdout_clusters: Count
    """Clusters among the active cases that are held out."""
    by: dict[str, dict[str, int]]
    """Active cases by wording, answer, origin, stratum, language and split."""


class Agreement(Record):
    """How far the labels of a release agree where they were made twice, each time without seeing the other."""

    doubles: Count
    """Cases that two people decided."""
    second_looks: Count
    """Cases that one person decided twice, a day or more apart, which says less."""
    answerable: RaterAgreement
    """Of two people: whether a document answers it."""
    top_gold: RaterAgreement
    """Of two people: which document answers best."""
    grades: RaterAgreement
    """Of two people: the grades of documents that both graded."""


class Withdrawal(Record):
    """An erasure: the one way in which a release may change."""

    cases: tuple[CaseId, ...]
    on: dt.date
    reason: Note
    before: dict[str, Digest]
    """Digests of the release's files before."""
    after: dict[str, Digest]
    """Digests after."""


class Manifest(Record):
    """`manifest.json` of a release."""

    format: Literal[1] = 1
    number: Number
    date: dt.date
    note: Note
    """What whoever released it says about it."""
    parent: Number | None = None
    """The release before; None for the first."""
    made_from: Digest | None = None
    """Digest of the head it was made from; None where there was none."""
    digests: dict[str, Digest]
    """Digest of each file."""
    counts: Counts
    corpus: Digest | Literal["none"]
    """Digest of the documents that the gold was checked against; `none` where there were none."""
    outside: tuple[Text, ...] | None = None
    """Gold that is no document of them, scored as not in the index; None means not checked."""
    tokenizer: Name
    """Version of the tokenizer behind the figures in measured.jsonl."""
    findback: Name
    """Version that wrote it."""
    agreement: Agreement | None = None
    """None where nothing was decided twice."""
    warnings: tuple[Note, ...] = ()
    withdrawals: tuple[Withdrawal, ...] = ()


def count_cases(cases: Iterable[Case]) -> Counts:
    """Return how many cases there are of what."""
    listed = list(cases)
    active = [case for case in listed if case.status == "active"]
    status = Counter(case.status for case in listed)
    return Counts(
        cases=len(listed),
        active=len(active),
        retired=status["retired"],
        withdrawn=status["withdrawn"],
        clusters=len({case.cluster for case in active}),
        golds=len({judgement.doc for case in active for judgement in case.gold}),
        holdout_clusters=len({case.cluster for case in active if case.split == "holdout"}),
        by={axis: count_axis(active, axis) for axis in AXES},
    )


def count_axis(cases: Sequence[Case], axis: str) -> dict[str, int]:
    """Return how many cases have each value of an axis, in the order of values."""
    return dict(sorted(Counter(str(getattr(case, axis)) for case in cases).items()))


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return a manifest as it is written; the same manifest gives the same bytes."""
    return orjson.dumps(manifest.model_dump(mode="json"), option=orjson.OPT_INDENT_2) + b"\n"


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a release.

    Raises:
        MissingError: If there is none.
        DataError: If it is none, or that of another release than its folder says.
    """
    path = folder / MANIFEST
    with open_file(path) as file:
        raw = file.read(MANIFEST_LIMIT + 1)
    refuse_newer(path, raw)
    try:
        manifest = Manifest.model_validate_json(raw)
    except ValidationError as error:
        faults = [Fault(str(path), None, sentence) for sentence in sentences(error)]
        raise DataError(
            f"{path} is no manifest of a release", faults=faults, hint="restore it from version control"
        ) from None
    if folder.name.isdecimal() and manifest.number != int(folder.name):
        raise DataError(
            f"{path} is the manifest of release {manifest.number}", hint="restore the folder from version control"
        )
    return manifest


def refuse_newer(path: Path, raw: bytes) -> None:
    """Stop before a manifest of a format that this version does not know.

    Raises:
        DataError: If its format is a later one.
    """
    try:
        values = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return
    found = values.get("format") if isinstance(values, dict) else None
    if isinstance(found, int) and found > MANIFEST_FORMAT:
        raise DataError(
            f"{path} was made by a newer findback: its format is {found}, this one knows {MANIFEST_FORMAT}; upgrade"
        )
