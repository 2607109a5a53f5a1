"""Two sets under one yardstick: how much of each question's wording stands in its answer."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Literal, NamedTuple

import numpy as np

from findback.measure.article import ArticleFigures
from findback.measure.clusters import code_clusters
from findback.measure.comparable import explain
from findback.measure.halves import LARGE, measure_large_set
from findback.measure.halves import Corpus as LargeCorpus
from findback.measure.imitation import find_hints
from findback.measure.intervals import Bounds, estimate_mean
from findback.measure.ruler import Pool, code_pool
from findback.measure.wordings import Figure, Measured, SetMeasured, Wording
from findback.measure.yardstick import Lengths, Marks, choose_window, find_copied, measure_set
from findback.model.audit import CopiedExample, Distribution, Hint, Side, Yardstick
from findback.model.estimate import Estimate
from findback.model.evaluation import Count
from findback.model.hits import Span
from findback.model.protocols import Documents
from findback.model.question import Question, QuestionSet
from findback.steps.makeup import cluster_of, make_up
from findback.text.words import words

BINS = 10
EXTRACT_BEFORE = 60
"""Characters shown before the first copied word."""
EXTRACT = 320
"""Characters of a shown extract."""

Measure = Literal["overlap", "leak", "article overlap", "article leak"]


class Unit(NamedTuple):
    """What makes two questions depend on each other."""

    cluster: str
    gold: str
    """What its answer is known by."""


@dataclass(frozen=True, slots=True, eq=False)
class Worded:
    """The questions of a set that have a gold text, with that text."""

    questions: tuple[Question, ...]
    wordings: tuple[Wording, ...]
    documents: tuple[str | None, ...]
    """Id of the document each gold text comes from."""

    @property
    def units(self) -> list[Unit]:
        """Return the cluster and gold of each question."""
        return [
            Unit(cluster_of(question), document or wording.gold)
            for question, document, wording in zip(self.questions, self.documents, self.wordings, strict=True)
        ]

    @property
    def lengths(self) -> list[int]:
        """Return the length of each gold text, in characters."""
        return [len(wording.gold) for wording in self.wordings]


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredSide:
    """A set with its figures per question."""

    worded: Worded
    rows: tuple[Measured, ...]
    articles: tuple[ArticleFigures, ...]
    side: Side

    def values(self, measure: Measure, *, corrected: bool = False) -> list[float | None]:
        """Return one measure per measured question; None where unmeasurable."""
        if measure == "article overlap":
            return [figures.overlap for figures in self.articles]
        if measure == "article leak":
            return [figures.leak for figures in self.articles]
        figures = [row.overlap if measure == "overlap" else row.leak for row in self.rows]
        return [figure.corrected if corrected else figure.value for figure in figures]


def word_questions(questions: QuestionSet, documents: Documents | None) -> Worded:
    """Return the questions that have a gold text.

    A question with several golds is measured against the one of the highest grade, the first of equals.
    """
    places = {document.id: at for at, document in enumerate(documents)} if documents is not None else {}
    kept, wordings, ids = [], [], []
    for question in questions.questions:
        found = _word(question, documents, places)
        if found is None:
            continue
        wording, document = found
        kept.append(question)
        wordings.append(wording)
        ids.append(document)
    return Worded(tuple(kept), tuple(wordings), tuple(ids))


def _word(question: Question, documents: Documents | None, places: dict[str, int]) -> tuple[Wording, str | None] | None:
    quoted = " ".join(question.gold_texts)
    best = max(question.gold, key=lambda judgement: judgement.grade, default=None)
    document = documents.get(best.doc) if best is not None and documents is not None else None
    if document is None or best is None:
        if not quoted:
            return None
        return Wording(question.query, quoted, language=question.language), None
    start = document.text.find(best.anchor) if best.anchor else -1
    anchor = Span(start, start + len(best.anchor)) if best.anchor and start >= 0 else None
    wording = Wording(
        question.query,
        document.text,
        document=places[document.id],
        anchor=anchor,
        language=question.language,
        gold_language=document.language,
        article_gold=quoted or None,
    )
    return wording, document.id


@dataclass(frozen=True, eq=False)
class Drawn:
    """The texts the chance floor draws from."""

    corpus: LargeCorpus
    places: Mapping[str, int]
    """Where a gold text is among them, for a set without documents."""

    @cached_property
    def pool(self) -> Pool:
        """Return them cut into words; both sides of an audit share the work."""
        return code_pool(*self.corpus)

    def measure(self, wordings: Sequence[Wording], *, window: int, seed: int) -> SetMeasured:
        """Return the figures of each question; large sets are measured by two processes."""
        if self.places:
            # A question's own gold text is no chance it had.
            wordings = [wording._replace(document=self.places[wording.gold]) for wording in wordings]
        if min(len(self.corpus.texts), len(wordings)) >= LARGE:
            return measure_large_set(wordings, self.corpus, window=window, seed=seed, processes=2)
        return measure_set(wordings, self.pool, window=window, seed=seed)


def drawn_from(documents: Documents | None, worded: Worded, groups: Mapping[str, str]) -> Drawn:
    """Return the texts the chance floor draws from: the corpus, or the gold texts where there is none.

    Args:
        documents: The corpus, if any.
        worded: The questions with their gold texts.
        groups: Document id to the id that stands for its near-duplicates.
    """
    if documents is None:
        texts = list(dict.fromkeys(wording.gold for wording in worded.wordings))
        return Drawn(LargeCorpus(texts), {text: place for place, text in enumerate(texts)})
    listed = list(documents)
    numbers: dict[str, int] = {}
    named = [numbers.setdefault(groups.get(document.id, document.id), len(numbers)) for document in listed]
    texts, languages = [document.text for document in listed], [document.language for document in listed]
    return Drawn(LargeCorpus(texts, languages, named), {})


def share_window(own: Worded, other: Worded | None) -> Lengths:
    """Return the window both sides are measured on."""
    return choose_window(own.lengths, other.lengths if other is not None else ())


def measure_side(
    questions: QuestionSet, worded: Worded, drawn: Drawn, *, window: int | None, seed: int
) -> MeasuredSide:
    """Return a set's figures on a window."""
    rows: tuple[Measured, ...] = ()
    articles: tuple[ArticleFigures, ...] = ()
    if worded.wordings and window is not None:
        measured = drawn.measure(worded.wordings, window=window, seed=seed)
        rows, articles = measured.rows, measured.articles
    lost = [row.leak.unmeasurable for row in rows if row.leak.unmeasurable is not None]
    languages = sorted({row.language for row in rows if row.language is not None})
    side = Side(
        set=make_up(questions),
        measured=len(rows),
        unmeasurable=len(lost),
        unmeasurable_reasons=tuple(
            Count(name=explain(reason), count=count) for reason, count in Counter(lost).most_common()
        ),
        gold_length=median(worded.lengths) if worded.wordings else None,
        window=window if rows else None,
        yardsticks=yardsticks(rows, articles, worded.units, seed),
        by_language={
            language: yardsticks(*_only(language, rows, articles, worded.units), seed) for language in languages
        }
        if len(languages) > 1
        else {},
        hints=tuple(
            Hint(sign=hint.sign, evidence=hint.evidence)
            for hint in find_hints([question.query for question in questions.questions])
        ),
        query_words=median(len(words(question.query)) for question in questions.questions)
        if questions.questions
        else None,
    )
    return MeasuredSide(worded, rows, articles, side)


