"""LangSmith data sets: examples with `inputs` and `outputs`."""

import uuid
from pathlib import Path

from findback.evalset.examples import HELD_NOT, Keys, plain_metadata, plain_output, read_examples, write_examples
from findback.evalset.extra import side_file
from findback.evalset.format import ReadOptions
from findback.evalset.jsonplaces import shape_of
from findback.model.question import QuestionSet

name = "langsmith"
takes_paths = True
losses = HELD_NOT

_KEYS = Keys("inputs", ("outputs", "reference_outputs"), ("examples",))
_SPACE = uuid.UUID("6f1c4a52-5a0e-5d0f-9d0c-3b6c7f3f0c11")


def recognise(path: Path) -> str | None:
    """Return the reason to take a file for examples of LangSmith, or None."""
    shape = shape_of(path)
    outputs = next((key for key in _KEYS.outputs if shape.has(key)), None)
    if outputs is None or not shape.is_at("inputs", "object"):
        return None
    return f"examples with inputs and {outputs}"


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
    """Write examples and the side file; a question has the same id in every export, so that it is updated there.

    Raises:
        StorageError: If the disk refuses.
    """
    rows = (
        {
            "id": str(uuid.uuid5(_SPACE, question.id)),
            "inputs": {"query": question.query},
            "outputs": plain_output(question),
            "metadata": plain_metadata(question),
        }
        for question in questions.questions
    )
    return write_examples(questions, target, rows, form=name, losses=losses)
