"""Label Studio tasks: one for each pair of a query and a document, with annotations and predictions."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from findback.evalset.annotations import RATED, Layout, Said, choose_name, read_pairs, write_pairs
from findback.evalset.extra import side_file
from findback.evalset.format import ReadOptions
from findback.evalset.jsonplaces import shape_of
from findback.evalset.losses import BESIDE_PAIRS
from findback.evalset.values import CellError
from findback.model.question import Question, QuestionSet

name = "label-studio"
takes_paths = True
losses = BESIDE_PAIRS

_KINDS = ("choices", "rating", "number", "taxonomy", "text")


def recognise(path: Path) -> str | None:
    """Return the reason to take a file for tasks of Label Studio, or None."""
    shape = shape_of(path)
    for wrapper in ("", "tasks[]."):
        if shape.is_at(f"{wrapper}data", "object") and shape.has(f"{wrapper}annotations"):
            return "tasks with data and annotations"
    return None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return one question for each query. Annotations are labels, those skipped are not, nor are predictions.

    Where annotations are marked as ground truth, these alone count.

    Raises:
        DataError: With every fault found.
    """
    return read_pairs(path, options, Layout(("data", "meta"), ("tasks",), _said), form=name)


def places(target: Path) -> tuple[Path, ...]:
    """Return the tasks and their side file."""
    return target, side_file(target)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write tasks whose grades are annotations, and the side file.

    Raises:
        StorageError: If the disk refuses.
    """
    return write_pairs(questions, target, _task, form=name, losses=losses)


def _task(question: Question, document: str | None, grade: int | None) -> dict[str, Any]:
    named = {} if document is None else {"document": document}
    annotations = []
    if grade is not None:
        answer = {"from_name": RATED, "to_name": "query", "type": "choices", "value": {"choices": [str(grade)]}}
        annotations = [{"result": [answer], "was_cancelled": False, "ground_truth": False}]
    return {
        "data": {"findback_id": question.id, "query": question.query} | named,
        "annotations": annotations,
        "predictions": [],
    }


def _said(task: Mapping[str, Any], wanted: str | None) -> Said:
    annotations = _list(task.get("annotations"))
    if not all(isinstance(one, Mapping) and isinstance(one.get("result"), list) for one in annotations):
        raise CellError("each of `annotations` must be an object with a list `result`")
    done = [one for one in annotations if one.get("was_cancelled") is not True]
    sure = [one for one in done if one.get("ground_truth") is True]
    answers = [list(_answers(one)) for one in sure or done]
    asked = list(dict.fromkeys(name for answer in answers for name, _ in answer))
    chosen = choose_name(asked, wanted)
    ratings = [value for answer in answers for name, value in answer if name == chosen]
    return Said(ratings, len(annotations) - len(done), len(_list(task.get("predictions"))))


def _answers(annotation: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for answer in _list(annotation.get("result")):
        value = answer.get("value") if isinstance(answer, Mapping) else None
        name = answer.get("from_name") if isinstance(answer, Mapping) else None
        if isinstance(value, Mapping) and isinstance(name, str):
            kind = next((kind for kind in _KINDS if kind in value), None)
            if kind is not None:
                yield name, value[kind]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
