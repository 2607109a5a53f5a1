"""Overlap: the share of a query's content words found in its gold text."""

from findback.measure.comparable import read, settle
from findback.measure.containment import Containment, contain, find_content_words, leave_undefined
from findback.measure.rarity import DocumentFrequencies
from findback.text.words import words


def measure_overlap(
    query: str,
    gold: str,
    *,
    language: str | None = None,
    gold_language: str | None = None,
    frequencies: DocumentFrequencies | None = None,
) -> Containment:
    """Return the overlap of a query with a gold text.

    Args:
        query: The query; placeholders in it are no words.
        gold: The gold text, already cut to the window that is compared.
        language: Of the query, where known; guessed otherwise.
        gold_language: Of the gold text, where known; guessed otherwise.
        frequencies: Of the corpus, for the weighted share.

    Returns:
        Shares in [0, 1]: 1 when the gold text contains every content word. Undefined, with the reason, for
        texts without words, in an unknown script, or in two languages.

    Source:
        Article 2, with Unicode words instead of ASCII ones, stems, a stop list for each language, and an
        undefined figure instead of 0 for a query without content words.

    >>> measure_overlap("vendor policies", "The policy of our vendor", language="en").ratio
    1.0
    """
    settled, reason = settle(read(query, language), read(gold, gold_language))
    if reason is not None:
        return leave_undefined(reason)
    asked = find_content_words(query, settled)
    if not asked or not words(gold):
        return leave_undefined("no-words", len(set(asked.values())))
    return contain(asked, gold, settled, frequencies)
