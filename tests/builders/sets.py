"""Cases, questions and a small corpus."""

from collections.abc import Iterator, Sequence
from typing import Any

from findback.model.case import Case
from findback.model.document import Document
from findback.model.question import Question, QuestionSet


class MemoryDocuments:
    """A corpus held in memory; ids, aliases and addresses lead to documents."""

    name = "memory"
    digest = "none"

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = {document.id: document for document in documents}
        self._names = {alias: d.id for d in documents for alias in d.aliases}
        self._names |= {d.url: d.id for d in documents if d.url}
        self.passes = 0

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        self.passes += 1
        return iter(self._documents.values())

    def get(self, document: str) -> Document | None:
        """Return the document with this id."""
        return self._documents.get(document)

    def resolve(self, reference: str) -> str | None:
        """Return the id a reference means."""
        return reference if reference in self._documents else self._names.get(reference)


def case(number: int = 0, **changes: Any) -> Case:
    """Return a sound case; keyword arguments replace its fields."""
    values: dict[str, Any] = {
        "id": f"c{number:010d}",
        "query": f"why does job {number} hammer the api",
        "language": "en",
        "wording": "plain",
        "judged": [{"doc": "runbooks/ingest.md", "grade": 2, "found_by": "reviewer"}],
        "origin": "mined",
        "stratum": "failure",
        "cluster": f"k{number}",
        "labelled_by": "reviewer",
        "confirmations": 1,
        "seen_on": "2024-03",
        "asked": "2-4",
        "redaction": {"ruleset": "core-1"},
    }
    return Case.model_validate(values | changes)


def question_set(*questions: Question, name: str = "made") -> QuestionSet:
    """Return questions as a set."""
    return QuestionSet(name=name, kind="unreleased set", questions=questions)
