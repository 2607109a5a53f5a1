"""Vocabulary leak: the share of a query's rare words found in its gold text."""

from collections.abc import Mapping

from findback.measure.comparable import read, settle
from findback.measure.containment import Containment, contain, find_content_words, leave_undefined
from findback.measure.rarity import DocumentFrequencies, RareWords
from findback.text.words import words

FEWEST_RARE = 3
"""Rare words from which a leak can be told: with fewer, one word moves it by more than a third."""


def find_rare_words(content: Mapping[str, str], rare: RareWords) -> dict[str, str]:
    """Return the rare ones of a query's content words, with their stems.

    A stem counts only when every word of the query that has it is rare.

    >>> find_rare_words({"backoff": "backoff", "policy": "polici"}, RareWords("en"))
    {'backoff': 'backoff'}
    """
    common = {stemmed for word, stemmed in content.items() if not rare.is_rare(word, stemmed)}
    return {word: stemmed for word, stemmed in content.items() if stemmed not in common}


def measure_leak(
    query: str,
    gold: str,
    *,
    language: str | None = None,
    gold_language: str | None = None,
    frequencies: DocumentFrequencies | None = None,
) -> Containment:
    """Return the vocabulary leak from a gold text into a query.

    Args:
        query: The query; placeholders in it are no words.
        gold: The gold text, already cut to the window that is compared.
        language: Of the query, where known; guessed otherwise.
        gold_language: Of the gold text, where known; guessed otherwise.
        frequencies: Of the corpus, for rarity (from 200 documents of the language) and the weighted share.

    Returns:
        Shares in [0, 1]: 0 when no rare word is shared, 1 when every one was lifted. Undefined, with the
        reason, below 3 rare words, for texts without words, in an unknown script or in two languages, and
        where nothing tells which words are rare. An undefined leak is not a clean one.

    Source:
        Article 1, which divides by max(n, 1) and so scores a query without rare words 0, reads ASCII only,
        and does not say which words are common.

    >>> query = "hammering the vendor endpoint after throttling"
    >>> figure = measure_leak(query, "Endpoint throttling", language="en")
    >>> figure.found, figure.terms, figure.copied
    (2, 4, ('endpoint', 'throttling'))
    """
    settled, reason = settle(read(query, language), read(gold, gold_language))
    if reason is not None:
        return leave_undefined(reason)
    content = find_content_words(query, settled)
    if not content or not words(gold):
        return leave_undefined("no-words")
    rare = RareWords(settled, frequencies)
    if not rare.can_tell:
        return leave_undefined("rarity-unknown")
    asked = find_rare_words(content, rare)
    terms = len(set(asked.values()))
    if terms < FEWEST_RARE:
        return leave_undefined("few-rare-words", terms)
    return contain(asked, gold, settled, frequencies)
