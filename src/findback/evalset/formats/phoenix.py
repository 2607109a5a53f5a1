"""Phoenix data sets: examples with `input`, `output` and `metadata`."""

from pathlib import Path

from findback.evalset.examples import HELD_NOT, Keys, plain_metadata, plain_output, read_examples, write_examples
from findback.evalset.extra import side_file
from findback.evalset.format import ReadOptions
from findback.evalset.jsonplaces import shape_of
from findback.model.question import QuestionSet

name = "phoenix"
takes_paths = True
losses = HELD_NOT

_KEYS = Keys("input", ("output",), ("data", "examples"))


def recognise(path: Path) -> str | None:
    """Return the reason to take a file for examples of a Phoenix data set, or None."""
    shape = shape_of(path)
    for wrapper in ("", "examples[].", "data.examples[]."):
        if shape.is_at(f"{wrapper}input", "object") and shape.is_at(f"{wrapper}output", "object"):
            return "examples with input and output"
    return None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return one question for each example; a JSONPath says where documents stand when no usual key holds them.

    Raises:
        DataError: With every fault found.
    """
    return read_examples(path, options, _KEYS, form=name)


def places(target: Path) -> tuple[Path, ...]:
    """Return the file and its side file."""
    return target, side_file(target)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write examples and the side file.

    Raises:
        StorageError: If the disk refuses.
    """
    rows = (
        {
            "id": question.id,
            "input": {"query": question.query},
            "output": plain_output(question),
            "metadata": plain_metadata(question),
        }
        for question in questions.questions
    )
    return write_examples(questions, target, rows, form=name, losses=losses)
