"""One row of a mapped file as a question."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from pydantic import ValidationError

from findback.evalset.columns import object_value
from findback.evalset.rows import Row
from findback.evalset.sentences import sentences
from findback.evalset.values import CellError, as_grade, as_list, as_text, as_truth, look_up
from findback.model.case import Context, Judgement
from findback.model.question import Question

QUERY_LIMIT = 100_000
"""Most characters a query may have."""
TEXT_LIMIT = 1_000_000
"""Most characters a gold text may have."""
ID_LIMIT = 4_000
"""Most characters an id may have."""
ANCHOR_LIMIT = 10_000
"""Most characters an anchor may have; what is longer stays a gold text."""

ROLE_LIMIT = 200
"""Most characters a role may have."""
TOP_PART = 99

MARKED_NO_ANSWER = "marked as without an answer in the imported file"

_ANSWERS = frozenset({"one", "cross-doc", "no-answer", "no_answer", "unanswerable"})
_PLAIN_FIELDS = ("wording", "no_answer_reason", "cluster", "stratum", "origin", "selected_on")


class RowError(ValueError):
    """A row is no question; `messages` says why, field by field."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__("; ".join(messages))
        self.messages = messages


@dataclass
class Gold:
    """What one row says about its answers."""

    judged: list[Judgement] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


def question_from_row(row: Row, columns: Mapping[str, str], grades: Mapping[str, int]) -> Question:
    """Return the question of a row.

    Args:
        row: The row.
        columns: The column of each field.
        grades: What the file's grades mean.

    Raises:
        RowError: With everything that is wrong with the row.
    """
    messages: list[str] = []

    def text(name: str, limit: int = QUERY_LIMIT) -> str | None:
        column = columns.get(name)
        try:
            value = as_text(look_up(row.values, column)) if column else None
            return _bounded(value, limit)
        except CellError as error:
            messages.append(f"`{column}` {error}")
            return None

    query = _query(row, columns, messages)
    identity = text("id", ID_LIMIT) or f"row-{row.number}"
    gold = _gold(row, columns, grades, messages)
    values: dict[str, Any] = {name: text(name) for name in _PLAIN_FIELDS}
    language = text("language")
    audience = text("audience", ROLE_LIMIT)
    without = _flag(row, columns, messages)
    wording = values["wording"]
    if wording is not None and wording.strip().lower() in _ANSWERS:
        # "Type" may mean the answer axis; that one is derived from the judgements, save that nothing answers.
        without = without or wording.strip().lower() not in ("one", "cross-doc")
        values["wording"] = None
    tags = _tags(row, columns, messages)
    judged = _judged(gold, values, without=without, messages=messages)
    if messages:
        raise RowError(messages)
    values |= {"language": short_language(language), "judged": judged}
    # What the row does not say is left to the defaults: a large set is kept in memory whole.
    said = {name: value for name, value in values.items() if value is not None}
    said |= {"gold_texts": tuple(dict.fromkeys(gold.texts))} if gold.texts else {}
    said |= {"tags": tags} if tags else {}
    said |= {"context": Context(audience=audience.strip())} if audience else {}
    try:
        return Question(id=identity, query=query, **said)
    except ValidationError as error:
        raise RowError(sentences(error)) from None


def short_language(language: str | None) -> str | None:
    """Return a language's code without region: `en-US` → `en`."""
    if language is None:
        return None
    return language.strip().replace("_", "-").partition("-")[0].lower() or None


def _bounded(value: str | None, limit: int) -> str | None:
    if value is not None and len(value) > limit:
        raise CellError(f"has more than {limit:,} characters")
    return value


def _query(row: Row, columns: Mapping[str, str], messages: list[str]) -> str:
    column = columns["query"]
    value = look_up(row.values, column)
    try:
        if isinstance(value, list):
            value = _last_turn(value)
        query = _bounded(as_text(value), QUERY_LIMIT)
    except CellError as error:
        messages.append(f"`{column}` {error}")
        return ""
    if query is None:
        messages.append(f"`{column}` is empty: a question needs a query")
        return ""
    if "\0" in query:
        messages.append(f"`{column}` holds a NUL character")
    return query


def _last_turn(turns: list[Any]) -> Any:
    """Return what the user said last in a conversation given as messages."""
    said = [
        turn.get("content")
        for turn in turns
        if isinstance(turn, Mapping) and turn.get("type", turn.get("role", "human")) in ("human", "user")
    ]
    if not said:
        raise CellError("must be text")
    return said[-1]


@dataclass
class Beside:
    """What a row says about its documents in other columns: one value for all, or one for each."""

    grades: list[Any]
    parts: list[Any]
    anchor: str | None

    def check(self, documents: int) -> None:
        """Refuse lists that do not pair with the documents.

        Raises:
            CellError: If their lengths differ.
        """
        for what, given in (("grades", self.grades), ("parts", self.parts)):
            if len(given) > 1 and len(given) != documents:
                raise CellError(f"names {documents} documents, but there are {len(given)} {what}")


def _gold(row: Row, columns: Mapping[str, str], grades: Mapping[str, int], messages: list[str]) -> Gold:
    gold = Gold()
    beside = Beside([], [], None)
    for name, see in (("grade", _see_grades), ("part", _see_parts), ("anchor", _see_anchor)):
        _attempt(columns.get(name), row, messages, partial(see, beside))
    _attempt(columns.get("gold"), row, messages, lambda value: _add_documents(gold, value, beside, grades))
    _attempt(columns.get("gold_text"), row, messages, lambda value: _add_texts(gold, value))
    return gold


