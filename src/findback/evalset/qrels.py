"""Judgements of a qrels file, gathered by query."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from findback.evalset.textfile import Faults, shown
from findback.evalset.values import CellError, as_grade
from findback.model.case import Judgement


class GatheredJudgements:
    """Judgements by query id, with contradictions noted as faults."""

    def __init__(self, path: Path, faults: Faults, grades: Mapping[str, int]) -> None:
        self._path = path
        self._faults = faults
        self._meaning = grades
        self._found: dict[str, dict[str, int]] = {}
        self._lines: dict[str, int] = {}

    def add(self, line: int, query: str, document: str, grade: str) -> None:
        """Add a row, or note why it cannot be one."""
        if not query or not document:
            self._faults.add(self._path, line, "the query's or the document's id is empty")
            return
        try:
            value = as_grade(grade, self._meaning)
        except CellError as error:
            self._faults.add(self._path, line, str(error))
            return
        documents = self._found.setdefault(query, {})
        self._lines.setdefault(query, line)
        if documents.setdefault(document, value) != value:
            first = self._lines[query]
            message = f"document {shown(document)} has two grades for the query first judged on line {first}"
            self._faults.add(self._path, line, message)

    def check_known(self, queries: Iterable[str]) -> None:
        """Note each judged query that is not among the queries there are."""
        known = set(queries)
        for query, line in self._lines.items():
            if query not in known:
                self._faults.add(self._path, line, f"query {shown(query)} is judged, but there is no such query")

    def of(self, query: str) -> tuple[Judgement, ...] | None:
        """Return a query's judgements, or None when there is no row for it."""
        documents = self._found.get(query)
        if documents is None:
            return None
        return tuple(Judgement(doc=doc, grade=grade, found_by="import") for doc, grade in documents.items())
