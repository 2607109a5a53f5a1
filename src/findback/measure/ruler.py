"""The window and the chance floor, measured for many pairs at once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from findback.measure.asked import AskedTerms
from findback.measure.coded import CodedTexts, Codes
from findback.measure.comparable import Reading, assume_languages
from findback.measure.windows import BITS, Hits, Integers, Masks, find_best_windows
from findback.model.hits import Span
from findback.text.stems import stem_all

DRAWS = 20
"""Random other documents for the floor of one query."""
_BLOCK = 256


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


class _Drawn(NamedTuple):
    """Random stretches for a block of pairs; shape (pairs, draws). An empty stretch was not drawn."""

    start: Integers
    end: Integers


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
        self._orders: dict[tuple[str | None, str | None], Integers] = {}

    def measure_all(self, asked: Sequence[AskedTerms], golds: Sequence[PlacedGold], seed: int) -> list[Match]:
        """Return a match for every pair; an empty one where nothing can be measured."""
        spelled = self._spell(asked)
        matches: list[Match] = []
        for number, start in enumerate(range(0, len(asked), _BLOCK)):
            block = slice(start, start + _BLOCK)
            generator = np.random.default_rng([seed, number])
            matches += self._measure_block(asked[block], golds[block], spelled, generator)
        return matches

    def _spell(self, asked: Sequence[AskedTerms]) -> dict[tuple[str | None, str], Codes]:
        """Return for every asked term the codes of all words that have its stem in its language."""
        spelled: dict[tuple[str | None, str], list[int]] = {}
        for terms in asked:
            for stemmed in terms.stems:
                spelled.setdefault((terms.language, stemmed), [])
        listed = list(self._pool.coded.vocabulary)
        for language in {language for language, _ in spelled}:
            for code, stemmed in enumerate(stem_all(listed, language)):
                codes = spelled.get((language, stemmed))
                if codes is not None:
                    codes.append(code)
        return {term: np.array(codes, dtype=np.int32) for term, codes in spelled.items()}

    def _measure_block(
        self,
        asked: Sequence[AskedTerms],
        golds: Sequence[PlacedGold],
        spelled: dict[tuple[str | None, str], Codes],
        generator: np.random.Generator,
    ) -> list[Match]:
        stretches = [self._find_stretch(gold) for gold in golds]
        drawn = self._draw(golds, stretches, generator)
        hits, codes, starts = self._collect(asked, golds, stretches, drawn, spelled)
        best = find_best_windows(hits)
        shape = (len(asked), self._draws + 1)
        terms = np.zeros(shape, dtype=np.int64)
        rare = np.zeros(shape, dtype=np.int64)
        terms.flat[best.text], rare.flat[best.text] = best.terms, best.rare
        chosen = np.full(shape, -1, dtype=np.int64)
        chosen.flat[best.text] = np.arange(len(best.text))
        counted = (drawn.end > drawn.start).sum(axis=1)
        matches = []
        for case, stretch in enumerate(stretches):
            which = int(chosen[case, 0])
            first, until = (0, 0) if which < 0 else (int(best.first[which]), int(best.until[which]))
            at = stretch.start
            if which >= 0:
                at += int(hits.place[first] - starts[case * (self._draws + 1)])
            at = max(min(at, stretch.end - stretch.width), stretch.start)
            draws = int(counted[case])
            matches.append(
                Match(
                    window=Span(at, min(at + stretch.width, stretch.end)),
                    terms=hits.term[first:until].tolist(),
                    codes=codes[first:until].tolist(),
                    floor=int(terms[case, 1:].sum()) / draws if draws else None,
                    rare_floor=int(rare[case, 1:].sum()) / draws if draws else None,
                )
            )
        return matches

    def _find_stretch(self, gold: PlacedGold) -> _Stretch:
        """Return where the window is looked for: around the anchor, else everywhere."""
        count = len(gold.codes)
        width = max(min(round(self._window * count / max(gold.length, 1)), count), 1)
        if gold.anchor is None:
            return _Stretch(0, count, width)
        start = max(min(gold.anchor - width // 2, count - width), 0)
        return _Stretch(start, min(start + width, count), width)

    def _draw(
        self, golds: Sequence[PlacedGold], stretches: Sequence[_Stretch], generator: np.random.Generator
    ) -> _Drawn:
        """Draw for each gold text stretches of its length from other documents."""
        shape = (len(golds), self._draws)
        chosen = np.full(shape, -1, dtype=np.int64)
        shares = generator.random((2, *shape))
        for case, (gold, stretch) in enumerate(zip(golds, stretches, strict=True)):
            order = self._order(gold.reading)
            if len(order) == 0:
                continue
            as_long = int(np.searchsorted(self._counts[order], stretch.end - stretch.start))
            lowest = max(min(as_long, len(order) - self._draws - 1), 0)
            eligible = order[lowest:]
            picked = eligible[(shares[0, case] * len(eligible)).astype(np.int64)]
            if gold.document is not None:
                picked = self._redraw(picked, eligible, int(self._pool.groups[gold.document]), generator)
            chosen[case] = picked
        lengths = np.array([stretch.end - stretch.start for stretch in stretches], dtype=np.int64)[:, None]
        if len(self._counts) == 0:
            return _Drawn(np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64))
        room = self._counts[chosen]
        offset = (shares[1] * np.maximum(room - lengths + 1, 1)).astype(np.int64)
        start = self._pool.coded.starts()[:-1][chosen] + offset
        return _Drawn(start, np.where(chosen < 0, start, start + np.minimum(room, lengths)))

    def _redraw(self, picked: Integers, eligible: Integers, group: int, generator: np.random.Generator) -> Integers:
        """Replace what belongs to the gold's own group; -1 where nothing else turns up."""
        groups = self._pool.groups
        own = np.flatnonzero(groups[picked] == group)
        if len(own) == 0:
            return picked
        others = eligible[groups[eligible] != group]
        picked = picked.copy()
        picked[own] = -1 if len(others) == 0 else generator.choice(others, len(own))
        return picked

    def _order(self, reading: Reading) -> Integers:
        """Return the documents that a text reading like this may be compared with, shortest first."""
        key = (reading.script, reading.language)
        order = self._orders.get(key)
        if order is None:
            alike = [
                position
                for position, other in enumerate(self._readings)
                if self._counts[position] > 0
                and other.script == reading.script
                and (reading.language is None or other.language in (None, reading.language))
            ]
            positions = np.array(alike, dtype=np.int64)
            order = self._orders[key] = positions[np.argsort(self._counts[positions], kind="stable")]
        return order

    def _collect(
        self,
        asked: Sequence[AskedTerms],
        golds: Sequence[PlacedGold],
        stretches: Sequence[_Stretch],
        drawn: _Drawn,
        spelled: dict[tuple[str | None, str], Codes],
    ) -> tuple[Hits, Codes, Integers]:
        """Return the asked words of golds and drawn stretches, their codes, and where each text starts."""
        flat = self._pool.coded.flat()
        most = max((len(terms.stems) for terms in asked), default=0)
        marks = np.zeros(len(self._pool.coded.vocabulary), dtype=np.uint16 if most < 65_000 else np.uint32)
        places, numbers, codes = [], [], []
        sizes = np.zeros((len(asked), self._draws + 1), dtype=np.int64)
        base = 0
        for case, (terms, gold, stretch) in enumerate(zip(asked, golds, stretches, strict=True)):
            if terms.unmeasurable is not None:
                continue
            pieces = [gold.codes[stretch.start : stretch.end]]
            pieces += [
                flat[start:end] for start, end in zip(drawn.start[case].tolist(), drawn.end[case].tolist(), strict=True)
            ]
            sizes[case] = [len(piece) for piece in pieces]
            laid = np.concatenate(pieces)
            wanted = [spelled[terms.language, stemmed] for stemmed in terms.stems]
            for number, spellings in enumerate(wanted):
                marks[spellings] = number + 1
            marked = marks.take(laid)
            hit = np.flatnonzero(marked != 0)
            for spellings in wanted:
                marks[spellings] = 0
            places.append(hit + base)
            numbers.append(marked[hit].astype(np.int64) - 1)
            codes.append(laid[hit])
            base += len(laid)
        ends = np.cumsum(sizes.ravel())
        starts = ends - sizes.ravel()
        place = np.concatenate(places) if places else np.empty(0, dtype=np.int64)
        text = np.searchsorted(starts, place, side="right") - 1
        case_of = text // (self._draws + 1)
        widths = np.array([stretch.width for stretch in stretches], dtype=np.int64)
        hits = Hits(
            place=place,
            text=text,
            term=np.concatenate(numbers) if numbers else np.empty(0, dtype=np.int64),
            width=widths[case_of],
            end=ends[text],
            rare=_mask_rare(asked, most)[case_of],
        )
        return hits, np.concatenate(codes) if codes else np.empty(0, dtype=np.int32), starts


def _mask_rare(asked: Sequence[AskedTerms], most: int) -> Masks:
    """Return the rare terms of each query as bits; shape (queries, planes)."""
    planes = max(-(-most // BITS), 1)
    masks = np.zeros((len(asked), planes), dtype=np.uint64)
    for case, terms in enumerate(asked):
        for plane in range(planes):
            part = terms.stems[plane * BITS : (plane + 1) * BITS]
            masks[case, plane] = sum(1 << place for place, stemmed in enumerate(part) if stemmed in terms.rare)
    return masks
