"""Overlap and leak of whole sets on one yardstick: one window length, a chance floor beside every figure."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from findback.measure.article import measure_article_figures
from findback.measure.asked import Asked, Flags, ask
from findback.measure.clusters import Floats, as_column, ratio
from findback.measure.coded import CodedTexts
from findback.measure.comparable import Reading
from findback.measure.containment import find_content_words
from findback.measure.leak import find_rare_words
from findback.measure.rarity import DocumentFrequencies, RareWords
from findback.measure.ruler import DRAWS, Found, PlacedGold, Pool, Ruler
from findback.measure.windows import Integers
from findback.measure.wordings import BothArticles, Columns, FigureColumns, Measured, SetMeasured, Wording
from findback.model.hits import Span
from findback.text.stems import stem
from findback.text.words import locate_words, words

LONGEST_WINDOW = 1000
"""Code points in a window at most."""


class Marks(NamedTuple):
    """Copied words, for showing."""

    words: tuple[str, ...]
    query: tuple[Span, ...]
    """Their places in the query."""
    gold: tuple[Span, ...]
    """Their places in the gold text, inside the window."""
    window: Span
    """The window, in code points of the gold text."""


class Lengths(NamedTuple):
    """The window two sets share, and whether plain figures may be compared in it."""

    window: int | None
    """Code points; None where neither side has a gold text."""
    own: float | None
    """Median length of the set's gold texts, in code points."""
    other: float | None
    """The same of the other set."""
    corrected_only: bool
    """True where the medians differ more than twofold."""


def choose_window(own: Sequence[int], other: Sequence[int] = ()) -> Lengths:
    """Return the window for comparing two sets by the lengths of their gold texts.

    Its length is the smaller of the two medians, at most 1,000 code points and at least 1.

    >>> choose_window([300, 500], [1200])
    Lengths(window=400, own=400.0, other=1200.0, corrected_only=True)
    """
    medians = [float(median(lengths)) if lengths else None for lengths in (own, other)]
    known = [length for length in medians if length is not None]
    window = max(min(int(min(known)), LONGEST_WINDOW), 1) if known else None
    return Lengths(window, medians[0], medians[1], len(known) == 2 and max(known) > 2 * min(known))


def correct_for_chance(value: float | None, floor: float | None) -> float | None:
    """Return the share of what chance left over: 0 at the floor, 1 at everything.

    >>> correct_for_chance(0.75, 0.5), correct_for_chance(0.6, 1.0)
    (0.5, None)
    """
    if value is None or floor is None or floor >= 1:
        return None
    return (value - floor) / (1 - floor)


def measure_set(
    wordings: Sequence[Wording],
    pool: Pool,
    *,
    window: int,
    seed: int,
    frequencies: DocumentFrequencies | None = None,
    draws: int = DRAWS,
) -> SetMeasured:
    """Return overlap and leak of every wording in one window length, with chance floors.

    The window of a gold text is centred on its anchor, else the one with the most content words of the query.
    The floor is the mean of what the same operation gives on random stretches of other documents, each as long
    as the gold text: of every document that long, in the same language; where fewer than `draws` are, of the
    longest ones. The gold's own document and its near-duplicates are left out.

    Args:
        wordings: Queries with a gold text each; several for a query with several golds.
        pool: The documents of the corpus.
        window: Length of the window in code points; see `choose_window`.
        seed: Of the draws; the same seed gives the same floors.
        frequencies: Of the corpus; counted from the pool when left out.
        draws: Random documents for each wording.

    Returns:
        One row a wording. Unmeasurable ones have None and a reason, never 0.
    """
    return measure_columns(wordings, pool, window=window, seed=seed, frequencies=frequencies, draws=draws).as_set()


def measure_columns(
    wordings: Sequence[Wording],
    pool: Pool,
    *,
    window: int,
    seed: int,
    frequencies: DocumentFrequencies | None = None,
    draws: int = DRAWS,
) -> Columns:
    """Return what `measure_set` does, not yet made into rows."""
    counted = pool.coded.count_documents() if frequencies is None else frequencies
    queries = [wording.query for wording in wordings]
    coded = CodedTexts(queries, [wording.language for wording in wordings], beside=pool.coded)
    golds = _place_golds(wordings, pool)
    asked = ask(coded, [gold.reading for gold in golds], [len(gold.codes) > 0 for gold in golds], counted)
    found = Ruler(pool, window, draws).measure_all(asked, golds, seed)
    articles = measure_article_figures(queries, [wording.article_gold or wording.gold for wording in wordings])
    return Columns(
        overlap=_count(asked, found, counted, rare_only=False),
        leak=_count(asked, found, counted, rare_only=True),
        languages=asked.languages,
        article_leak=as_column([figures.leak for figures in articles]),
        article_overlap=as_column([figures.overlap for figures in articles]),
        start=found.start,
        width=found.width,
        window=window,
        draws=draws,
        seed=seed,
        documents=len(pool.coded),
        corpus_decides=any(counted.decides(language) for language in set(asked.languages)),
    )


def measure_articles(wordings: Sequence[Wording], rows: Sequence[Measured]) -> list[BothArticles]:
    """Return the articles' figures of each wording, on its whole gold text and on its window."""
    queries = [wording.query for wording in wordings]
    windows = [cut_window(wording.gold, row.window) for wording, row in zip(wordings, rows, strict=True)]
    whole = measure_article_figures(queries, [wording.gold for wording in wordings])
    return [BothArticles(*pair) for pair in zip(whole, measure_article_figures(queries, windows), strict=True)]


