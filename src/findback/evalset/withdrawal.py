"""Withdrawing a case: its text goes from the head and from every release, and a tombstone stays."""

import datetime as dt
import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from findback.errors import DataError, Fault
from findback.evalset.cases import read_cases, write_cases
from findback.evalset.checks import ANY_LEAK
from findback.evalset.manifest import MANIFEST, Manifest, Withdrawal, count_cases, manifest_bytes, read_manifest
from findback.evalset.release import (
    CASES,
    DOCUMENTS,
    FILES,
    MEASURED,
    Content,
    GoldDocument,
    MeasuredGold,
    digests_of,
    read_rows,
)
from findback.evalset.textfile import Faults, open_file, read_lines
from findback.evalset.writing import write_pieces
from findback.files import write_atomically
from findback.model.case import Case
from findback.model.run import Run
from findback.text.placeholders import write_placeholder

WITHDRAWN_QUERY = write_placeholder("OTHER", 1)
"""What stands where a withdrawn case had its query."""
WITHDRAWN_REASON = "withdrawn"


def make_tombstone(case: Case) -> Case:
    """Return what stays of a withdrawn case: its id and its classes, no text, no document, no source."""
    return case.model_copy(
        update={
            "query": WITHDRAWN_QUERY,
            "context": None,
            "judged": (),
            "no_answer_reason": WITHDRAWN_REASON,
            "selected_on": None,
            "rule": None,
            "source": None,
            "cluster": case.root or case.id,
            "status": "withdrawn",
            "retired_because": None,
            "redaction": case.redaction.model_copy(update={"types": ("OTHER",)}),
            "tags": (),
        }
    )


def with_paraphrases(cases: Sequence[Case], ids: Collection[str]) -> frozenset[str]:
    """Return the ids and those of every paraphrase made from one of them."""
    return frozenset({*ids, *(case.id for case in cases if case.root in ids)})


def withdraw_from_head(path: Path, ids: Collection[str]) -> int:
    """Put tombstones into a file of cases and return how many cases had none yet.

    Raises:
        DataError: If the file has faults.
        StorageError: If the disk refuses; the file is then as it was.
    """
    if not path.exists():
        return 0
    cases = read_cases(path, leak_limit=ANY_LEAK)
    living = [case.id for case in cases if case.id in ids and case.status != "withdrawn"]
    if living:
        write_cases(path, _bury(cases, ids), leak_limit=ANY_LEAK)
    return len(living)


def withdraw_from_release(folder: Path, ids: Collection[str], reason: str, on: dt.date) -> int:
    """Put tombstones into a release, write both digests into its manifest, and return how many cases had none yet.

    The manifest comes first: after an interruption the release is refused as damaged until this is done again.

    Raises:
        DataError: If the release is not as it was published, but for an interrupted withdrawal.
        StorageError: If the disk refuses.
    """
    manifest = read_manifest(folder)
    _refuse_altered(folder, manifest)
    cases = read_cases(folder / CASES, leak_limit=ANY_LEAK)
    gone = frozenset({*ids, *(id_ for one in manifest.withdrawals for id_ in one.cases)})
    concerned = sorted(case.id for case in cases if case.id in ids and case.status != "withdrawn")
    kept = _bury(cases, gone)
    golds = {judgement.doc for case in kept for judgement in case.gold}
    content = Content(
        kept,
        tuple(row for row in read_rows(folder / MEASURED, MeasuredGold) if row.case not in gone),
        tuple(row for row in read_rows(folder / DOCUMENTS, GoldDocument) if row.id in golds),
    )
    files = content.files()
    digests = digests_of(files)
    if digests != manifest.digests:
        entry = Withdrawal(cases=tuple(concerned), on=on, reason=reason, before=manifest.digests, after=digests)
        outside = None if manifest.outside is None else tuple(doc for doc in manifest.outside if doc in golds)
        changed = manifest.model_copy(
            update={
                "digests": digests,
                "counts": count_cases(kept),
                "outside": outside,
                "withdrawals": (*manifest.withdrawals, entry),
            }
        )
        write_atomically(folder / MANIFEST, manifest_bytes(changed))
    for name in FILES:
        if _digest(folder / name) != digests[name]:
            write_atomically(folder / name, files[name])
    return len(concerned)


def withdraw_from_lines(path: Path, ids: Collection[str], *, private: bool = False) -> int:
    """Drop the lines of a JSON Lines file that are about withdrawn cases, and return how many went.

    Raises:
        DataError: If a line cannot be read.
        StorageError: If the disk refuses; the file is then as it was.
    """
    faults = Faults()
    kept, dropped = [], 0
    for line in read_lines(path, faults):
        try:
            row = orjson.loads(line.text) if line.text.strip() else None
        except orjson.JSONDecodeError:
            faults.add(path, line.number, "the line is no JSON")
            continue
        if isinstance(row, dict) and any(row.get(name) in ids for name in ("case", "id", "question")):
            dropped += 1
        else:
            kept.append(line.text)
    faults.settle(path.name, skip_bad=False)
    if dropped and private:
        write_atomically(path, "".join(kept), private=True)
    elif dropped:
        write_pieces(path, kept)
    return dropped


def drop_queries(run: Run, ids: Collection[str]) -> Run:
    """Return a run without what was asked and returned for some questions."""
    kept = np.array([query not in ids for query in run.queries], dtype=np.bool_)
    rows = np.repeat(kept, run.lengths)
    fields: dict[str, Any] = {name: getattr(run, name) for name in Run.__dataclass_fields__}
    for names, chosen in (
        (("codes", "scores", "passage", "spans"), rows),
        (("latency", "ended", "reason", "abstained", "exhausted"), kept),
    ):
        fields |= {name: fields[name][chosen] for name in names if fields[name] is not None}
    fields["starts"] = np.concatenate([[0], np.cumsum(run.lengths[kept])]).astype(np.int64)
    fields["queries"] = tuple(query for query in run.queries if query not in ids)
    return Run(**fields)


def _bury(cases: Sequence[Case], ids: Collection[str]) -> tuple[Case, ...]:
    return tuple(make_tombstone(case) if case.id in ids else case for case in cases)


def _refuse_altered(folder: Path, manifest: Manifest) -> None:
    """Raise DataError where a file is neither as the manifest says nor as it was before the last withdrawal."""
    before = manifest.withdrawals[-1].before if manifest.withdrawals else {}
    faults = [
        Fault(str(folder / name), None, "it has another digest than the manifest says")
        for name in FILES
        if _digest(folder / name) not in (manifest.digests.get(name), before.get(name))
    ]
    if faults:
        raise DataError(
            f"{folder} is not release {manifest.number} as it was published",
            faults=faults,
            hint="restore it from version control first",
        )


def _digest(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
