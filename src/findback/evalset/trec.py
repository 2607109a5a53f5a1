"""TREC runs, judgements and topics as text: read fast, written so that every reader orders them alike."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from findback.errors import DataError, Fault
from findback.evalset.trec_fast import read_plain_run
from findback.evalset.trec_lines import (
    QRELS_COLUMNS,
    RUN_COLUMNS,
    finite_number,
    read_rows,
    settle_faults,
    shown,
)
from findback.model.gold import Gold, Judged, make_gold
from findback.model.names import Names
from findback.model.run import Direction, Run

MOST_GRADE = 1000
"""2 to the power of a grade must stay a number."""
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_UNSAFE = re.compile(r"[%\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def encode_id(identity: str) -> str:
    """Return an id that no TREC reader cuts in two: white space, control characters and % are encoded.

    >>> encode_id("a b%.md"), decode_id("a%20b%25.md")
    ('a%20b%25.md', 'a b%.md')
    """
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in _bytes(found[0])), identity)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def decode_id(encoded: str) -> str:
    """Return the id that was encoded; what is no encoding stays as it is."""

    def restore(found: re.Match[str]) -> str:
        try:
            return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return found[0]

    return _ESCAPED.sub(restore, encoded)


class ReadRun(NamedTuple):
    """A run that was read, and what was left out."""

    run: Run
    skipped: int
    """Lines left out at the user's wish."""


def read_run(
    path: Path,
    *,
    name: str | None = None,
    direction: Direction = "higher",
    decode: bool = False,
    skip_bad: bool = False,
) -> ReadRun:
    """Read a TREC run: `query Q0 document rank score tag`, only the score orders.

    Args:
        path: A text file, gzipped or not; a byte order mark, CRLF and further columns are accepted.
        name: What to call the run; the tag of its first line when left out.
        direction: Which scores are better.
        decode: Undo the encoding of ids that findback writes.
        skip_bad: Leave out lines that make no sense instead of refusing the file.

    Raises:
        DataError: With every faulty line: columns, numbers, a document twice for one query.
        MissingError: If there is no such file.
    """
    run, skipped = read_plain_run(path), 0
    if run is None:
        run, skipped = _read_slow(path, skip_bad=skip_bad)
    if not len(run):
        raise DataError(f"{path} holds no results", hint="a run has six columns: query Q0 document rank score tag")
    run = replace(run, name=name or run.name, direction=direction)
    return ReadRun(_decode_run(run) if decode else run, skipped)


def _decode_run(run: Run) -> Run:
    ids = [decode_id(document) for document in run.documents]
    documents = Names.of(ids)
    # Two spellings may mean one id: then the run may hold it twice.
    return replace(
        run,
        queries=tuple(map(decode_id, run.queries)),
        documents=documents,
        codes=documents.find(ids)[run.codes],
        distinct=run.distinct and len(documents) == len(ids),
    )


def _read_slow(path: Path, *, skip_bad: bool) -> ReadRun:
    """Read line by line, so that every fault has its line."""
    faults: list[Fault] = []
    found: dict[str, dict[str, float]] = {}
    tag = ""
    for number, cells in read_rows(path, RUN_COLUMNS, faults):
        query, _, document, _, text, label = cells[:RUN_COLUMNS]
        score = finite_number(text)
        results = found.setdefault(query, {})
        if score is None:
            faults.append(Fault(str(path), number, f"the score {shown(text)} is not a finite number"))
        elif document in results:
            message = f"document {shown(document)} stands there twice for query {shown(query)}"
            faults.append(Fault(str(path), number, message))
        else:
            results[document] = score
            tag = tag or label
    settle_faults(path, "run", faults, skip_bad=skip_bad)
    found = {query: results for query, results in found.items() if results}
    documents = Names.of(document for results in found.values() for document in results)
    starts = np.cumsum([0, *map(len, found.values())], dtype=np.int64)
    run = Run(
        name=tag,
        queries=tuple(found),
        documents=documents,
        starts=starts,
        codes=documents.find([document for results in found.values() for document in results]),
        scores=np.array([score for results in found.values() for score in results.values()], dtype=np.float64),
        direction="higher",
        order="score",
        distinct=True,
    )
    return ReadRun(run, len(faults))


def read_qrels(path: Path, *, decode: bool = False, skip_bad: bool = False) -> Gold:
    """Read TREC judgements: `query 0 document grade`; each right document is a part of its own.

    Args:
        path: A text file, gzipped or not.
        decode: Undo the encoding of ids that findback writes.
        skip_bad: Leave out lines that make no sense instead of refusing the file.

    Raises:
        DataError: With every faulty line: columns, grades, a document judged twice for one query.
        MissingError: If there is no such file.
    """
    faults: list[Fault] = []
    found: dict[str, dict[str, int]] = {}
    restore = decode_id if decode else str
    known: dict[str, int | None] = {}
    for number, cells in read_rows(path, QRELS_COLUMNS, faults):
        query, document, text = restore(cells[0]), restore(cells[2]), cells[3]
        grade = known[text] if text in known else known.setdefault(text, _read_grade(text))
        if len(cells) > QRELS_COLUMNS:
            like = "this looks like a run" if len(cells) == RUN_COLUMNS else "an id with a space?"
            message = f"{len(cells)} columns, and judgements have four: {like}"
            faults.append(Fault(str(path), number, message))
        elif grade is None:
            message = f"the grade {shown(text)} is not a whole number up to {MOST_GRADE}"
            faults.append(Fault(str(path), number, message))
        elif found.setdefault(query, {}).setdefault(document, grade) != grade:
            message = f"document {shown(document)} has two grades for query {shown(query)}"
            faults.append(Fault(str(path), number, message))
    settle_faults(path, "qrels", faults, skip_bad=skip_bad)
    if not found:
        raise DataError(f"{path} holds no judgements", hint="they have four columns: query 0 document grade")
    rows = (Judged(q, d, grade) for q, judged in found.items() for d, grade in judged.items())
    return make_gold(tuple(found), rows)


def _read_grade(text: str) -> int | None:
    if not _WHOLE.fullmatch(text):
        return None
    return int(text) if abs(int(text)) <= MOST_GRADE else None


def run_lines(run: Run, *, tag: str = "findback") -> Iterator[str]:
    """Yield a run as TREC lines; scores fall strictly within a query, so that no reader reorders it.

    The engine's scores are replaced by the number of results that follow, plus one.
    """
    label = encode_id(tag) or "findback"
    for query, name in enumerate(run.queries):
        documents = dict.fromkeys(hit.document for hit in run.hits(query))
        for rank, document in enumerate(documents, start=1):
            score = len(documents) - rank + 1
            yield f"{encode_id(name)} Q0 {encode_id(document)} {rank} {score} {label}\n"


def qrels_lines(gold: Gold) -> Iterator[str]:
    """Yield judgements as TREC lines; parts and anchors have no place there, nor do questions without any."""
    best: dict[tuple[int, int], int] = {}
    for query, document, grade in zip(gold.query.tolist(), gold.document.tolist(), gold.grade.tolist(), strict=True):
        best[query, document] = max(grade, best.get((query, document), grade))
    for (query, document), grade in best.items():
        yield f"{encode_id(gold.queries[query])} 0 {encode_id(gold.documents[document])} {grade}\n"


def topic_lines(queries: Mapping[str, str] | Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield topics as `id <tab> query`; white space within a query becomes single blanks."""
    pairs = queries.items() if isinstance(queries, Mapping) else queries
    for name, text in pairs:
        yield f"{encode_id(name)}\t{' '.join(text.split())}\n"