def _only(
    language: str, rows: Sequence[Measured], articles: Sequence[ArticleFigures], units: Sequence[Unit]
) -> tuple[list[Measured], list[ArticleFigures], list[Unit]]:
    kept = [at for at, row in enumerate(rows) if row.language == language]
    return [rows[at] for at in kept], [articles[at] for at in kept], [units[at] for at in kept]


def yardsticks(
    rows: Sequence[Measured], articles: Sequence[ArticleFigures], units: Sequence[Unit], seed: int
) -> tuple[Yardstick, ...]:
    """Return every measure's distribution, with chance floor and corrected shares where there are any."""
    if not rows:
        return ()
    clusters = code_clusters([unit.cluster for unit in units], len(units))
    golds = code_clusters([unit.gold for unit in units], len(units)).tolist()

    def distribute(values: Sequence[float | None], bounds: Bounds | None = (0.0, 1.0)) -> Distribution:
        mean = estimate_mean(values, clusters, golds, seed=seed, bounds=bounds)
        return distribution([value for value in values if value is not None], mean)

    ours: tuple[tuple[Measure, list[Figure]], ...] = (
        ("overlap", [row.overlap for row in rows]),
        ("leak", [row.leak for row in rows]),
    )
    made = [
        Yardstick(
            measure=name,
            figures=distribute([figure.value for figure in figures]),
            floor=_mean(figure.floor for figure in figures),
            verbatim=_median(figure.verbatim for figure in figures),
            weighted=_median(figure.weighted for figure in figures),
            corrected=distribute([figure.corrected for figure in figures], None),
        )
        for name, figures in ours
    ]
    theirs: tuple[tuple[Measure, list[float | None]], ...] = (
        ("article overlap", [figures.overlap for figures in articles]),
        ("article leak", [figures.leak for figures in articles]),
    )
    made += [Yardstick(measure=name, figures=distribute(values), floor=None, corrected=None) for name, values in theirs]
    return tuple(made)


