"""Pairs of a query and a document that people rate in an annotation tool."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple

import orjson

from findback.evalset.columns import check_fields, column_names
from findback.evalset.extra import add_extra, best_grades, read_extra, side_file, write_extra
from findback.evalset.finishing import finish_set
from findback.evalset.format import ReadOptions
from findback.evalset.gathering import Gathering
from findback.evalset.jsonfile import find_entries, read_json
from findback.evalset.jsonplaces import Place
from findback.evalset.scale import rating_text
from findback.evalset.textfile import Faults
from findback.evalset.values import CellError, look_up
from findback.evalset.writing import write_pieces
from findback.model.question import Question, QuestionSet

RATED = "relevance"
"""How the question to people is called in exports."""
OURS = "findback"
"""Names suggestions that are judgements of the exported set; other suggestions are a model's and no labels."""

_KEYS = ("findback_id", "question_id", "query_id", "qid", "case_id")
_GRADES = (RATED, "grade", "rating", "rel", "label")


class Said(NamedTuple):
    """What was said about a pair."""

    people: Sequence[Any] = ()
    """Ratings that count."""
    skipped: int = 0
    """Of people who skipped it, or have not submitted."""
    suggested: int = 0
    """Of models: shown to people, and no labels."""


class Layout(NamedTuple):
    """Where a tool keeps what."""

    holders: tuple[str, ...]
    """Objects of an entry that hold the query, the document and the question's id."""
    wrappers: tuple[str, ...]
    said: Callable[[Mapping[str, Any], str | None], Said]
    """Returns what was said in an entry under a name; under the one that is there where it is None.

    Raises CellError, with the reason, where that cannot be told."""


def read_pairs(path: Path, options: ReadOptions, layout: Layout, *, form: str) -> QuestionSet:
    """Return one question for each query, judged by what people said; of several the lower median counts.

    Raises:
        DataError: With every fault found.
    """
    check_fields(options.columns, ("query", "id", "gold", "grade"))
    faults = Faults()
    file = read_json(path, faults)
    gathering = Gathering(file.fault, options.grades)
    counts: Counter[str] = Counter()
    for place, entry in find_entries(file, *layout.wrappers):
        find = _finder(entry, layout, options.columns)
        key = gathering.ask(place, find("query", column_names()["fields"]["query"]), find("id", _KEYS))
        if key is None:
            continue
        document = find("gold", column_names()["fields"]["gold"])
        try:
            said = layout.said(entry, options.columns.get("grade"))
            rating = _middle(said.people, options.grades)
        except CellError as error:
            file.fault(place, str(error))
            continue
        counts.update(skipped=said.skipped, suggested=said.suggested)
        if rating is not None and document is not None:
            gathering.rate(place, key, document, rating)
        elif rating is not None:
            _fault_without_document(file.fault, place)
    questions, notes = gathering.finish()
    file.hand_over(faults)
    extras = read_extra(side_file(path), faults)
    widened = (
        add_extra(question, extras.get(key), {"id": question.id, "query": question.query})
        for key, question in questions.items()
    )
    told = [*notes]
    if counts["skipped"]:
        told.append(f"{counts['skipped']:,} answers not counted: skipped, or not submitted")
    if counts["suggested"]:
        told.append(f"{counts['suggested']:,} suggestions of models not counted: they are no labels")
    beside = path if extras else None
    return finish_set(path, widened, faults, options, form=form, notes=told, beside=beside)


def write_pairs(
    questions: QuestionSet,
    target: Path,
    make: Callable[[Question, str | None, int | None], dict[str, Any]],
    *,
    form: str,
    losses: Sequence[str],
) -> tuple[Path, ...]:
    """Write one entry for each judged document, and one for a question without any, as a JSON list.

    Args:
        questions: The set.
        target: The file.
        make: Returns an entry from question, document and grade.
        form: The format's name.
        losses: What it cannot hold.

    Raises:
        StorageError: If the disk refuses.
    """
    entries = [make(question, document, grade) for question, document, grade in _pairs(questions)]
    write_pieces(target, [orjson.dumps(entries, option=orjson.OPT_INDENT_2) + b"\n"])
    extra = side_file(target)
    write_extra(extra, questions, lambda _, question: question.id, form=form, losses=losses)
    return target, extra


def choose_name(names: Sequence[str], wanted: str | None) -> str | None:
    """Return the name of the question to people whose answers are grades; None where nothing was asked.

    Raises:
        CellError: If several could be it.
    """
    if wanted:
        return wanted if wanted in names else None
    known = next((name for name in _GRADES if name in names), None)
    if known is None and len(names) > 1:
        raise CellError(
            f"{len(names)} questions were asked: say which one gives the grade with --columns.grade NAME"
        ) from None
    return known or (names[0] if names else None)


def _pairs(questions: QuestionSet) -> Iterator[tuple[Question, str | None, int | None]]:
    for question in questions.questions:
        grades = best_grades(question.judged or ())
        yield from ((question, document, grade) for document, grade in grades.items())
        if not grades:
            yield question, None, None


def _finder(entry: Mapping[str, Any], layout: Layout, named: Mapping[str, str]) -> Callable[[str, Sequence[str]], Any]:
    def find(field: str, known: Sequence[str]) -> Any:
        if path := named.get(field):
            return look_up(entry, path)
        for holder in layout.holders:
            inner = entry.get(holder)
            if isinstance(inner, Mapping):
                value = next((inner[name] for name in known if inner.get(name) not in (None, "")), None)
                if value is not None:
                    return value
        return None

    return find


def _middle(ratings: Sequence[Any], grades: Mapping[str, int]) -> Any:
    """Return the lower median of several people's ratings; None of none.

    Raises:
        CellError: If they are no numbers and not all the same.
    """
    texts = [rating_text(rating[0] if isinstance(rating, list) and len(rating) == 1 else rating) for rating in ratings]
    if not texts or len(set(texts)) == 1:
        return texts[0] if texts else None
    try:
        numbers = [(float(grades.get(text, text)), text) for text in texts]
    except ValueError:
        raise CellError("people chose different words: say what each means with --grades.WORD N") from None
    return median_low(numbers)[1]


def _fault_without_document(fault: Callable[[Place, str], None], place: Place) -> None:
    fault(place, "it was rated, and names no document: say where with --columns.gold NAME")
