"""How much of each question of two sets stands in its answer, in windows of one length."""

from collections.abc import Sequence
from typing import NamedTuple

from findback.measure.ruler import code_pool
from findback.measure.yardstick import measure_set
from findback.model.protocols import Documents
from findback.model.question import Question, QuestionSet
from findback.steps.wording import Worded, share_window, word_questions

Overlap = float | None


class Overlaps(NamedTuple):
    """The overlap of each question, by id; None where it cannot be measured. Ids without gold text are missing."""

    window: int | None
    """In characters; None where no question has a gold text."""
    first: dict[str, Overlap]
    second: dict[str, Overlap]

    def of(self, side: int, questions: Sequence[Question]) -> list[Overlap]:
        """Return the overlaps of some questions of the first (0) or second (1) set."""
        found = self.second if side else self.first
        return [found.get(question.id) for question in questions]


def measure_overlaps(first: QuestionSet, second: QuestionSet, documents: Documents | None, *, seed: int) -> Overlaps:
    """Measure the overlap of two sets' questions in one window: the smaller side's median gold length.

    What else is in the corpus plays no role for overlap, so only the gold texts are cut into words.
    """
    sides = [word_questions(one, documents) for one in (first, second)]
    window = share_window(*sides).window
    if window is None:
        return Overlaps(None, {}, {})
    found = [_measure(side, window, seed) for side in sides]
    return Overlaps(window, *found)


def _measure(side: Worded, window: int, seed: int) -> dict[str, Overlap]:
    if not side.wordings:
        return {}
    languages = {wording.gold: wording.gold_language for wording in side.wordings}
    places = {text: place for place, text in enumerate(languages)}
    wordings = [wording._replace(document=places[wording.gold]) for wording in side.wordings]
    pool = code_pool(list(languages), list(languages.values()))
    rows = measure_set(wordings, pool, window=window, seed=seed, draws=1).rows
    return {question.id: row.overlap.value for question, row in zip(side.questions, rows, strict=True)}
