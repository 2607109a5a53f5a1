"""The terms that queries ask of their gold texts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.measure.coded import CodedTexts, Codes, join_ranges
from findback.measure.comparable import Reading, Unmeasurable, settle
from findback.measure.containment import is_content_word
from findback.measure.leak import FEWEST_RARE
from findback.measure.rarity import DocumentFrequencies, RareWords

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
_NONE = np.empty(0, dtype=np.int64)


class Terms(NamedTuple):
    """Terms of several queries behind each other, and the content words that spell them."""

    case: Integers
    """Which query asks, rising."""
    stem: Codes
    """Number of the stem in the query's language; each once a query, in the query's order."""
    rare: Flags
    """Whether the term counts for the leak."""
    weight: NDArray[np.float64]
    """Inverse document frequency."""
    word_term: Integers
    """Which of the terms each distinct content word spells."""
    word_code: Codes
    """Code of that word."""


class Asked(NamedTuple):
    """What the queries of a set ask for."""

    terms: Terms
    starts: Integers
    """Where the terms of each query begin, and, last, where the last ones end."""
    languages: list[str | None]
    """Language each pair is compared in."""
    unmeasurable: list[Unmeasurable | None]
    """Why nothing can be measured of a pair."""
    leak_unmeasurable: list[Unmeasurable | None]
    """Why its leak cannot be measured."""


def ask(
    queries: CodedTexts, golds: Sequence[Reading], gold_has_words: Sequence[bool], frequencies: DocumentFrequencies
) -> Asked:
    """Return the terms of every query for the gold text in the same place, by how that reads."""
    settled = [settle(reading, gold) for reading, gold in zip(queries.readings, golds, strict=True)]
    by_language: dict[str | None, list[int]] = {}
    for case, (language, reason) in enumerate(settled):
        if reason is None:
            by_language.setdefault(language, []).append(case)
    reasons = [reason for _, reason in settled]
    leak_reasons = list(reasons)
    parts = []
    for language, cases in by_language.items():
        rare = RareWords(language, frequencies)
        terms = _find_terms(queries, np.array(cases), rare, frequencies)
        asked = np.bincount(terms.case, minlength=len(settled)).tolist()
        lifted = np.bincount(terms.case[terms.rare], minlength=len(settled)).tolist()
        for case in cases:
            if not asked[case] or not gold_has_words[case]:
                reasons[case] = leak_reasons[case] = "no-words"
            elif not rare.can_tell:
                leak_reasons[case] = "rarity-unknown"
            elif lifted[case] < FEWEST_RARE:
                leak_reasons[case] = "few-rare-words"
        parts.append(terms)
    joined = _join(parts)
    starts = np.searchsorted(joined.case, np.arange(len(settled) + 1))
    return Asked(joined, starts, [language for language, _ in settled], reasons, leak_reasons)


def _find_terms(queries: CodedTexts, cases: Integers, rare: RareWords, frequencies: DocumentFrequencies) -> Terms:
    """Return the terms of queries in one language: `find_content_words` and `find_rare_words` of each."""
    begins, ends = queries.starts()[cases], queries.starts()[cases + 1]
    case, code = np.repeat(cases, ends - begins), queries.flat()[join_ranges(begins, ends)]
    words, stems = list(queries.vocabulary), queries.vocabulary.stems(rare.language)
    names = list(stems.names)
    content = np.zeros(len(words), dtype=np.bool_)
    is_rare = np.zeros(len(words), dtype=np.bool_)
    for number in np.flatnonzero(np.bincount(code)).tolist():
        word = words[number]
        content[number] = is_content_word(word, rare.language)
        is_rare[number] = rare.is_rare(word, names[stems.numbers[number]])
    kept = np.flatnonzero(content[code])
    kept = kept[_number_pairs(case[kept], code[kept])[0]]
    case, code = case[kept], code[kept]
    stem = stems.numbers[code]
    first, word_term = _number_pairs(case, stem)
    # A stem counts only when every word of the query that has it is rare.
    common = np.bincount(word_term[~is_rare[code]], minlength=len(first)) > 0
    weigh = frequencies.language(rare.language).weigh
    weights = np.zeros(len(names))
    for number in np.flatnonzero(np.bincount(stem)).tolist():
        weights[number] = weigh(names[number])
    return Terms(case[first], stem[first], ~common & rare.can_tell, weights[stem[first]], word_term, code)


def _number_pairs(case: Integers, code: Codes) -> tuple[Integers, Integers]:
    """Number distinct pairs of case and code in the order they appear.

    Returns:
        Where each of them first appears, rising, and the number of every one given.
    """
    _, first, inverse = np.unique(case << 32 | code, return_index=True, return_inverse=True)
    order = np.argsort(first)
    numbers = np.empty_like(order)
    numbers[order] = np.arange(len(order))
    return first[order], numbers[inverse]


def _join(parts: Sequence[Terms]) -> Terms:
    """Return the terms of all languages, by query."""
    before = np.cumsum([0, *(len(part.case) for part in parts)])
    case = np.concatenate([_NONE, *(part.case for part in parts)])
    word_term = np.concatenate([_NONE, *(part.word_term + start for part, start in zip(parts, before, strict=False))])
    order = np.argsort(case, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Terms(
        case=case[order],
        stem=np.concatenate([_NONE.astype(np.int32), *(part.stem for part in parts)])[order],
        rare=np.concatenate([_NONE.astype(np.bool_), *(part.rare for part in parts)])[order],
        weight=np.concatenate([_NONE.astype(np.float64), *(part.weight for part in parts)])[order],
        word_term=rank[word_term],
        word_code=np.concatenate([_NONE.astype(np.int32), *(part.word_code for part in parts)]),
    )
