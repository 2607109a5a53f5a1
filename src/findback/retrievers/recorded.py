"""Runs recorded elsewhere, read from TREC, JSON Lines, CSV or ranx's JSON into answers by question."""

import csv
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

import orjson

from findback.errors import DataError, EngineError, Fault, MissingError, StorageError
from findback.model.hits import Answer, Hit
from findback.retrievers.returned import (
    DOCUMENT_KEYS,
    PASSAGE_KEYS,
    read_answer,
    read_id,
    read_passage,
    read_score,
    read_span,
)

RunFormat = Literal["trec", "jsonl", "csv", "ranx"]

LONGEST_LINE = 20_000_000
"""Bytes one line may have."""
MOST_FAULTS = 1_000
"""Faults that are collected before reading stops."""
QUESTION_KEYS = ("query_id", "question_id", "question", "qid", "topic")
TEXT_KEYS = ("query", "query_text", "text")
ENDINGS: Mapping[str, RunFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".trec": "trec",
    ".txt": "trec",
    ".run": "trec",
    ".test": "trec",
    ".json": "ranx",
}


class _Row(NamedTuple):
    """One result of one line."""

    hit: Hit
    rank: float | None


@dataclass(slots=True)
class RecordedRun:
    """Answers by question id and by query text."""

    by_question: dict[str, Answer] = field(default_factory=dict)
    by_text: dict[str, Answer] = field(default_factory=dict)
    by_score: bool = False
    """True where the scores alone order the results, so that equal ones are ties."""

    def find(self, question: str | None, text: str) -> Answer | None:
        """Return the answer recorded for a question's id, else for its text."""
        found = None if question is None else self.by_question.get(question)
        return found or self.by_text.get(text) or self.by_question.get(text)


def read_recorded(
    path: Path, *, kind: RunFormat | None = None, lower_is_better: bool = False, encoded: bool = False
) -> RecordedRun:
    """Read a run.

    Runs of TREC and ranx are ordered by their scores, as trec_eval does; a rank column is not looked at. JSON Lines
    and CSV keep their order (or that of a rank column), and count as ordered by score only where the scores agree
    with it everywhere.

    Args:
        path: The file.
        kind: What it is; told by the name's ending when None.
        lower_is_better: Whether a lower score is the better one.
        encoded: Whether ids are percent-encoded, as findback writes ids with spaces into TREC files.

    Raises:
        MissingError: If there is no such file.
        DataError: If lines are not what they should be; all faults at once.
    """
    chosen = kind or ENDINGS.get(path.suffix.lower())
    if chosen is None:
        raise DataError(f"cannot tell what {path} is", hint='say `format = "trec"`, "jsonl", "csv" or "ranx"')
    reading = _Reading(str(path), unquote if encoded else str)
    reader: Callable[[_Reading, Iterator[tuple[int, str]]], None] = {
        "trec": _Reading.read_trec,
        "jsonl": _Reading.read_jsonl,
        "csv": _Reading.read_csv,
        "ranx": _Reading.read_ranx,
    }[chosen]
    reader(reading, _lines(path, reading))
    return reading.settle(sort=chosen in ("trec", "ranx"), sign=1.0 if lower_is_better else -1.0)


