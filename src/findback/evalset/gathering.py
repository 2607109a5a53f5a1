"""Questions of files that pair queries with documents, gathered as the pairs are found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from findback.evalset.jsonplaces import Place
from findback.evalset.mapping import ID_LIMIT, QUERY_LIMIT
from findback.evalset.scale import rating_text, read_scale
from findback.evalset.textfile import shown
from findback.evalset.values import CellError, as_grade, as_text
from findback.model.case import Judgement
from findback.model.question import Question


@dataclass
class _Asked:
    """A query and its ratings so far."""

    query: str
    ratings: dict[str, tuple[str, Place]] = field(default_factory=dict)
    """Of each document, and where it was first given."""


class Gathering:
    """Questions by key, with contradictions noted as faults."""

    def __init__(self, fault: Callable[[Place, str], None], grades: Mapping[str, int]) -> None:
        self._fault = fault
        self._grades = grades
        self._asked: dict[str, _Asked] = {}

    def ask(self, place: Place, query: Any, key: Any = None) -> str | None:
        """Take a query in, and return its key; None, with a fault, where it is none.

        Args:
            place: Where the query stands.
            query: The value there.
            key: Its id; the query itself is one where the format has no other.
        """
        try:
            text = as_text(query)
            identity = text if key is None else as_text(key)
        except CellError as error:
            self._fault(place, f"query or id {error}")
            return None
        trouble = _trouble(text, identity)
        if text is None or identity is None or trouble is not None:
            self._fault(place, trouble or "a question needs a query")
            return None
        before = self._asked.setdefault(identity, _Asked(text))
        if before.query != text:
            self._fault(place, f"the id {shown(identity)} is used for another query")
            return None
        return identity

    def __contains__(self, key: str) -> bool:
        return key in self._asked

    def rate(self, place: Place, key: str, document: Any, rating: Any) -> None:
        """Note how a document was rated for a query that was taken in."""
        try:
            named = as_text(document)
        except CellError as error:
            self._fault(place, f"the document {error}")
            return
        if named is None or len(named) > ID_LIMIT:
            trouble = "is empty" if named is None else f"has more than {ID_LIMIT:,} characters"
            self._fault(place, f"the document's id {trouble}")
            return
        if rating is None or isinstance(rating, (dict, list)):
            self._fault(place, "the rating must be a number" if rating is not None else "there is no rating")
            return
        text = rating_text(rating)
        known = self._asked[key].ratings.setdefault(named, (text, place))
        if known[0] != text:
            self._fault(place, f"document {shown(named)} has two ratings for one query")

    def finish(self) -> tuple[dict[str, Question], tuple[str, ...]]:
        """Return the questions by key, with notes; a question without ratings is unlabelled.

        A rating that is no grade becomes a fault.
        """
        every = {rating for asked in self._asked.values() for rating, _ in asked.ratings.values()}
        scale, note = read_scale(every, self._grades)
        meant = {rating: _meaning(rating, scale) for rating in every}
        questions = {key: self._question(key, asked, meant) for key, asked in self._asked.items()}
        return questions, () if note is None else (note,)

    def _question(self, key: str, asked: _Asked, meant: Mapping[str, int | str]) -> Question:
        judged = []
        for document, (rating, place) in asked.ratings.items():
            grade = meant[rating]
            if isinstance(grade, str):
                self._fault(place, grade)
            else:
                judged.append(Judgement(doc=document, grade=grade, found_by="import"))
        return Question(id=key, query=asked.query, judged=tuple(judged) if asked.ratings else None)


def number_questions(questions: Mapping[str, Question]) -> dict[str, Question]:
    """Return questions of a format without ids, by their query, with ids by their order: `q1`, `q2` and so on."""
    return {
        key: question.model_copy(update={"id": f"q{number}"})
        for number, (key, question) in enumerate(questions.items(), 1)
    }


def _meaning(rating: str, scale: Mapping[str, int]) -> int | str:
    """Return the grade of a rating, or why it has none."""
    try:
        return as_grade(rating, scale)
    except CellError as error:
        return str(error)


def _trouble(query: str | None, identity: str | None) -> str | None:
    if query is None:
        return "a question needs a query"
    if len(query) > QUERY_LIMIT:
        return f"the query has more than {QUERY_LIMIT:,} characters"
    if "\0" in query:
        return "the query holds a NUL character"
    if identity is None:
        return "the question's id is empty"
    # A query may be its own id, and is then held to its own bound.
    return "the question's id is too long" if identity != query and len(identity) > ID_LIMIT else None
