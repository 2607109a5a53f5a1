"""The end of every reading: faults settled, side file named, the set made."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from findback.errors import DataError, Fault
from findback.evalset.extra import side_file
from findback.evalset.format import ReadOptions
from findback.evalset.textfile import Faults, digest_files
from findback.model.question import Question, QuestionSet


def finish_set(
    path: Path,
    questions: Iterable[Question],
    faults: Faults,
    options: ReadOptions,
    *,
    form: str,
    notes: Sequence[str] = (),
    files: Sequence[Path] = (),
    beside: Path | None = None,
) -> QuestionSet:
    """Return a set of the questions that were read.

    Args:
        path: What the user named.
        questions: In the file's order.
        faults: What was found wrong.
        options: Whether bad rows may be left out.
        form: The format's name.
        notes: What a reader should know.
        files: What was read, for the digest; the path itself when empty.
        beside: The file whose side file was read; None where there was none.

    Raises:
        DataError: With every fault, or where no question is left.
    """
    skipped = faults.settle(path.name, skip_bad=options.skip_bad)
    kept = tuple(questions)
    if not kept:
        raise DataError(f"{path} holds no questions", faults=faults.found)
    told = () if beside is None else (f"read with its side file {side_file(beside).name}",)
    return QuestionSet(
        name=path.name,
        kind="unreleased set",
        questions=kept,
        sha256=digest_files(list(files) or [path]),
        format=form,
        notes=(*notes, *told, *skipped),
        skipped=faults.rows,
    )


def refuse_doubles(questions: QuestionSet, target: Path, tool: str) -> None:
    """Stop where two questions have the same query and the tool joins by it; nothing is written.

    Raises:
        DataError: With every such pair.
    """
    first: dict[str, str] = {}
    doubled = [
        Fault(str(target), None, f"questions {first[question.query]} and {question.id} have the same query")
        for question in questions.questions
        if first.setdefault(question.query, question.id) != question.id
    ]
    if doubled:
        raise DataError(f"{target.name} was not written: {tool} joins by the query's text", faults=doubled)
