"""TREC runs, judgements and topics as text: read fast, written so that every reader orders them alike."""

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.errors import DataError, Fault, MissingError, StorageError
from findback.evalset.trec_ids import LONGEST, CollisionError, IdCoder
from findback.evalset.trec_tokens import parse_numbers, split_block
from findback.measure.ranks import find_repeats
from findback.model.gold import Gold, Judged, make_gold
from findback.model.names import Names
from findback.model.run import Direction, Run

RUN_COLUMNS, QRELS_COLUMNS = 6, 4
BLOCK = 1 << 22
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_UNSAFE = re.compile(r"[%\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_HINT = "mend them, or read the good lines only with --skip-bad"


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
    read = _read_fast(path) or _read_slow(path, skip_bad=skip_bad)
    if not len(read.run):
        raise DataError(f"{path} holds no results", hint="a run has six columns: query Q0 document rank score tag")
    run = read.run
    if decode:
        run = _decoded(run)
    return ReadRun(_renamed(run, name or run.name, direction), read.skipped)


def _renamed(run: Run, name: str, direction: Direction) -> Run:
    return Run(
        name=name, queries=run.queries, documents=run.documents, starts=run.starts, codes=run.codes,
        scores=run.scores, direction=direction, order="score", distinct=True,
    )  # fmt: skip


def _decoded(run: Run) -> Run:
    ids = [decode_id(document) for document in run.documents]
    documents = Names.of(ids)
    return Run(
        name=run.name, queries=tuple(map(decode_id, run.queries)), documents=documents, starts=run.starts,
        codes=documents.find(ids)[run.codes], scores=run.scores, direction=run.direction, order=run.order,
    )  # fmt: skip


def _open(path: Path) -> BinaryIO:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise MissingError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder, not a file") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {(error.strerror or '').lower()}") from None
    packed = file.read(2) == _GZIP
    file.seek(0)
    return gzip.open(file, "rb") if packed else file  # type: ignore[return-value]


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield a file in stretches of whole lines, each ended with a line feed."""
    with _open(path) as file:
        carry = b""
        first = True
        while piece := file.read(BLOCK):
            if first:
                piece, first = piece.removeprefix(_BOM), False
            cut = piece.rfind(b"\n") + 1
            if cut:
                yield carry + piece[:cut]
                carry = piece[cut:]
            else:
                carry += piece
        if carry:
            yield carry + b"\n"


def _read_fast(path: Path) -> ReadRun | None:
    """Read a run all of whose lines are plain; None at the first that is not."""
    queries, documents = IdCoder(), IdCoder()
    owners: list[NDArray[np.int32]] = []
    codes: list[NDArray[np.int32]] = []
    scores: list[NDArray[np.float64]] = []
    tag = ""
    try:
        for text in _blocks(path):
            block = None if b"\0" in text or len(text) > 4 * BLOCK else split_block(text, RUN_COLUMNS)
            if block is None:
                return None
            if not len(block.starts):
                continue
            letters, starts, ends = block
            if int((ends - starts)[:, (0, 2)].max()) > LONGEST:
                return None
            values = _numbers(letters, starts[:, 4], ends[:, 4])
            if values is None:
                return None
            if not scores:
                tag = letters[starts[0, 5] : ends[0, 5]].tobytes().decode("utf-8", "replace")
            owners.append(_number_runs(queries, letters, starts[:, 0], ends[:, 0]))
            codes.append(documents.number(letters, starts[:, 2], ends[:, 2]))
            scores.append(values)
        if not scores:
            return None
        names, places = documents.sorted_names()
        names.letters.tobytes().decode("utf-8")
        return _gather(
            tag, queries.names(), names, np.concatenate(owners), places, codes, np.concatenate(scores)
        )
    except (CollisionError, UnicodeDecodeError, EOFError, gzip.BadGzipFile):
        return None


def _number_runs(
    coder: IdCoder, letters: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return numbers of ids that mostly equal the one before, looking up only where they change."""
    lengths = ends - starts
    change = np.ones(len(starts), dtype=np.bool_)
    change[1:] = lengths[1:] != lengths[:-1]
    for at in range(int(lengths.max())):
        # A byte beyond a shorter id belongs to the next column: at worst an id is looked up once more.
        letter = letters[np.minimum(starts + at, len(letters) - 1)]
        inside = at < lengths[1:]
        change[1:] |= (letter[1:] != letter[:-1]) & inside
    first = np.flatnonzero(change)
    return coder.number(letters, starts[first], ends[first])[np.cumsum(change) - 1]