@dataclass(slots=True)
class _Reading:
    path: str
    decode: Callable[[str], str]
    rows: dict[tuple[bool, str], list[_Row]] = field(default_factory=dict)
    flags: dict[tuple[bool, str], tuple[bool, bool]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def fault(self, line: int | None, message: str) -> None:
        self.faults.append(Fault(self.path, line, message))
        if len(self.faults) >= MOST_FAULTS:
            self.refuse()

    def refuse(self) -> None:
        raise DataError(f"{self.path} is not a run that can be read", faults=self.faults)

    def read_trec(self, lines: Iterator[tuple[int, str]]) -> None:
        for number, line in lines:
            cells = line.split()
            if not cells:
                continue
            if len(cells) != 6:
                self.fault(number, f"{len(cells)} columns, not 6 (query, Q0, document, rank, score, tag)")
                continue
            try:
                score = float(cells[4])
            except ValueError:
                score = math.nan
            if not math.isfinite(score):
                self.fault(number, "the score is not a finite number")
                continue
            hit = Hit(self.decode(cells[2]), score)
            self.rows.setdefault((True, self.decode(cells[0])), []).append(_Row(hit, None))

    def read_jsonl(self, lines: Iterator[tuple[int, str]]) -> None:
        for number, line in lines:
            if not line.strip():
                continue
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                self.fault(number, f"not valid JSON: {error.msg}, at character {error.pos + 1}")
                continue
            if not isinstance(record, dict):
                self.fault(number, f"a {type(record).__name__}, not a JSON object")
                continue
            keys = self.keys_of(record, number)
            if not keys:
                continue
            if "hits" not in record and not record.get("abstain"):
                self.add_row(record, keys, number)
            elif keys[0] in self.flags:
                self.fault(number, "this question was answered on an earlier line")
            else:
                self.add_answer(record, keys, number)

    def read_ranx(self, lines: Iterator[tuple[int, str]]) -> None:
        try:
            run = orjson.loads("".join(line for _, line in lines))
        except orjson.JSONDecodeError as error:
            self.fault(error.lineno, f"not valid JSON: {error.msg.partition(': line ')[0]}")
            return
        for question, results in run.items() if isinstance(run, dict) else ():
            rows = self.rows.setdefault((True, self.decode(question)), [])
            for document, score in results.items() if isinstance(results, dict) else ((question, None),):
                if isinstance(score, (int, float)) and not isinstance(score, bool) and document:
                    rows.append(_Row(Hit(self.decode(document), float(score)), None))
                else:
                    self.fault(None, f"question {len(self.rows)}: not an object of documents and scores")
        if not isinstance(run, dict):
            self.fault(1, "not an object of questions")

    def read_csv(self, lines: Iterator[tuple[int, str]]) -> None:
        numbered = _Numbered(lines)
        first = next(numbered, None)
        if first is None:
            return
        delimiter = max("\t;,", key=first.count)
        try:
            names = [name.strip().lower() for name in next(csv.reader([first], delimiter=delimiter), [])]
        except csv.Error as error:
            self.fault(1, _explain(error))
            return
        if not {*names} & {*QUESTION_KEYS, *TEXT_KEYS, "id"} or not {*names} & {*DOCUMENT_KEYS}:
            self.fault(
                1,
                f"no column for the query ({', '.join(QUESTION_KEYS)}, query) or the document (document, doc_id)",
            )
            return
        try:
            for cells in csv.reader(numbered, delimiter=delimiter):
                if not any(cells):
                    continue
                if len(cells) != len(names):
                    self.fault(numbered.at, f"{len(cells)} columns, not {len(names)}")
                    continue
                record = {name: cell for name, cell in zip(names, cells, strict=True) if cell != ""}
                keys = self.keys_of(record, numbered.at)
                if keys:
                    self.add_row(record, keys, numbered.at, numeric=True)
        except csv.Error as error:
            self.fault(numbered.at, _explain(error))

    def keys_of(self, record: Mapping[str, Any], line: int) -> list[tuple[bool, str]]:
        """Return the keys of the question a record belongs to: its id, its text, or both."""
        identity = next((record[key] for key in QUESTION_KEYS if record.get(key) is not None), None)
        if identity is None and ("hits" in record or "abstain" in record or _has_other_id(record)):
            identity = record.get("id")
        text = next((record[key] for key in TEXT_KEYS if isinstance(record.get(key), str)), None)
        keys = [(True, self.decode(str(identity)))] if isinstance(identity, str | int) else []
        if text is not None:
            keys.append((False, text))
        if not keys:
            self.fault(line, f"no question: none of {', '.join((*QUESTION_KEYS, 'query'))}")
        return keys

    def add_row(
        self, record: Mapping[str, Any], keys: list[tuple[bool, str]], line: int, *, numeric: bool = False
    ) -> None:
        names = [key for key in DOCUMENT_KEYS if not (key == "id" and keys[0] == (True, str(record.get("id"))))]
        document = next((record[key] for key in names if record.get(key) is not None), None)
        passage = next((record[key] for key in PASSAGE_KEYS if key not in TEXT_KEYS and record.get(key)), None)
        place: list[Any] = [record.get("start"), record.get("end")]
        try:
            if numeric:
                place = [None if value is None else int(value) for value in place]
            rank = read_score(record.get("rank"), line)
            hit = Hit(
                self.decode(read_id(document, line)),
                read_score(record.get("score"), line),
                read_passage(passage, line),
                read_span(place[0], place[1], line),
            )
        except EngineError as error:
            self.fault(line, str(error).replace(f" of result {line}", ""))
            return
        except ValueError:
            self.fault(line, "start or end is not a whole number")
            return
        for key in keys:
            self.rows.setdefault(key, []).append(_Row(hit, rank))

    def add_answer(self, record: Mapping[str, Any], keys: list[tuple[bool, str]], line: int) -> None:
        try:
            answer = read_answer({"hits": [], **record}, 0)
        except EngineError as error:
            self.fault(line, str(error))
            return
        rows = [_Row(hit._replace(document=self.decode(hit.document)), None) for hit in answer.hits]
        for key in keys:
            self.rows[key] = rows
            self.flags[key] = (answer.exhausted, answer.abstained)

    def settle(self, *, sort: bool, sign: float) -> RecordedRun:
        """Return the run, or refuse the file with everything that is wrong with it."""
        if not self.faults and not self.rows:
            self.fault(None, "it holds no results")
        if self.faults:
            self.refuse()
        scored = all(row.hit.score is not None for rows in self.rows.values() for row in rows)
        run = RecordedRun(by_score=scored)
        for key, rows in self.rows.items():
            if sort:
                rows.sort(key=lambda row: sign * (row.hit.score or 0.0))
            elif all(row.rank is not None for row in rows):
                rows.sort(key=lambda row: row.rank or 0.0)
            if run.by_score and not sort:
                values = [sign * (row.hit.score or 0.0) for row in rows]
                run.by_score = all(one <= two for one, two in pairwise(values))
            _exhausted, abstained = self.flags.get(key, (True, False))
            answer = Answer(tuple(row.hit for row in rows), exhausted=True, abstained=abstained)
            (run.by_question if key[0] else run.by_text)[key[1]] = answer
        return run


class _Numbered:
    """Lines that remember their number, for readers that swallow several at once."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self.at = 0

    def __iter__(self) -> "_Numbered":
        return self

    def __next__(self) -> str:
        self.at, line = next(self._lines)
        return line


def _explain(error: csv.Error) -> str:
    if "new-line character" in str(error):
        return "not valid CSV: a carriage return stands inside a line (line ends must be LF or CRLF)"
    return f"not valid CSV: {error}"


def _has_other_id(record: Mapping[str, Any]) -> bool:
    return any(record.get(key) is not None for key in DOCUMENT_KEYS if key != "id")


def _lines(path: Path, reading: _Reading) -> Iterator[tuple[int, str]]:
    try:
        with path.open("rb") as handle:
            for number, line in enumerate(iter(lambda: handle.readline(LONGEST_LINE + 1), b""), 1):
                if len(line) > LONGEST_LINE:
                    reading.fault(number, f"longer than {LONGEST_LINE:,} bytes")
                    reading.refuse()
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    reading.fault(number, f"not UTF-8 at byte {error.start + 1}")
                    continue
                if "\0" in text:
                    reading.fault(number, "a NUL byte")
                    continue
                yield number, text
    except FileNotFoundError:
        raise MissingError(f"there is no run {path}", hint="`path` is relative to findback.toml") from None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {(error.strerror or type(error).__name__).lower()}") from None