def cut_window(gold: str, window: Span) -> str:
    """Return the text of a window that is given in word positions.

    >>> cut_window("See the vendor's API.", Span(1, 3))
    "the vendor's"
    """
    located = locate_words(gold)[window.start : window.end]
    return gold[located[0].start : located[-1].end] if located else ""


def find_copied(wording: Wording, measured: Measured, *, rare_only: bool = False) -> Marks:
    """Return the query's words that the window of its gold text contains, with their places in both.

    Args:
        wording: The query and gold text.
        measured: Their row.
        rare_only: Only those that count for the leak, judged by the frequency list alone.
    """
    content = find_content_words(wording.query, measured.language)
    if rare_only:
        content = find_rare_words(content, RareWords(measured.language))
    located = locate_words(wording.gold)[measured.window.start : measured.window.end]
    stems = set(content.values())
    shared = [word for word in located if stem(word.word, measured.language) in stems]
    in_gold = {stem(word.word, measured.language) for word in shared}
    copied = tuple(word for word, stemmed in content.items() if stemmed in in_gold)
    return Marks(
        words=copied,
        query=merge_spans(Span(word.start, word.end) for word in locate_words(wording.query) if word.word in copied),
        gold=merge_spans(Span(word.start, word.end) for word in shared),
        window=Span(located[0].start, located[-1].end) if located else Span(0, 0),
    )


def merge_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans with overlapping ones joined, as pairs of characters are.

    >>> merge_spans([Span(0, 2), Span(1, 3), Span(5, 6)])
    (Span(start=0, end=3), Span(start=5, end=6))
    """
    merged: list[Span] = []
    for span in spans:
        if merged and span.start < merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(span.end, merged[-1].end))
        else:
            merged.append(span)
    return tuple(merged)


def _place_golds(wordings: Sequence[Wording], pool: Pool) -> list[PlacedGold]:
    """Return every gold text as word codes: a whole document of the pool is not cut into words again."""
    whole = [_is_whole_document(wording, pool) for wording in wordings]
    listed = dict.fromkeys((w.gold, w.gold_language) for w, known in zip(wordings, whole, strict=True) if not known)
    positions = {key: position for position, key in enumerate(listed)}
    others = CodedTexts([gold for gold, _ in listed], [language for _, language in listed], beside=pool.coded)
    pool_flat, pool_starts = pool.coded.flat(), pool.coded.starts().tolist()
    flat, starts = others.flat(), others.starts().tolist()
    placed = []
    for wording, known in zip(wordings, whole, strict=True):
        document = wording.document
        reading = None if document is None else pool.coded.assumed[document]
        if known and document is not None and reading is not None:
            codes = pool_flat[pool_starts[document] : pool_starts[document + 1]]
        else:
            position = positions[wording.gold, wording.gold_language]
            codes = flat[starts[position] : starts[position + 1]]
            reading = _complete(others.readings[position], reading)
        placed.append(PlacedGold(codes, len(wording.gold), reading, document, _place_anchor(wording)))
    return placed


def _is_whole_document(wording: Wording, pool: Pool) -> bool:
    return wording.document is not None and wording.gold == pool.texts[wording.document]


def _complete(reading: Reading, document: Reading | None) -> Reading:
    if reading.language is None and document is not None and document.script == reading.script:
        return reading._replace(language=document.language)
    return reading


def _place_anchor(wording: Wording) -> int | None:
    """Return which word of the gold text the middle of the anchor is."""
    if wording.anchor is None:
        return None
    middle = (wording.anchor.start + wording.anchor.end) // 2
    return len(words(wording.gold[:middle]))


def _count(asked: Asked, found: Found, frequencies: DocumentFrequencies, *, rare_only: bool) -> FigureColumns:
    """Return one measure of every pair: overlap over all terms, leak over the rare ones."""
    terms, pairs = asked.terms, len(asked.languages)
    counting = terms.rare if rare_only else np.ones(len(terms.case), dtype=np.bool_)
    here, spelling, word_case = counting & found.terms, counting[terms.word_term], terms.case[terms.word_term]
    ones, word_ones = np.ones(len(counting)), np.ones(len(spelling))

    def add_up(chosen: Flags, case: Integers, weights: Floats) -> Floats:
        # In the query's order, so that sums do not change from run to run.
        return np.bincount(case[chosen], weights=weights[chosen], minlength=pairs).astype(np.float64)

    total, held = add_up(counting, terms.case, ones), add_up(here, terms.case, ones)
    value = ratio(held, total)
    floor = ratio(found.rare_floor if rare_only else found.floor, total)
    weight = add_up(here, terms.case, terms.weight)
    rest = add_up(counting & ~found.terms, terms.case, terms.weight)
    known = np.array([frequencies.documents(language) > 0 for language in asked.languages], dtype=np.bool_)
    reasons = asked.leak_unmeasurable if rare_only else asked.unmeasurable
    measurable = np.array([reason is None for reason in reasons], dtype=np.bool_)

    def leave_out(column: Floats, kept: Flags = measurable) -> Floats:
        return np.where(kept, column, np.nan)

    return FigureColumns(
        value=leave_out(value),
        floor=leave_out(floor),
        corrected=leave_out(ratio(value - floor, np.maximum(1 - floor, 0))),
        verbatim=leave_out(
            ratio(add_up(spelling & found.words, word_case, word_ones), add_up(spelling, word_case, word_ones))
        ),
        weighted=leave_out(ratio(weight, weight + rest), measurable & known),
        terms=total.astype(np.int64),
        found=np.where(measurable, held, 0).astype(np.int64),
        unmeasurable=reasons,
    )
