"""Quepid's ratings: the basic CSV `query,docid,rating`, a book's CSV with one column a judge, detailed CSV, and JSON.

Quepid has no ids: everything is joined by the text of the query.
"""

import itertools
import re
from math import nan
from pathlib import Path
from statistics import median_low

from findback.errors import DataError
from findback.evalset.extra import add_extra, best_grades, read_extra, side_file, write_extra
from findback.evalset.finishing import refuse_doubles
from findback.evalset.format import ReadOptions
from findback.evalset.formats.quepid_json import book_pieces, read_book, recognise_json
from findback.evalset.losses import BESIDE_PAIRS
from findback.evalset.mapping import QUERY_LIMIT
from findback.evalset.qrels import GatheredJudgements
from findback.evalset.rows import PEEKED, Row, read_header, read_rows
from findback.evalset.textfile import Faults, digest_files
from findback.evalset.writing import write_pieces
from findback.model.question import Question, QuestionSet
from findback.text.delimited import Cell, delimited_lines

name = "quepid"
losses = ("ids", *BESIDE_PAIRS)

_HEADER = ("query", "docid", "rating")
_SAME = {"query text": "query", "doc id": "docid"}
_DETAILED = frozenset({"case id", *_HEADER})
# Quepid puts one blank before a cell that a spreadsheet could run.
_RISKY = re.compile(r" *[-=+@]")
_NUMBER = re.compile(r"\s*(?:-?\d{1,6}(?:\.\d{1,6})?)?\s*")
_GUARDED = re.compile(r" +[-=+@]")


def recognise(path: Path) -> str | None:
    """Return the reason to take a file for a ratings export of Quepid, or None."""
    if not path.is_file():
        return None
    if why := recognise_json(path):
        return why
    header = tuple(_column(column) for column in read_header(path))
    if set(header) >= _DETAILED:
        return "the columns Query Text, Doc ID and Rating of a detailed export"
    if header == _HEADER:
        return "the columns query, docid and rating"
    if len(header) >= len(_HEADER) and header[:2] == _HEADER[:2] and _is_book(path):
        return "the columns query and docid, and one column of ratings a judge"
    return None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return one question for each query text; a query without ratings is unlabelled.

    Raises:
        DataError: With every fault found.
    """
    if recognise_json(path):
        return read_book(path, options, name)
    faults = Faults()
    gathered = GatheredJudgements(path, faults, options.grades)
    queries: dict[str, None] = {}
    for row in read_rows(path, faults, guarded=False):
        query, document, rating = _cells(path, row)
        if not query.strip() or len(query) > QUERY_LIMIT:
            trouble = "is empty" if not query.strip() else f"has more than {QUERY_LIMIT:,} characters"
            faults.add(path, row.line, row.say(f"`query` {trouble}"))
            continue
        queries.setdefault(query)
        if document and rating:
            gathered.add(row.line or row.number, query, document, rating)
        elif rating:
            faults.add(path, row.line, row.say("`docid` is empty, but there is a rating"))
    extras = read_extra(side_file(path), faults)
    notes = faults.settle(path.name, skip_bad=options.skip_bad)
    if not queries:
        raise DataError(f"{path} holds no queries")
    if extras:
        notes += (f"read with its side file {side_file(path).name}",)
    return QuestionSet(
        name=path.name,
        kind="unreleased set",
        questions=tuple(
            _question(number, query, gathered, extras.get(query)) for number, query in enumerate(queries, 1)
        ),
        sha256=digest_files([path]),
        format=name,
        notes=notes,
        skipped=faults.rows,
    )


def places(target: Path) -> tuple[Path, ...]:
    """Return the table and its side file."""
    return target, side_file(target)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write the ratings (`.json` a book, else CSV) and the side file.

    Raises:
        DataError: If two questions have the same query: Quepid could not tell them apart.
        StorageError: If the disk refuses.
    """
    refuse_doubles(questions, target, "Quepid")
    if target.suffix.lower() == ".json":
        write_pieces(target, book_pieces(questions))
    else:
        write_pieces(target, delimited_lines(_rows(questions), guarded=False))
    _, extra = places(target)
    write_extra(extra, questions, lambda _, question: question.query, form=name, losses=losses)
    return target, extra


def _rows(questions: QuestionSet) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = [_HEADER]
    for question in questions.questions:
        grades = best_grades(question.judged or ())
        rows += [(_guard(question.query), _guard(doc), grade) for doc, grade in grades.items()]
        if not grades:
            rows.append((_guard(question.query), None, None))
    return rows


def _column(name: str) -> str:
    """Return a column as the basic export calls it."""
    lower = name.lower()
    return _SAME.get(lower, lower)


def _is_book(path: Path) -> bool:
    rows = itertools.islice(read_rows(path, Faults(), guarded=False), PEEKED)
    return all(_NUMBER.fullmatch(str(cell or "")) for row in rows for cell in tuple(row.values.values())[2:])


def _cells(path: Path, row: Row) -> tuple[str, str, str]:
    """Return query, document and rating; of several judges' ratings the lower median."""
    values = {_column(column): _unguard(str(value or "")) for column, value in row.values.items()}
    if missing := [column for column in _HEADER[:2] if column not in values]:
        raise DataError(f"{path.name} has no column {missing[0]!r}", hint="Quepid's exports have query and docid")
    if "rating" in values:
        return values["query"], values["docid"], values["rating"].strip()
    ratings = [cell.strip() for column, cell in values.items() if column not in _HEADER and cell.strip()]
    numbers = [float(rating) if _NUMBER.fullmatch(rating) else nan for rating in ratings]
    middle = str(median_low(numbers)) if numbers else ""
    return values["query"], values["docid"], middle


def _guard(cell: str) -> str:
    return f" {cell}" if _RISKY.match(cell) else cell


def _unguard(cell: str) -> str:
    return cell[1:] if _GUARDED.match(cell) else cell


def _question(number: int, query: str, gathered: GatheredJudgements, extra: Question | None) -> Question:
    question = Question(id=f"q{number}", query=query, judged=gathered.of(query))
    return add_extra(question, extra, {"query": query})