def distribution(known: Sequence[float], mean: Estimate) -> Distribution:
    """Return how a share is distributed over the questions that have one.

    A corrected share may lie below 0; the first bin of the histogram holds those too.
    """
    values = np.array(known, dtype=np.float64)
    bins = np.clip((values * BINS).astype(np.int64), 0, BINS - 1)
    return Distribution(
        n=len(known),
        median=_median(known),
        mean=mean,
        at_least_half=float(np.mean(values >= 0.5)) if known else None,
        zero=float(np.mean(values == 0)) if known else None,
        histogram=tuple(np.bincount(bins, minlength=BINS).tolist()),
    )


def worst_examples(measured: MeasuredSide, documents: Documents | None, *, count: int) -> tuple[CopiedExample, ...]:
    """Return the questions that borrow most of their answer's rare words, each answer once."""
    order = sorted(
        (at for at, row in enumerate(measured.rows) if row.leak.value),
        key=lambda at: (-(measured.rows[at].leak.value or 0), -measured.rows[at].leak.found, at),
    )
    shown: list[CopiedExample] = []
    seen: set[str] = set()
    units = measured.worded.units
    for at in order:
        if len(shown) == count:
            break
        if units[at].gold not in seen:
            seen.add(units[at].gold)
            shown.append(_example(measured, at, documents))
    return tuple(shown)


def _example(measured: MeasuredSide, at: int, documents: Documents | None) -> CopiedExample:
    question, wording, row = measured.worded.questions[at], measured.worded.wordings[at], measured.rows[at]
    marks = find_copied(wording, row)
    document = measured.worded.documents[at]
    found = documents.get(document) if document is not None and documents is not None else None
    extract, places = _cut(wording.gold, marks)
    return CopiedExample(
        question=question.id,
        query=question.query,
        query_marks=marks.query,
        document=document or "(gold given as text)",
        title=found.title if found else None,
        extract=extract,
        extract_marks=places,
        leak=row.leak.value,
        overlap=row.overlap.value,
        copied=marks.words,
        rare_words=row.leak.terms,
    )


def _cut(gold: str, marks: Marks) -> tuple[str, tuple[Span, ...]]:
    """Return the stretch of a gold text with the most copied words, and their places in it."""
    if not marks.gold:
        return gold[:EXTRACT], ()
    best = max(marks.gold, key=lambda span: (_held(marks.gold, span.start), -span.start))
    begin = max(best.start - EXTRACT_BEFORE, 0)
    end = begin + EXTRACT
    inside = [
        Span(span.start - begin, span.end - begin) for span in marks.gold if begin <= span.start < span.end <= end
    ]
    return gold[begin:end], tuple(inside)


def _held(spans: Iterable[Span], start: int) -> int:
    return sum(1 for span in spans if start <= span.start and span.end <= start + EXTRACT - EXTRACT_BEFORE)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
