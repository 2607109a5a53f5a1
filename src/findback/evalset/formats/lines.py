"""Plain text: one query a line, without labels."""

from pathlib import Path

from findback.errors import DataError
from findback.evalset.format import ReadOptions
from findback.evalset.textfile import Faults, digest_files, read_lines
from findback.model.question import Question, QuestionSet

name = "lines"

_LONGEST = 10_000
_SUFFIXES = frozenset({".txt", ".text", ".log"})


def recognise(path: Path) -> str | None:
    """Return the reason to take a path for a list of queries, or None."""
    return f"a {path.suffix} file: one query a line" if path.is_file() and path.suffix.lower() in _SUFFIXES else None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return every line that is not blank as an unlabelled question.

    Raises:
        DataError: If it cannot be read as text, or holds no line.
    """
    faults = Faults()
    questions = []
    for line in read_lines(path, faults):
        query = line.text.strip()
        if len(query) > _LONGEST:
            faults.add(path, line.number, f"a query may have {_LONGEST:,} characters, this line has {len(query):,}")
        elif query:
            questions.append(Question(id=f"line-{line.number}", query=query))
    notes = faults.settle(f"{path.name} (one query a line)", skip_bad=options.skip_bad)
    if not questions:
        raise DataError(f"{path} holds no query")
    return QuestionSet(
        name=path.name,
        kind="unreleased set",
        questions=tuple(questions),
        sha256=digest_files([path]),
        format=name,
        notes=notes,
        skipped=faults.rows,
    )
