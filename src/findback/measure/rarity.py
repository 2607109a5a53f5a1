"""Which words of a query are rare."""

from collections import Counter
from collections.abc import Iterable
from math import log

from findback.text.frequency import list_frequent_words
from findback.text.scripts import is_written_as_bigrams, primary_language
from findback.text.stems import stem
from findback.text.words import is_bigram, words

FEWEST_DOCUMENTS = 200
"""Documents of a language from which a corpus can say which words are rare in it."""
RARE_SHARE = 0.05
"""A rare word is in at most this share of a corpus' documents."""
SHORTEST = 5
"""Letters of a word that may be rare without holding a digit."""


class DocumentFrequencies:
    """In how many documents of a corpus each stem occurs, by language.

    Documents of different languages are counted apart, so that a small part of a corpus in another language
    does not make all its words rare. Documents are added one by one; nothing of their order is kept.

    >>> frequencies = DocumentFrequencies()
    >>> for text in ("the policy", "two policies", "a form"):
    ...     frequencies.add(text, "en")
    >>> frequencies.count("polici", "en"), frequencies.documents("en"), frequencies.documents("de")
    (2, 3, 0)
    """

    def __init__(self) -> None:
        self._documents: Counter[str | None] = Counter()
        self._counts: dict[str | None, Counter[str]] = {}

    def add(self, text: str, language: str | None) -> None:
        """Count one document."""
        self.add_stems({stem(word, language) for word in words(text)}, language)

    def add_stems(self, stems: Iterable[str], language: str | None) -> None:
        """Count one document by its distinct stems."""
        self._documents[_key(language)] += 1
        self._counts.setdefault(_key(language), Counter()).update(stems)

    def add_counts(self, documents: int, counts: dict[str, int], language: str | None) -> None:
        """Count many documents of a language at once: how many there are, and how many hold each stem."""
        self._documents[_key(language)] += documents
        self._counts.setdefault(_key(language), Counter()).update(counts)

    def documents(self, language: str | None) -> int:
        """Return how many documents of the language were counted."""
        return self._documents[_key(language)]

    def count(self, stemmed: str, language: str | None) -> int:
        """Return how many documents of the language hold the stem."""
        counts = self._counts.get(_key(language))
        return 0 if counts is None else counts[stemmed]

    def decides(self, language: str | None) -> bool:
        """Say whether there are enough documents of the language to tell rare words."""
        return self._documents[_key(language)] >= FEWEST_DOCUMENTS

    def weigh(self, stemmed: str, language: str | None) -> float:
        """Return the stem's inverse document frequency, ln((N + 1) / (n + ½)).

        Always above 0, because at most N documents hold a stem.

        >>> round(DocumentFrequencies().weigh("any", "en"), 3)
        0.693
        """
        return log((self.documents(language) + 1) / (self.count(stemmed, language) + 0.5))


class RareWords:
    """Tells the rare words of one language.

    A word is rare when it is not among the 3,000 most frequent of its language and, in a corpus of 200
    documents or more, in at most 5 % of them. Words under five letters count only with a digit. Pairs of
    characters have no frequency list, so only the corpus decides on them; while it is too small every one
    counts as rare, which can overstate a leak and never hide one. Words in a text of such a language are
    looked up in the English list.
    """

    def __init__(self, language: str | None, frequencies: DocumentFrequencies | None = None) -> None:
        self.language = language
        self._frequent = list_frequent_words("en" if is_written_as_bigrams(language) else language)
        self._frequencies = frequencies if frequencies is not None and frequencies.decides(language) else None

    @property
    def can_tell(self) -> bool:
        """False where neither a list nor the corpus knows the language: nothing can be called rare then."""
        return self._frequent is not None or self._frequencies is not None

    def is_rare(self, word: str, stemmed: str) -> bool:
        """Say whether a word is rare, given its stem.

        >>> english = RareWords("en")
        >>> english.is_rare("backoff", "backoff"), english.is_rare("policy", "polici")
        (True, False)
        """
        if not is_bigram(word):
            if len(word) < SHORTEST and not any(character.isdigit() for character in word):
                return False
            if self._frequent is not None and word in self._frequent:
                return False
        if self._frequencies is None:
            return True
        documents = self._frequencies.documents(self.language)
        return self._frequencies.count(stemmed, self.language) <= RARE_SHARE * documents


def _key(language: str | None) -> str | None:
    return None if language is None else primary_language(language)
