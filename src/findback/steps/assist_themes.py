"""Questions put into themes, and what each theme costs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from findback.model.assisted import CostingTheme, ThemeQuestion
from findback.model.protocols import SILENT, Progress
from findback.steps.assist_embedder import Embedding
from findback.steps.assist_misses import KeptMisses
from findback.steps.assist_questions import Question, bare_text
from findback.steps.gaps import TIMES
from findback.text.words import words
from findback.writing.themes import Vectors, Worded, group_alike, name_by_words


class RawTheme(NamedTuple):
    """Questions about the same thing."""

    questions: tuple[Question, ...]
    """The most asked first."""
    words: tuple[str, ...]
    """The words that tell it from the others; none where its questions share no word."""

    @property
    def times(self) -> int:
        """Return how often its questions were asked, at least."""
        return sum(TIMES[one.asked] for one in self.questions)

    @property
    def language(self) -> str | None:
        """Return the language that most of its questions are in, where it is known."""
        return most_spoken(self.questions)


def most_spoken(questions: Sequence[Question]) -> str | None:
    """Return the language that most questions are in; None where none is known."""
    counted = Counter(one.language for one in questions if one.language not in (None, "und"))
    return min(counted, key=lambda code: (-counted[code], code or ""), default=None)


def find_themes(
    questions: Sequence[Question], embedding: Embedding, *, alike: float, progress: Progress = SILENT
) -> list[RawTheme]:
    """Return the questions in themes, the most asked theme first; one that is like no other is a theme alone.

    Questions of one cluster stay together and count as one when themes are made. The same questions give the
    same themes, in any order.

    Args:
        questions: Those that have words.
        embedding: Tells how alike they are.
        alike: Mean cosine from which they are about the same thing, in (0, 1).
        progress: Told of each question.
    """
    units: dict[str, list[Question]] = {}
    for one in sorted(questions, key=lambda one: (one.kind, one.id)):
        units.setdefault(one.cluster, []).append(one)
    themes: dict[int, list[Question]] = {}
    vectors = _embed(list(units.values()), embedding, progress)
    for number, unit in zip(group_alike(vectors, alike=alike), units.values(), strict=True):
        themes.setdefault(number, []).extend(unit)
    ordered = [sorted(theme, key=lambda one: (-TIMES[one.asked], one.kind, one.id)) for theme in themes.values()]
    # A short question of an unknown language is taken for one in the team's.
    usual = most_spoken(questions)
    named = name_by_words([[Worded(bare_text(one), one.language or usual) for one in theme] for theme in ordered])
    found = [RawTheme(tuple(theme), told) for theme, told in zip(ordered, named, strict=True)]
    return sorted(found, key=lambda one: (-one.times, -len(one.questions), one.questions[0].id))


def describe_theme(
    theme: RawTheme, label: str | None, misses: Mapping[str, KeptMisses], is_clean: Callable[[str], bool]
) -> CostingTheme:
    """Return a theme with its name and what it costs.

    Args:
        theme: The theme.
        label: What a model calls it; None where none did.
        misses: What the newest kept run of each retriever missed.
        is_clean: Says whether a text holds nothing that redaction takes away.
    """
    telling = tuple(word for word in theme.words if is_clean(word))
    cases = {one.id for one in theme.questions if one.kind == "case"}
    return CostingTheme(
        label=label or ", ".join(telling) or theme.questions[0].text,
        named_by="model" if label else "words" if telling else "question",
        words=telling,
        questions=tuple(_describe(one, misses) for one in theme.questions),
        cases=len(cases),
        candidates=len(theme.questions) - len(cases),
        clusters=len({one.cluster for one in theme.questions}),
        times=theme.times,
        missed={name: len(cases & one.missed) for name, one in misses.items()},
        scored={name: len(cases & one.asked) for name, one in misses.items()},
    )


def has_words(question: Question) -> bool:
    """Return whether anything is left of a question without its placeholders."""
    return bool(words(bare_text(question)))


def _embed(units: Sequence[Sequence[Question]], embedding: Embedding, progress: Progress) -> Vectors:
    progress.start("Comparing questions", sum(map(len, units)))
    rows = []
    for unit in units:
        vectors = [embedding.embed(bare_text(one)) for one in unit]
        progress.advance(len(unit))
        mean = np.mean(vectors, axis=0)
        rows.append(mean / max(float(np.linalg.norm(mean)), 1e-12))
    progress.finish()
    return np.array(rows, dtype=np.float32)


def _describe(question: Question, misses: Mapping[str, KeptMisses]) -> ThemeQuestion:
    return ThemeQuestion(
        kind=question.kind,
        id=question.id,
        query=question.text,
        asked=question.asked,
        missed_by=tuple(name for name, one in misses.items() if question.id in one.missed),
    )
