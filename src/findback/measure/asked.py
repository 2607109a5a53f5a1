"""The terms that a query asks of its gold text."""

from collections.abc import Mapping
from typing import NamedTuple

from findback.measure.comparable import Reading, Unmeasurable, read, settle
from findback.measure.containment import find_content_words
from findback.measure.leak import FEWEST_RARE, find_rare_words
from findback.measure.rarity import DocumentFrequencies, RareWords


class AskedTerms(NamedTuple):
    """A query's words as they count in one language."""

    language: str | None
    """Language the pair is compared in."""
    content: Mapping[str, str]
    """Content words with their stems."""
    stems: tuple[str, ...]
    """Distinct stems; the position is the term's number."""
    rare: tuple[str, ...]
    """Distinct stems that count for the leak, in order."""
    unmeasurable: Unmeasurable | None
    """Why nothing can be measured."""
    leak_unmeasurable: Unmeasurable | None
    """Why the leak cannot be measured."""


class Asker:
    """Reads queries; remembers what it has found out about words and languages."""

    def __init__(self, frequencies: DocumentFrequencies) -> None:
        self._frequencies = frequencies
        self._rare: dict[str | None, RareWords] = {}
        self._readings: dict[tuple[str, str | None], Reading] = {}

    def ask(self, query: str, language: str | None, gold: Reading, gold_has_words: bool) -> AskedTerms:
        """Return the terms of a query for a gold text that reads like this."""
        key = (query, language)
        reading = self._readings.get(key)
        if reading is None:
            reading = self._readings[key] = read(query, language)
        settled, reason = settle(reading, gold)
        if reason is not None:
            return AskedTerms(settled, {}, (), (), reason, reason)
        content = find_content_words(query, settled)
        stems = tuple(dict.fromkeys(content.values()))
        if not content or not gold_has_words:
            return AskedTerms(settled, content, stems, (), "no-words", "no-words")
        rare = self._rare.get(settled)
        if rare is None:
            rare = self._rare[settled] = RareWords(settled, self._frequencies)
        if not rare.can_tell:
            return AskedTerms(settled, content, stems, (), None, "rarity-unknown")
        lifted = tuple(dict.fromkeys(find_rare_words(content, rare).values()))
        return AskedTerms(
            settled, content, stems, lifted, None, None if len(lifted) >= FEWEST_RARE else "few-rare-words"
        )
