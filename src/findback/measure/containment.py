"""How much of a query's wording a gold text contains."""

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from findback.measure.comparable import Unmeasurable
from findback.measure.rarity import DocumentFrequencies
from findback.text.frequency import list_function_words
from findback.text.stems import stem
from findback.text.words import is_bigram, words


class Containment(NamedTuple):
    """A share of a query's terms found in its gold text, with what it is made of.

    Words with one stem are one term. The direction is the query's: how long the gold text is plays no role in
    the divisor.
    """

    ratio: float | None
    """Terms found over terms, by stem, in [0, 1]; None where unmeasurable."""
    verbatim: float | None
    """The same without stemming: words found as they stand over words; None where unmeasurable."""
    weighted: float | None
    """The share with every term weighted by its inverse document frequency; None without a corpus."""
    terms: int
    """Terms of the query that count."""
    found: int
    """Those the gold text contains."""
    copied: tuple[str, ...]
    """The query's words whose stem the gold text contains, in the query's order."""
    unmeasurable: Unmeasurable | None = None
    """Why there is no ratio."""


def find_content_words(text: str, language: str | None) -> dict[str, str]:
    """Return the distinct content words of a text with their stems, in order.

    Left out are the language's function words and single letters.

    >>> find_content_words("Where are the policies?", "en")
    {'policies': 'polici'}
    """
    return {word: stem(word, language) for word in words(text) if is_content_word(word, language)}


def is_content_word(word: str, language: str | None) -> bool:
    """Say whether a word carries content: no function word of the language, and no single letter."""
    return word not in list_function_words(language) and (len(word) > 1 or word.isdigit() or is_bigram(word))


def contain(
    asked: Mapping[str, str],
    gold: str,
    language: str | None,
    frequencies: DocumentFrequencies | None,
) -> Containment:
    """Return how much of the asked words a gold text contains.

    Args:
        asked: Words of the query that count, with their stems; must not be empty.
        gold: The gold text, or the window of it.
        language: Language of both.
        frequencies: Of the corpus, for the weighted share.
    """
    gold_words = set(words(gold))
    gold_stems = {stem(word, language) for word in gold_words}
    terms = dict.fromkeys(asked.values())
    found = terms.keys() & gold_stems
    return Containment(
        ratio=len(found) / len(terms),
        verbatim=sum(word in gold_words for word in asked) / len(asked),
        weighted=None if frequencies is None else weigh_share(terms, found, frequencies, language),
        terms=len(terms),
        found=len(found),
        copied=tuple(word for word, stemmed in asked.items() if stemmed in gold_stems),
    )


def weigh_share(
    terms: Collection[str], found: AbstractSet[str], frequencies: DocumentFrequencies, language: str | None
) -> float | None:
    """Return the found terms' share of all terms' weight; None without documents or terms."""
    if not terms or frequencies.documents(language) == 0:
        return None
    weigh = frequencies.language(language).weigh
    here = elsewhere = 0.0
    # In the order given: the sum of a set's members would change with its order, from run to run.
    for term in terms:
        if term in found:
            here += weigh(term)
        else:
            elsewhere += weigh(term)
    return here / (here + elsewhere)


def leave_undefined(reason: Unmeasurable, terms: int = 0) -> Containment:
    """Return the figure of a pair that cannot be measured."""
    return Containment(None, None, None, terms, 0, (), reason)
