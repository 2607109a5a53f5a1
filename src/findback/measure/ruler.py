"""The window and the chance floor, measured for many pairs at once."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from findback.measure.asked import Asked, Flags
from findback.measure.clusters import Floats, ratio
from findback.measure.coded import CodedTexts, Codes, Stems, join_ranges
from findback.measure.comparable import Reading
from findback.measure.windows import BITS, Hits, Integers, Masks, find_best_windows

DRAWS = 20
"""Random other documents for the floor of one query."""
_BLOCK = 1024
"""Pairs measured together."""
_SHARED = 256
"""Random stretches that the pairs of a block choose from."""
_MOST_WORDS = 4_000_000
"""Words of them together, at most, unless the stretches of one pair are more."""


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


class Found(NamedTuple):
    """What the windows of the gold texts hold of the asked terms, and what chance gives."""

    start: Integers
    """First word of each window in its gold text."""
    width: Integers
    """Words in it."""
    terms: Flags
    """Of each asked term: whether the window holds it."""
    words: Flags
    """Of each content word: whether the window holds it as spelled."""
    floor: Floats
    """Mean number of terms in the windows of random documents; NaN without any."""
    rare_floor: Floats
    """Mean number of rare terms there."""


class _Stretches(NamedTuple):
    """Where in each gold text the window is looked for, in words."""

    start: Integers
    end: Integers
    width: Integers


class _Block(NamedTuple):
    """Pairs measured together: golds that read alike and are about as long, queries in one language."""

    cases: Integers
    """Which pairs."""
    reading: Reading
    language: str | None
    lengths: Integers
    """Words in which each window is looked for."""
    widths: Integers
    """Words in each window."""

    @property
    def longest(self) -> int:
        """Return the length of the longest stretch."""
        return int(self.lengths.max())


class _Wanted(NamedTuple):
    """The terms asked for in a block."""

    case: Integers
    """Place of the pair in the block, rising."""
    stem: Codes
    term: Integers
    """Number of the term in its query."""
    rare: Masks
    """Rare terms of each query as bits; shape (pairs, planes)."""
    keys: Integers
    """Case and stem in one number, sorted."""
    order: Integers
    """Which of the terms each key is."""

    def find_terms(self, case: Integers, stem: Codes) -> Integers:
        """Return the number of each stem in the query of its case."""
        return self.term[self.order[np.searchsorted(self.keys, case << 32 | stem)]]


class _Drawn(NamedTuple):
    """Random stretches of other documents, shared by a block."""

    laid: Codes
    """Their words behind each other."""
    sizes: Integers
    """Words of each."""
    chosen: Flags
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
        self._readings = pool.coded.assumed
        self._orders: dict[tuple[str | None, str | None], tuple[Integers, Integers]] = {}

    def measure_all(self, asked: Asked, golds: Sequence[PlacedGold], seed: int) -> Found:
        """Return what every gold text's window holds; nothing where nothing can be measured."""
        terms = asked.terms
        stretches = self._find_stretches(golds)
        found = Found(
            start=stretches.start.copy(),
            width=stretches.width,
            terms=np.zeros(len(terms.case), dtype=np.bool_),
            words=np.zeros(len(terms.word_code), dtype=np.bool_),
            floor=np.full(len(golds), np.nan),
            rare_floor=np.full(len(golds), np.nan),
        )
        held = []
        for number, block in enumerate(_split(asked, golds, stretches)):
            stems = self._pool.coded.vocabulary.stems(block.language)
            wanted = _want(block, asked)
            inside = [golds[case].codes[stretches.start[case] : stretches.end[case]] for case in block.cases.tolist()]
            hits, codes = _find_hits(block, wanted, inside, stems)
            best = find_best_windows(hits)
            cases = block.cases[best.text]
            at = stretches.start[cases] + hits.place[best.first] - best.text * block.longest
            found.start[cases] = np.minimum(at, stretches.end[cases] - stretches.width[cases])
            within = join_ranges(best.first, best.until)
            case = block.cases[hits.text[within]]
            found.terms[asked.starts[case] + hits.term[within]] = True
            held.append(case << 32 | codes[within])
            drawn = self._draw(block, golds, np.random.default_rng([seed, number]))
            if drawn is not None:
                found.floor[block.cases], found.rare_floor[block.cases] = _measure_floors(block, wanted, drawn, stems)
        if held:
            spelled = terms.case[terms.word_term] << 32 | terms.word_code
            found.words[:] = np.isin(spelled, np.concatenate(held))
        return found

    def _find_stretches(self, golds: Sequence[PlacedGold]) -> _Stretches:
        """Return where the window is looked for: around the anchor, else everywhere."""
        counts = np.array([len(gold.codes) for gold in golds], dtype=np.int64)
        lengths = np.array([gold.length for gold in golds], dtype=np.int64)
        anchors = np.array([-1 if gold.anchor is None else gold.anchor for gold in golds], dtype=np.int64)
        width = np.rint(self._window * counts / np.maximum(lengths, 1)).astype(np.int64)
        width = np.maximum(np.minimum(width, counts), 1)
        start = np.maximum(np.minimum(anchors - width // 2, counts - width), 0)
        end = np.minimum(start + width, counts)
        free = anchors < 0
        return _Stretches(np.where(free, 0, start), np.where(free, counts, end), width)

    def _draw(self, block: _Block, golds: Sequence[PlacedGold], generator: np.random.Generator) -> _Drawn | None:
        """Draw stretches as long as the block's longest, and for each pair those it is compared with."""
        order, counts = self._order(block.reading)
        if len(order) == 0:
            return None
        lowest = max(min(int(np.searchsorted(counts, block.longest)), len(order) - self._draws - 1), 0)
        shared = max(min(_SHARED, _MOST_WORDS // block.longest), self._draws + 5)
        documents = order[generator.integers(lowest, len(order), shared)]
        sizes = np.minimum(self._counts[documents], block.longest)
        offsets = (generator.random(shared) * (self._counts[documents] - sizes + 1)).astype(np.int64)
        begin = self._pool.coded.starts()[documents] + offsets
        flat = self._pool.coded.flat()
        own = [golds[case].document for case in block.cases.tolist()]
        groups = np.array([-1 if document is None else self._pool.groups[document] for document in own])
        known = np.array([document is not None for document in own])
        keys = generator.random((len(own), shared))
        keys[known[:, None] & (groups[:, None] == self._pool.groups[documents][None, :])] = 2.0
        # The smallest keys of each pair are its draws.
        limits = np.partition(keys, self._draws - 1, axis=1)[:, self._draws - 1]
        chosen = (keys <= limits[:, None]) & (keys < 1)
        return _Drawn(flat[join_ranges(begin, begin + sizes)], sizes, chosen)

    def _order(self, reading: Reading) -> tuple[Integers, Integers]:
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
            ordered = self._orders[key] = (order, self._counts[order])
        return ordered


def _split(asked: Asked, golds: Sequence[PlacedGold], stretches: _Stretches) -> Iterator[_Block]:
    """Yield the measurable pairs in blocks that read alike, from the shortest gold texts to the longest."""
    alike: dict[tuple[str | None, str | None, str | None], list[int]] = {}
    for case, (gold, language, reason) in enumerate(zip(golds, asked.languages, asked.unmeasurable, strict=True)):
        if reason is None:
            alike.setdefault((gold.reading.script, gold.reading.language, language), []).append(case)
    lengths = stretches.end - stretches.start
    for (_, _, language), listed in alike.items():
        cases = np.array(listed, dtype=np.int64)
        cases = cases[np.argsort(lengths[cases], kind="stable")]
        for start in range(0, len(cases), _BLOCK):
            block = cases[start : start + _BLOCK]
            yield _Block(block, golds[block[0]].reading, language, lengths[block], stretches.width[block])


def _want(block: _Block, asked: Asked) -> _Wanted:
    """Return the terms that the queries of a block ask for."""
    begins, ends = asked.starts[block.cases], asked.starts[block.cases + 1]
    rows, sizes = join_ranges(begins, ends), ends - begins
    case = np.repeat(np.arange(len(block.cases)), sizes)
    stem, rare, term = asked.terms.stem[rows], asked.terms.rare[rows], rows - np.repeat(begins, sizes)
    masks = np.zeros((len(block.cases), -(-int(sizes.max()) // BITS)), dtype=np.uint64)
    np.bitwise_or.at(masks, (case[rare], term[rare] // BITS), _bit(term[rare] % BITS))
    keys = case << 32 | stem
    order = np.argsort(keys)
    return _Wanted(case, stem, term, masks, keys[order], order)


def _find_hits(block: _Block, wanted: _Wanted, texts: Sequence[Codes], stems: Stems) -> tuple[Hits, Codes]:
    """Return the words of each gold text that its query asks for, and their codes."""
    places, cases, codes = [], [], []
    for start, asked_by in _mark_askers(wanted, len(texts), len(stems.names)):
        own = texts[start : start + BITS]
        laid, sizes = np.concatenate(own), np.array([len(text) for text in own])
        text = np.repeat(np.arange(len(own)), sizes)
        hit = np.flatnonzero(asked_by.take(stems.numbers.take(laid)) >> text.astype(np.uint64) & np.uint64(1))
        case = start + text[hit]
        places.append(case * block.longest + hit - (np.cumsum(sizes) - sizes)[text[hit]])
        cases.append(case)
        codes.append(laid[hit])
    case, code = np.concatenate(cases), np.concatenate(codes)
    term = wanted.find_terms(case, stems.numbers[code])
    return _lay_out(block, wanted, np.concatenate(places), case, term, texts=1), code


def _measure_floors(block: _Block, wanted: _Wanted, drawn: _Drawn, stems: Stems) -> tuple[Floats, Floats]:
    """Return for each pair the mean number of terms and rare terms in the stretches drawn for it."""
    shared = len(drawn.sizes)
    best = find_best_windows(_find_drawn_hits(block, wanted, drawn, stems))
    pair = best.text // shared
    compared = drawn.chosen.sum(axis=1).astype(np.float64)
    terms, rare = (
        np.bincount(pair, weights=each, minlength=len(compared)).astype(np.float64) for each in (best.terms, best.rare)
    )
    return ratio(terms, compared), ratio(rare, compared)


def _find_drawn_hits(block: _Block, wanted: _Wanted, drawn: _Drawn, stems: Stems) -> Hits:
    """Return the words that each pair asks for in the stretches drawn for it, cut to the length of its own."""
    shared = len(drawn.sizes)
    anywhere = np.zeros(len(stems.names), dtype=np.bool_)
    anywhere[wanted.stem] = True
    stem = stems.numbers.take(drawn.laid)
    laid = np.flatnonzero(anywhere.take(stem))
    stem = stem[laid]
    stretch = np.repeat(np.arange(shared), drawn.sizes)[laid]
    offset = laid - (np.cumsum(drawn.sizes) - drawn.sizes)[stretch]
    words, cases = [], []
    for start, asked_by in _mark_askers(wanted, len(block.cases), len(stems.names)):
        chosen = drawn.chosen[start : start + BITS]
        chosen_by = np.bitwise_or.reduce(np.where(chosen, _bit(np.arange(len(chosen)))[:, None], np.uint64(0)), axis=0)
        word, case = _unpack(asked_by.take(stem) & chosen_by.take(stretch))
        words.append(word)
        cases.append(start + case)
    word, case = np.concatenate(words), np.concatenate(cases)
    kept = np.flatnonzero(offset[word] < block.lengths[case])
    word, case = word[kept], case[kept]
    place = (case * shared + stretch[word]) * block.longest + offset[word]
    order = np.argsort(place)
    word, case = word[order], case[order]
    return _lay_out(block, wanted, place[order], case, wanted.find_terms(case, stem[word]), texts=shared)


def _mark_askers(wanted: _Wanted, pairs: int, stems: int) -> Iterator[tuple[int, Masks]]:
    """Yield for 64 pairs at a time the first one, and by stem which of them ask for it, one bit each."""
    asked_by = np.zeros(stems, dtype=np.uint64)
    for start in range(0, pairs, BITS):
        part = slice(*np.searchsorted(wanted.case, (start, start + BITS)))
        asked = wanted.stem[part]
        np.bitwise_or.at(asked_by, asked, _bit(wanted.case[part] - start))
        yield start, asked_by
        asked_by[asked] = 0


def _lay_out(block: _Block, wanted: _Wanted, place: Integers, case: Integers, term: Integers, *, texts: int) -> Hits:
    """Return hits among texts that take `longest` places each, `texts` of them for each pair."""
    text = place // block.longest
    return Hits(
        place=place,
        text=text,
        term=term,
        width=block.widths[case],
        end=text * block.longest + block.lengths[case],
        rare=wanted.rare[case],
    )


def _unpack(masks: Masks) -> tuple[Integers, Integers]:
    """Return the place of every bit that is set: which mask, and which bit of it."""
    some = np.flatnonzero(masks)
    bits = np.unpackbits(masks[some].astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    mask, bit = np.nonzero(bits)
    return some[mask], bit


def _bit(places: Integers) -> Masks:
    return np.uint64(1) << places.astype(np.uint64)