def _attempt(column: str | None, row: Row, messages: list[str], read: Callable[[Any], None]) -> None:
    if column is None:
        return
    try:
        read(look_up(row.values, column))
    except CellError as error:
        messages.append(f"`{column}` {error}")


def _see_grades(beside: Beside, value: Any) -> None:
    beside.grades = as_list(value) or [None]


def _see_parts(beside: Beside, value: Any) -> None:
    beside.parts = as_list(value)


def _see_anchor(beside: Beside, value: Any) -> None:
    beside.anchor = as_text(value)


def _add_documents(gold: Gold, value: Any, beside: Beside, grades: Mapping[str, int]) -> None:
    entries = list(_entries(as_list(value)))
    beside.check(len(entries))
    for position, (entry, part) in enumerate(entries):
        own = (_nth(beside.grades, position, 1), _nth(beside.parts, position, part), beside.anchor)
        _add_entry(gold, entry, own, grades)


def _add_texts(gold: Gold, value: Any) -> None:
    texts = [text for entry, _ in _entries(as_list(value)) if (text := _text_of(entry))]
    for text in texts:
        _bounded(text, TEXT_LIMIT)
    gold.texts.extend(texts)
    _anchor_texts(gold, texts)


def _nth(given: list[Any], position: int, default: Any) -> Any:
    if not given:
        return default
    return given[position] if len(given) > 1 else given[0]


def _entries(entries: list[Any]) -> Iterator[tuple[Any, int]]:
    """Yield gold entries with their part: lists in a list are parts, their members alternatives."""
    nested = any(isinstance(entry, (list, tuple)) for entry in entries)
    for position, entry in enumerate(entries, 1):
        if isinstance(entry, (list, tuple)):
            for inner in entry:
                yield inner, position
        elif entry not in (None, ""):
            yield entry, position if nested else 1


def _text_of(entry: Any) -> str | None:
    if isinstance(entry, Mapping):
        return as_text(object_value(entry, "text"))
    return as_text(entry)


def _add_entry(gold: Gold, entry: Any, beside: tuple[Any, Any, str | None], grades: Mapping[str, int]) -> None:
    grade, part, anchor = beside
    if isinstance(entry, Mapping):
        document = as_text(object_value(entry, "document"))
        text = as_text(object_value(entry, "text"))
        own_grade = object_value(entry, "grade")
        grade = grade if own_grade is None else own_grade
        part = object_value(entry, "part") or part
        anchor = text or anchor
        if document is None and text is None:
            raise CellError("has an entry without a document and without a text")
        if document is None and text is not None:
            gold.texts.append(text)
    else:
        document = as_text(entry)
    # A row that pairs query and document without a grade has not been judged.
    if document is not None and grade not in (None, ""):
        gold.judged.append(_judgement(gold, document, as_grade(grade, grades), _part(part), anchor))


def _part(value: Any) -> int:
    text = as_text(value) or ""
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:4]) <= TOP_PART):
        raise CellError(f"part must be a whole number from 1 to {TOP_PART}")
    return int(text)


def _judgement(gold: Gold, document: str, grade: int, part: int, anchor: str | None) -> Judgement:
    if len(document) > ID_LIMIT:
        raise CellError(f"names a document with more than {ID_LIMIT:,} characters")
    if anchor is not None and len(anchor) > ANCHOR_LIMIT:
        gold.texts.append(anchor)
        anchor = None
    return _made(document, grade, part, anchor if grade else None)


@lru_cache(maxsize=4_096)
def _made(document: str, grade: int, part: int, anchor: str | None) -> Judgement:
    """Return a judgement; most questions of a set share theirs with others, and a record never changes."""
    known: dict[str, Any] = {} if anchor is None else {"anchor": anchor}
    return Judgement(doc=document, grade=grade, part=part, found_by="import", **known)


def _anchor_texts(gold: Gold, texts: list[str]) -> None:
    """Make texts the anchors of the one document a row names."""
    short = [text for text in texts if len(text) <= ANCHOR_LIMIT]
    if not short or len(gold.judged) != 1 or not gold.judged[0].grade or gold.judged[0].anchor is not None:
        return
    only = gold.judged[0]
    gold.judged = [only.model_copy(update={"anchor": text}) for text in dict.fromkeys(short)]


def _flag(row: Row, columns: Mapping[str, str], messages: list[str]) -> bool:
    column = columns.get("no_answer")
    if column is None:
        return False
    try:
        return as_truth(look_up(row.values, column))
    except CellError as error:
        messages.append(f"`{column}` {error}")
        return False


def _tags(row: Row, columns: Mapping[str, str], messages: list[str]) -> tuple[str, ...]:
    column = columns.get("tags")
    if column is None:
        return ()
    try:
        return tuple(text for entry in as_list(look_up(row.values, column)) if (text := as_text(entry)))
    except CellError as error:
        messages.append(f"`{column}` {error}")
        return ()


def _judged(gold: Gold, values: dict[str, Any], *, without: bool, messages: list[str]) -> tuple[Judgement, ...] | None:
    has_gold = bool(gold.texts) or any(judgement.grade for judgement in gold.judged)
    if has_gold and (without or values["no_answer_reason"]):
        messages.append("the row names gold and says that there is no answer")
    if without and values["no_answer_reason"] is None:
        values["no_answer_reason"] = MARKED_NO_ANSWER
    if gold.judged or values["no_answer_reason"]:
        # A list that names a document twice says it once.
        return tuple(dict.fromkeys(gold.judged)) if len(gold.judged) > 1 else tuple(gold.judged)
    return None
