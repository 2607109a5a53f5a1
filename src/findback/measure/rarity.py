"""Which words of a query are rare."""

from collections import Counter
from collections.abc import Mapping
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


class LanguageFrequencies:
    """In how many documents of one language each stem occurs."""

    def __init__(self) -> None:
        self.documents = 0
        """Documents of the language."""
        self.counts: Counter[str] = Counter()
        """How many of them hold each stem."""

    @property
    def decides(self) -> bool:
        """Whether there are enough documents to tell rare words."""
        return self.documents >= FEWEST_DOCUMENTS

    def weigh(self, stemmed: str) -> float:
        """Return the stem's inverse document frequency, ln((N + 1) / (n + ½)).

        Always above 0, because at most N documents hold a stem.

        >>> round(LanguageFrequencies().weigh("any"), 3)
        0.693
        """
        return log((self.documents + 1) / (self.counts.get(stemmed, 0) + 0.5))


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
        self._languages: dict[str | None, LanguageFrequencies] = {}

    def language(self, language: str | None) -> LanguageFrequencies:
        """Return the counts of one language, empty ones where it has no document."""
        key = None if language is None else primary_language(language)
        counted = self._languages.get(key)
        if counted is None:
            counted = self._languages[key] = LanguageFrequencies()
        return counted

    def add(self, text: str, language: str | None) -> None:
        """Count one document."""
        self.add_counts(1, dict.fromkeys((stem(word, language) for word in words(text)), 1), language)

    def add_counts(self, documents: int, counts: Mapping[str, int], language: str | None) -> None:
        """Count many documents of a language at once: how many there are, and how many hold each stem."""
        counted = self.language(language)
        counted.documents += documents
        counted.counts.update(counts)

    def merge(self, other: "DocumentFrequencies") -> None:
        """Add what was counted elsewhere, in other documents."""
        for language in other.languages():
            counted = other.language(language)
            self.add_counts(counted.documents, counted.counts, language)

    def languages(self) -> tuple[str | None, ...]:
        """Return the languages documents were counted in; None stands for the unknown one."""
        return tuple(self._languages)

    def documents(self, language: str | None) -> int:
        """Return how many documents of the language were counted."""
        return self.language(language).documents

    def count(self, stemmed: str, language: str | None) -> int:
        """Return how many documents of the language hold the stem."""
        return self.language(language).counts[stemmed]

    def decides(self, language: str | None) -> bool:
        """Say whether there are enough documents of the language to tell rare words."""
        return self.language(language).decides


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
        counted = None if frequencies is None else frequencies.language(language)
        self._frequencies = counted if counted is not None and counted.decides else None
        self._known: dict[str, bool] = {}

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
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = self._judge(word, stemmed)
        return known

    def _judge(self, word: str, stemmed: str) -> bool:
        if not is_bigram(word):
            if len(word) < SHORTEST and not any(character.isdigit() for character in word):
                return False
            if self._frequent is not None and word in self._frequent:
                return False
        if self._frequencies is None:
            return True
        return self._frequencies.counts[stemmed] <= RARE_SHARE * self._frequencies.documents
