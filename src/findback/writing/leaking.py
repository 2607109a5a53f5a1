"""The leak filter: how much of a document's wording a written text took over."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from findback.measure.comparable import explain
from findback.measure.ruler import code_pool
from findback.measure.wordings import Figure, Measured, Wording
from findback.measure.yardstick import measure_set
from findback.model.document import Document
from findback.model.written import Rejection
from findback.text.stems import stem
from findback.text.words import TOKENIZER_VERSION, is_bigram, locate_words, words
from findback.writing.alignment import follows_sentences
from findback.writing.runs import Runs

COPIED_RUN = 8
"""Words in a row that nobody writes by chance as a document has them. In 348 real questions the longest run shared
with the answer is 5 words."""
READ = 20_000
"""Characters of a document looked through for respelled words: more than a writer is shown."""
MOST_JOINED = 3
"""Words that a writer may join to one, or one be cut into."""

Leak = Literal["copied sentence", "inflected copy", "reworded copy", "hyphen or camelCase copy", "copied words"]
"""Why the leak filter rejects a text."""
UNMEASURABLE = "leak not measurable"
"""Doubt about a text whose leak nobody can tell: it is not a clean one."""
ALIGNED = "follows the document sentence by sentence"
"""Doubt about a text that may be a copy translated there and back."""

_TOLD: dict[Leak, str] = {
    "copied sentence": "It repeats a stretch of the document word for word. Describe the need in words of your own.",
    "inflected copy": "It uses the document's words in other forms. Use words a person would use who has not read it.",
    "reworded copy": "It follows the document sentence by sentence. Start from the person's side instead: what "
    "happened to them, and what they want.",
    "hyphen or camelCase copy": "It uses the document's terms, only joined or split another way. Name things as a "
    "person would who does not know these terms.",
    "copied words": "It uses too many of the document's own terms. Say what somebody sees or wants, not what the "
    "document calls it.",
}
# A capital after a small letter or digit, the last of several capitals before a small letter, and an underscore.
_SEAM = re.compile(r"(?<=[a-zà-öø-ÿ0-9])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ])|_")


class Leakage(NamedTuple):
    """What the leak filter found."""

    measured: Measured
    rejection: Rejection | None
    doubts: tuple[str, ...]


class Leaking:
    """Measures written texts against their documents as audits and releases do: the same words, stems and windows."""

    def __init__(self, documents: Iterable[Document], *, window: int) -> None:
        """Cut a corpus into words once.

        Args:
            documents: The corpus: it says which words are rare.
            window: Code points of the stretch of a document that is compared; see `choose_window`.
        """
        listed = list(documents)
        coded = code_pool([document.text for document in listed], [document.language for document in listed]).coded
        self._frequencies = coded.count_documents()
        self._languages = {
            document.id: reading.language for document, reading in zip(listed, coded.assumed, strict=True)
        }
        self._window = window
        self.measure = f"vocabulary leak, {TOKENIZER_VERSION}, window {window}"
        """Name of the measure, as kept with what it measured."""

    def measure_text(self, text: str, source: Document, language: str | None) -> Measured:
        """Return overlap and leak of a text about a document.

        Args:
            text: What was written.
            source: The document.
            language: Of the text, where known; guessed otherwise.
        """
        return self._measure(text, source, source.text, language)

    def inspect(self, text: str, source: Document, language: str | None, *, limit: float | None) -> Leakage:
        """Measure a text and say what is wrong with it.

        Args:
            text: What was written.
            source: The document it is about.
            language: Of the text, where known.
            limit: Most leak, in [0, 1]; None where texts of any leak are wanted, and only copied stretches are not.
        """
        measured = self.measure_text(text, source, language)
        reason = self._reject(text, source, measured, language, limit)
        if reason is not None:
            return Leakage(measured, Rejection(by="leak", reason=reason, told=_TOLD[reason]), ())
        doubts = [UNMEASURABLE] if measured.leak.value is None else []
        if follows_sentences(text, source.text, measured.language or language):
            doubts.append(ALIGNED)
        return Leakage(measured, None, tuple(doubts))

    def _reject(
        self, text: str, source: Document, measured: Measured, language: str | None, limit: float | None
    ) -> Leak | None:
        if Runs([source.text], COPIED_RUN).find(text) is not None:
            return "copied sentence"
        if limit is None:
            return None
        if _is_over(measured.leak, limit):
            spelled = measured.leak.verbatim
            if spelled is not None and spelled <= limit:
                return "inflected copy"
            return "reworded copy" if follows_sentences(text, source.text, measured.language) else "copied words"
        beginning = source.text[:READ]
        respelled = respell(beginning, text, measured.language)
        if respelled != beginning and _is_over(self._measure(text, source, respelled, language).leak, limit):
            return "hyphen or camelCase copy"
        return None

    def _measure(self, text: str, source: Document, gold: str, language: str | None) -> Measured:
        known = self._languages.get(source.id, source.language)
        wording = Wording(text, gold, language=language, gold_language=known)
        (row,) = measure_set([wording], code_pool([]), window=self._window, seed=0, frequencies=self._frequencies).rows
        return row


def explain_unmeasurable(figure: Figure) -> str | None:
    """Return in words why a figure has no value; None where it has one."""
    return None if figure.unmeasurable is None else explain(figure.unmeasurable)


def respell(document: str, text: str, language: str | None) -> str:
    """Return a document with its compound words also as a text spells them.

    Where the text has `max retries`, `max-retries` or `maxRetries`, a document's `maxRetries`, `max_retries` or
    `max retries` gets that spelling beside its own. Everything else stays as it is.

    >>> respell("Set maxRetries to 5.", "how do I raise the max retry number", "en")
    'Set maxRetries max retries max retry to 5.'
    >>> respell("The sign-in page", "cannot signin", "en")
    'The sign-in signin page'
    """
    wanted = {stem(word, language) for word in words(text)}
    joined = {stem("".join(run), language): " ".join(run) for run in _list_adjacent(words(_SEAM.sub(" ", text)))}
    recent: list[str] = []
    parts: list[str] = []
    done = 0
    for word in locate_words(document):
        if is_bigram(word.word):
            recent.clear()
            continue
        pieces = words(_SEAM.sub(" ", document[word.start : word.end]))
        recent = [*recent, *pieces][-MOST_JOINED:]
        added = [" ".join(pieces)] if len(pieces) > 1 else []
        added += [joined[key] for key in [stem(word.word, language)] if key in joined]
        added += [one for one in _join_last(recent, len(pieces)) if stem(one, language) in wanted]
        if added:
            parts += [document[done : word.end], " ", " ".join(dict.fromkeys(added))]
            done = word.end
    return "".join(parts) + document[done:]


def _list_adjacent(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield every run of two or three words that may be written as one."""
    for size in range(2, MOST_JOINED + 1):
        for start in range(len(tokens) - size + 1):
            run = tokens[start : start + size]
            if not any(map(is_bigram, run)):
                yield run


def _join_last(recent: Sequence[str], new: int) -> Iterator[str]:
    """Yield the words that the last ones give when joined, except those that one word was cut into."""
    for size in range(max(2, new + 1), len(recent) + 1):
        yield "".join(recent[-size:])


def _is_over(figure: Figure, limit: float) -> bool:
    return figure.value is not None and figure.value > limit