def _numbers(
    letters: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    values, odd = parse_numbers(letters, starts, ends)
    try:
        values[odd] = [
            float(letters[start:end].tobytes()) for start, end in zip(starts[odd], ends[odd], strict=True)
        ]
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _gather(
    tag: str,
    queries: Sequence[str],
    documents: Names,
    owner: NDArray[np.int32],
    places: NDArray[np.int32],
    codes: Sequence[NDArray[np.int32]],
    scores: NDArray[np.float64],
) -> ReadRun | None:
    """Return the run with each query's lines together, or None when a query has a document twice."""
    merged = np.empty(len(owner), dtype=np.int32)
    at = 0
    for part in codes:
        np.take(places, part, out=merged[at : at + len(part)])
        at += len(part)
    if (np.diff(owner) < 0).any():
        order = np.argsort(owner, kind="stable")
        owner, merged, scores = owner[order], merged[order], scores[order]
    starts = np.searchsorted(owner, np.arange(len(queries) + 1)).astype(np.int64)
    slots = np.empty(len(documents), dtype=np.int32)
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if find_repeats(merged[begin:end], slots).any():
            return None
    run = Run(
        name=tag, queries=tuple(queries), documents=documents, starts=starts, codes=merged,
        scores=scores, direction="higher", order="score", distinct=True,
    )  # fmt: skip
    return ReadRun(run, 0)


def _read_slow(path: Path, *, skip_bad: bool) -> ReadRun:
    """Read line by line, so that every fault has its line."""
    faults: list[Fault] = []
    found: dict[str, dict[str, float]] = {}
    tag = ""
    for number, cells in _lines(path, RUN_COLUMNS, faults):
        query, _, document, _, text, label = cells[:RUN_COLUMNS]
        score = _finite(text)
        results = found.setdefault(query, {})
        if score is None:
            faults.append(Fault(str(path), number, f"the score {_shown(text)} is not a finite number"))
        elif document in results:
            message = f"document {_shown(document)} stands there twice for query {_shown(query)}"
            faults.append(Fault(str(path), number, message))
        else:
            results[document] = score
            tag = tag or label
    _settle(path, "run", faults, skip_bad=skip_bad)
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


def _finite(text: str) -> float | None:
    try:
        value = float(text) if "_" not in text else float("nan")
    except ValueError:
        return None
    return value if isfinite(value) else None


def _shown(text: str) -> str:
    cut = text if len(text) <= 80 else text[:79] + "…"
    return "'" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut) + "'"


def _lines(path: Path, columns: int, faults: list[Fault]) -> Iterator[tuple[int, list[str]]]:
    """Yield number and columns of each line that has enough of them; the others become faults."""
    number = 0
    try:
        for block in _blocks(path):
            for raw in block.splitlines():
                number += 1
                try:
                    line = raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    faults.append(Fault(str(path), number, f"byte {error.start + 1} is not UTF-8"))
                    continue
                cells = line.split()
                if "\0" in line:
                    faults.append(Fault(str(path), number, "there is a NUL byte"))
                elif len(cells) >= columns:
                    yield number, cells
                elif cells:
                    faults.append(Fault(str(path), number, _guess_columns(line, cells, columns)))
    except (EOFError, gzip.BadGzipFile):
        faults.append(Fault(str(path), number, "the gzip data end too early or are damaged"))


def _guess_columns(line: str, cells: list[str], columns: int) -> str:
    """Return what a line with too few columns looks like."""
    wanted = {
        RUN_COLUMNS: "a run has six (query Q0 document rank score tag)",
        QRELS_COLUMNS: "judgements have four (query 0 document grade)",
    }[columns]
    like = ""
    if line.lstrip().startswith(("{", "[")):
        like = "; this looks like JSON"
    elif line.count("\t") == 2 and columns == QRELS_COLUMNS:
        like = "; this looks like BEIR's tab-separated judgements"
    elif len(cells) == QRELS_COLUMNS and columns == RUN_COLUMNS:
        like = "; this looks like judgements (qrels)"
    elif line.count("\t") == 2:
        like = "; this looks like a tab-separated run of another format"
    elif line.count(",") >= columns - 2:
        like = "; this looks like CSV"
    return f"{len(cells)} column{'s' if len(cells) > 1 else ''}: {wanted}{like}"


def _settle(path: Path, what: str, faults: list[Fault], *, skip_bad: bool) -> None:
    if faults and not skip_bad:
        count = f"{len(faults):,} fault{'s' if len(faults) > 1 else ''}"
        raise DataError(f"the {what} {path} has {count}", faults=faults, hint=_HINT)


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
    for number, cells in _lines(path, QRELS_COLUMNS, faults):
        query, document, grade = restore(cells[0]), restore(cells[2]), cells[3]
        if len(cells) > QRELS_COLUMNS:
            message = f"{len(cells)} columns: {'this looks like a run' if len(cells) == RUN_COLUMNS else 'an id with a space?'}"
            faults.append(Fault(str(path), number, message))
        elif not re.fullmatch(r"[+-]?\d{1,9}", grade):
            faults.append(Fault(str(path), number, f"the grade {_shown(grade)} is not a whole number"))
        elif found.setdefault(query, {}).setdefault(document, int(grade)) != int(grade):
            message = f"document {_shown(document)} has two grades for query {_shown(query)}"
            faults.append(Fault(str(path), number, message))
    _settle(path, "qrels", faults, skip_bad=skip_bad)
    if not found:
        raise DataError(f"{path} holds no judgements", hint="they have four columns: query 0 document grade")
    rows = (Judged(q, d, grade) for q, judged in found.items() for d, grade in judged.items())
    return make_gold(tuple(found), rows)


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
    for query, document, grade in zip(
        gold.query.tolist(), gold.document.tolist(), gold.grade.tolist(), strict=True
    ):
        best[query, document] = max(grade, best.get((query, document), grade))
    for (query, document), grade in best.items():
        yield f"{encode_id(gold.queries[query])} 0 {encode_id(gold.documents[document])} {grade}\n"


def topic_lines(queries: Mapping[str, str] | Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield topics as `id <tab> query`; white space within a query becomes single blanks."""
    pairs = queries.items() if isinstance(queries, Mapping) else queries
    for name, text in pairs:
        yield f"{encode_id(name)}\t{' '.join(text.split())}\n"
