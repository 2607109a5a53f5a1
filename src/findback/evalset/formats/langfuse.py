"""Langfuse data sets: items with `input` and `expectedOutput`."""

from pathlib import Path

from findback.evalset.examples import HELD_NOT, Keys, plain_metadata, plain_output, read_examples, write_examples
from findback.evalset.extra import side_file
from findback.evalset.format import ReadOptions
from findback.evalset.jsonplaces import shape_of
from findback.model.question import QuestionSet

name = "langfuse"
takes_paths = True
losses = HELD_NOT

_KEYS = Keys("input", ("expectedOutput", "expected_output"), ("data", "items"), ("status", "ARCHIVED"))
_MARKS = ("dataset_id", "dataset_name", "source_trace_id", "status")


def recognise(path: Path) -> str | None:
    """Return the reason to take a file for items of a Langfuse data set, or None."""
    shape = shape_of(path)
    for wrapper in ("", "data[].", "items[]."):
        camel, snake = (shape.has(f"{wrapper}input", f"{wrapper}{output}") for output in _KEYS.outputs)
        # Others write expected_output, too; theirs is not of a data set.
        if camel or (snake and any(shape.has(f"{wrapper}{mark}") for mark in _MARKS)):
            return f"items with input and {_KEYS.outputs[0 if camel else 1]}"
    return None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return one question for each item in use; a JSONPath says where documents stand when no usual key holds them.

    Raises:
        DataError: With every fault found.
    """
    return read_examples(path, options, _KEYS, form=name)


def places(target: Path) -> tuple[Path, ...]:
    """Return the file and its side file."""
    return target, side_file(target)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write items and the side file; the id is the question's, so that an item that is there is updated.

    Raises:
        StorageError: If the disk refuses.
    """
    rows = (
        {
            "id": question.id,
            "input": {"query": question.query},
            "expectedOutput": plain_output(question),
            "metadata": plain_metadata(question),
        }
        for question in questions.questions
    )
    return write_examples(questions, target, rows, form=name, losses=losses)
