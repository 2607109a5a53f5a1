"""What is measured of queries and their gold texts: as records, and in columns."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from findback.measure.article import ArticleFigures
from findback.measure.clusters import Floats
from findback.measure.comparable import Unmeasurable
from findback.measure.windows import Integers
from findback.model.hits import Span


class Wording(NamedTuple):
    """A query with one of its gold texts."""

    query: str
    gold: str
    document: int | None = None
    """Position in the pool of the document that the gold text is or comes from."""
    anchor: Span | None = None
    """The sentence of the gold text that answers, where known; the window is then centred on it."""
    language: str | None = None
    """Of the query, where known; guessed otherwise."""
    gold_language: str | None = None
    """Of the gold text, where known and it is no document of the pool; guessed otherwise."""
    article_gold: str | None = None
    """The text that the articles' formulas see, where it is another than the gold text."""


class Figure(NamedTuple):
    """One measure of one query and gold text."""

    value: float | None
    """Share of terms in the window, in [0, 1]; None where unmeasurable."""
    floor: float | None
    """Mean of the same share over random other documents; None where there is none to draw."""
    corrected: float | None
    """(value − floor) / (1 − floor); negative below chance; None without value or floor, and at floor 1."""
    verbatim: float | None
    """The share of words without stemming."""
    weighted: float | None
    """The share weighted by inverse document frequency; None without frequencies."""
    terms: int
    """Terms of the query that count."""
    found: int
    """Those in the window."""
    unmeasurable: Unmeasurable | None
    """Why there is no value."""


class Measured(NamedTuple):
    """What was measured of one query and gold text."""

    overlap: Figure
    leak: Figure
    language: str | None
    """Language both were compared in."""
    window: Span
    """The window, as word positions of the gold text (see `locate_words`)."""


class BothArticles(NamedTuple):
    """The articles' figures of one query and gold text."""

    whole: ArticleFigures
    """On the whole gold text, as the articles have it."""
    window: ArticleFigures
    """On the window."""


class SetMeasured(NamedTuple):
    """What was measured of a set."""

    rows: tuple[Measured, ...]
    """One a wording, in the order given."""
    articles: tuple[ArticleFigures, ...]
    """The articles' figures of each wording, on the whole text."""
    window: int
    """Length of the window, in code points."""
    draws: int
    """Random documents behind each floor."""
    seed: int
    documents: int
    """Documents in the pool."""
    corpus_decides: bool
    """True where the corpus, not only the frequency list, decided for some row which words are rare."""


class FigureColumns(NamedTuple):
    """One measure of all pairs of a set, each column as in `Figure`; NaN where undefined."""

    value: Floats
    floor: Floats
    corrected: Floats
    verbatim: Floats
    weighted: Floats
    terms: Integers
    found: Integers
    unmeasurable: Sequence[Unmeasurable | None]

    def figures(self) -> Iterator[Figure]:
        """Yield the figure of each pair."""
        shares = (self.value, self.floor, self.corrected, self.verbatim, self.weighted)
        counts = (self.terms.tolist(), self.found.tolist())
        return map(Figure._make, zip(*map(_none_for_nan, shares), *counts, self.unmeasurable, strict=True))


class Columns(NamedTuple):
    """What was measured of a set, as columns: `SetMeasured` before its rows are made."""

    overlap: FigureColumns
    leak: FigureColumns
    languages: list[str | None]
    article_leak: Floats
    article_overlap: Floats
    start: Integers
    """First word of each window."""
    width: Integers
    """Words in it."""
    window: int
    draws: int
    seed: int
    documents: int
    corpus_decides: bool

    def rows(self) -> Iterator[Measured]:
        """Yield the row of each pair."""
        spans = map(Span, self.start.tolist(), (self.start + self.width).tolist())
        figures = (self.overlap.figures(), self.leak.figures())
        return map(Measured._make, zip(*figures, self.languages, spans, strict=True))

    def articles(self) -> Iterator[ArticleFigures]:
        """Yield the articles' figures of each pair."""
        return map(ArticleFigures, _none_for_nan(self.article_leak), _none_for_nan(self.article_overlap))

    def as_set(self) -> SetMeasured:
        """Return the set with a row for each pair."""
        return SetMeasured(
            tuple(self.rows()),
            tuple(self.articles()),
            self.window,
            self.draws,
            self.seed,
            self.documents,
            self.corpus_decides,
        )


def _none_for_nan(column: Floats) -> list[float | None]:
    return [None if value != value else value for value in column.tolist()]  # noqa: PLR0124 -- NaN alone differs from itself
