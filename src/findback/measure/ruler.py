"""The window and the chance floor, measured for many pairs at once."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.measure.asked import AskedTerms
from findback.measure.coded import CodedTexts, Codes
from findback.measure.comparable import Reading, assume_languages
from findback.measure.windows import BITS, Hits, Integers, Masks, find_best_windows
from findback.model.hits import Span

DRAWS = 20
"""Random other documents for the floor of one query."""
_BLOCK = 1024
"""Pairs measured together."""
_SHARED = 256
"""Random stretches that the pairs of a block choose from."""
_MOST_WORDS = 4_000_000
"""Words of them together, at most, unless the stretches of one pair are more."""
_Spelled = dict[tuple[str | None, str], list[int]]


class Pool(NamedTuple):
    """The documents of a corpus, cut into words once, from which the floor draws."""

    texts: Sequence[str]
    coded: CodedTexts
    groups: Integers
    """One number for each document; near-duplicates share theirs."""


class PlacedGold(NamedTuple):
    """A gold text as word codes."""

    codes: Codes
    length: int
    """Code points of the text."""
    reading: Reading
    document: int | None
    """Position in the pool of the document it is or comes from."""
    anchor: int | None
    """Which word the middle of its anchor is."""

    @property
    def has_words(self) -> bool:
        """Say whether there is anything to compare with."""
        return len(self.codes) > 0


class Match(NamedTuple):
    """What the window of a gold text holds of the asked terms, and what chance gives."""

    window: Span
    """As word positions of the gold text."""
    terms: list[int]
    """Numbers of the terms in the window, once for every place."""
    codes: list[int]
    """Codes of those words."""
    floor: float | None
    """Mean number of terms in the windows of random documents; None without any."""
    rare_floor: float | None
    """Mean number of rare terms there."""


class _Stretch(NamedTuple):
    """Where in a gold text the window is looked for."""

    start: int
    end: int
    width: int


class _Block(NamedTuple):
    """Pairs measured together: golds that read alike and are about as long."""

    cases: list[int]
    """Which pairs."""
    reading: Reading
    lengths: Integers
    """Words in which each window is looked for."""
    widths: Integers
    """Words in each window."""
    rare: Masks
    """Rare terms of each query as bits; shape (pairs, planes)."""

    @property
    def longest(self) -> int:
        """Return the length of the longest stretch."""
        return int(self.lengths.max())


class _Wanted(NamedTuple):
    """The words asked for in a block, one entry a word."""

    case: Integers
    """Place of the pair in the block."""
    code: Codes
    term: Integers
    """Number of the term the word spells."""


class _Drawn(NamedTuple):
    """Random stretches of other documents, shared by a block."""

    laid: Codes
    """Their words behind each other."""
    starts: Integers
    """Where each begins there; one more than there are."""
    chosen: NDArray[np.bool_]
    """Shape (pairs, stretches): which stretches a pair is compared with."""


def code_pool(
    texts: Sequence[str],
    languages: Sequence[str | None] | None = None,
    groups: Sequence[int] | None = None,
) -> Pool:
    """Return a pool of documents, each cut into words once.

    Args:
        texts: The documents' texts.
        languages: One a document, None where unknown; guessed when left out.
        groups: One number a document, equal for near-duplicates; each document is alone when left out.

    Raises:
        ValueError: If there are not as many groups as documents.
    """
    coded = CodedTexts(texts, languages)
    numbers = np.arange(len(coded)) if groups is None else np.asarray(groups)
    if len(numbers) != len(coded):
        raise ValueError(f"{len(numbers)} groups for {len(coded)} documents")
    return Pool(texts, coded, numbers.astype(np.int64))


class Ruler:
    """Measures pairs against a pool in one window length."""

    def __init__(self, pool: Pool, window: int, draws: int = DRAWS) -> None:
        self._pool = pool
        self._window = window
        self._draws = draws
        self._counts = pool.coded.word_counts()
        self._readings = assume_languages(pool.coded.readings)
        self._orders: dict[tuple[str | None, str | None], tuple[Integers, list[int]]] = {}

    def measure_all(self, asked: Sequence[AskedTerms], golds: Sequence[PlacedGold], seed: int) -> list[Match]:
        """Return a match for every pair; an empty one where nothing can be measured."""
        spelled = self._spell(asked)
        stretches = [self._find_stretch(gold) for gold in golds]
        matches = [
            Match(Span(stretch.start, stretch.start + stretch.width), [], [], None, None) for stretch in stretches
        ]
        for number, block in enumerate(_split(asked, golds, stretches)):
            wanted = _want(block, asked, spelled)
            inside = [golds[case].codes[stretches[case].start : stretches[case].end] for case in block.cases]
            hits, codes = _find_hits(block, wanted, inside, len(self._pool.coded.vocabulary))
            best = find_best_windows(hits)
            drawn = self._draw(block, golds, np.random.default_rng([seed, number]))
            floors = _measure_floors(block, wanted, drawn)
            windows = dict(
                zip(best.text.tolist(), zip(best.first.tolist(), best.until.tolist(), strict=True), strict=True)
            )
            for place, case in enumerate(block.cases):
                stretch = stretches[case]
                first, until = windows.get(place, (0, 0))
                at = int(hits.place[first]) - place * block.longest if until > first else 0
                at = max(min(stretch.start + at, stretch.end - stretch.width), stretch.start)
                floor, rare_floor = floors[place]
                matches[case] = Match(
                    window=Span(at, at + stretch.width),
                    terms=hits.term[first:until].tolist(),
                    codes=codes[first:until].tolist(),
                    floor=floor,
                    rare_floor=rare_floor,
                )
        return matches

    def _spell(self, asked: Sequence[AskedTerms]) -> _Spelled:
        """Return for every asked term the codes of all words that have its stem in its language."""
        spelled: _Spelled = {}
        for terms in asked:
            for stemmed in terms.stems:
                spelled.setdefault((terms.language, stemmed), [])
        for language in {language for language, _ in spelled}:
            for code, stemmed in enumerate(self._pool.coded.vocabulary.stems(language)):
                codes = spelled.get((language, stemmed))
                if codes is not None:
                    codes.append(code)
        return spelled

    def _find_stretch(self, gold: PlacedGold) -> _Stretch:
        """Return where the window is looked for: around the anchor, else everywhere."""
        count = len(gold.codes)
        width = max(min(round(self._window * count / max(gold.length, 1)), count), 1)
        if gold.anchor is None:
            return _Stretch(0, count, width)
        start = max(min(gold.anchor - width // 2, count - width), 0)
        return _Stretch(start, min(start + width, count), width)

    def _draw(self, block: _Block, golds: Sequence[PlacedGold], generator: np.random.Generator) -> _Drawn | None:
        """Draw stretches as long as the block's longest, and for each pair those it is compared with."""
        order, counts = self._order(block.reading)
        if len(order) == 0:
            return None
        lowest = max(min(bisect_left(counts, block.longest), len(order) - self._draws - 1), 0)
        shared = max(min(_SHARED, _MOST_WORDS // block.longest), self._draws + 5)
        documents = order[generator.integers(lowest, len(order), shared)]
        sizes = np.minimum(self._counts[documents], block.longest)
        offsets = (generator.random(shared) * (self._counts[documents] - sizes + 1)).astype(np.int64)
        begin = self._pool.coded.starts()[documents] + offsets
        flat = self._pool.coded.flat()
        pieces = [flat[start : start + size] for start, size in zip(begin.tolist(), sizes.tolist(), strict=True)]
        own = [golds[case].document for case in block.cases]
        groups = np.array([-1 if document is None else self._pool.groups[document] for document in own])
        known = np.array([document is not None for document in own])
        keys = generator.random((len(own), shared))
        keys[known[:, None] & (groups[:, None] == self._pool.groups[documents][None, :])] = 2.0
        picked = np.argpartition(keys, self._draws, axis=1)[:, : self._draws]
        chosen = np.zeros(keys.shape, dtype=np.bool_)
        np.put_along_axis(chosen, picked, np.take_along_axis(keys, picked, axis=1) < 1, axis=1)
        return _Drawn(np.concatenate(pieces), np.concatenate(([0], np.cumsum(sizes))), chosen)

    def _order(self, reading: Reading) -> tuple[Integers, list[int]]:
        """Return the documents a text reading like this may be compared with, shortest first, and their words."""
        key = (reading.script, reading.language)
        ordered = self._orders.get(key)
        if ordered is None:
            alike = [
                position
                for position, other in enumerate(self._readings)
                if self._counts[position] > 0
                and other.script == reading.script
                and (reading.language is None or other.language in (None, reading.language))
            ]
            positions = np.array(alike, dtype=np.int64)
            order = positions[np.argsort(self._counts[positions], kind="stable")]
            ordered = self._orders[key] = (order, self._counts[order].tolist())
        return ordered


def _split(asked: Sequence[AskedTerms], golds: Sequence[PlacedGold], stretches: Sequence[_Stretch]) -> Iterator[_Block]:
    """Yield the measurable pairs in blocks whose golds read alike, from the shortest to the longest."""
    alike: dict[tuple[str | None, str | None], list[int]] = {}
    for case, terms in enumerate(asked):
        if terms.unmeasurable is None:
            alike.setdefault((golds[case].reading.script, golds[case].reading.language), []).append(case)
    for cases in alike.values():
        cases.sort(key=lambda case: stretches[case].end - stretches[case].start)
        for start in range(0, len(cases), _BLOCK):
            block = cases[start : start + _BLOCK]
            yield _Block(
                cases=block,
                reading=golds[block[0]].reading,
                lengths=np.array([stretches[case].end - stretches[case].start for case in block], dtype=np.int64),
                widths=np.array([stretches[case].width for case in block], dtype=np.int64),
                rare=_mask_rare([asked[case] for case in block]),
            )


def _want(block: _Block, asked: Sequence[AskedTerms], spelled: _Spelled) -> _Wanted:
    """Return every word that the queries of a block ask for, with all spellings of each term."""
    places: list[int] = []
    codes: list[int] = []
    numbers: list[int] = []
    for place, case in enumerate(block.cases):
        for number, stemmed in enumerate(asked[case].stems):
            spellings = spelled[asked[case].language, stemmed]
            codes += spellings
            numbers += [number] * len(spellings)
            places += [place] * len(spellings)
    return _Wanted(np.array(places, dtype=np.int64), np.array(codes, dtype=np.int32), np.array(numbers, dtype=np.int64))


def _find_hits(block: _Block, wanted: _Wanted, texts: Sequence[Codes], size: int) -> tuple[Hits, Codes]:
    """Return the words of each gold text that its query asks for, and their codes."""
    marks = np.zeros(size, dtype=np.int32)
    limits = np.searchsorted(wanted.case, np.arange(len(texts) + 1)).tolist()
    places, numbers, codes = [], [], []
    for place, text in enumerate(texts):
        own = slice(limits[place], limits[place + 1])
        marks[wanted.code[own]] = wanted.term[own] + 1
        marked = marks.take(text)
        hit = np.flatnonzero(marked != 0)
        marks[wanted.code[own]] = 0
        places.append(hit + place * block.longest)
        numbers.append(marked[hit])
        codes.append(text[hit])
    place_of = np.concatenate(places)
    return _lay_out(
        block, place_of, place_of // block.longest, np.concatenate(numbers).astype(np.int64) - 1, 1
    ), np.concatenate(codes)


def _measure_floors(
    block: _Block, wanted: _Wanted, drawn: _Drawn | None
) -> list[tuple[float, float] | tuple[None, None]]:
    """Return for each pair the mean number of terms and rare terms in the stretches drawn for it."""
    if drawn is None:
        return [(None, None)] * len(block.cases)
    shared = len(drawn.starts) - 1
    order = np.argsort(drawn.laid, kind="stable")
    ordered = drawn.laid[order]
    left = np.searchsorted(ordered, wanted.code, side="left")
    times = np.searchsorted(ordered, wanted.code, side="right") - left
    word = np.repeat(np.arange(len(times)), times)
    run = np.arange(len(word)) - np.repeat(np.cumsum(times) - times, times)
    laid = order[left[word] + run]
    stretch = np.searchsorted(drawn.starts, laid, side="right") - 1
    offset = laid - drawn.starts[stretch]
    case = wanted.case[word]
    kept = np.flatnonzero(drawn.chosen[case, stretch] & (offset < block.lengths[case]))
    place = (case[kept] * shared + stretch[kept]) * block.longest + offset[kept]
    sorting = np.argsort(place, kind="stable")
    hits = _lay_out(block, place[sorting], case[kept][sorting], wanted.term[word[kept][sorting]], shared)
    best = find_best_windows(hits)
    counts = drawn.chosen.sum(axis=1)
    terms = np.bincount(best.text // shared, weights=best.terms, minlength=len(block.cases))
    rare = np.bincount(best.text // shared, weights=best.rare, minlength=len(block.cases))
    return [
        (total / count, rare_total / count) if count else (None, None)
        for total, rare_total, count in zip(terms.tolist(), rare.tolist(), counts.tolist(), strict=True)
    ]


def _lay_out(block: _Block, place: Integers, case: Integers, term: Integers, texts: int) -> Hits:
    """Return hits among texts that take `longest` places each, `texts` of them for each pair."""
    text = place // block.longest
    return Hits(
        place=place,
        text=text,
        term=term,
        width=block.widths[text // texts],
        end=text * block.longest + block.lengths[text // texts],
        rare=block.rare[case],
    )


def _mask_rare(asked: Sequence[AskedTerms]) -> Masks:
    """Return the rare terms of each query as bits; shape (queries, planes)."""
    planes = max(-(-len(terms.stems) // BITS) for terms in asked)
    masks = np.zeros((len(asked), planes), dtype=np.uint64)
    for case, terms in enumerate(asked):
        for plane in range(planes):
            part = terms.stems[plane * BITS : (plane + 1) * BITS]
            masks[case, plane] = sum(1 << place for place, stemmed in enumerate(part) if stemmed in terms.rare)
    return masks
