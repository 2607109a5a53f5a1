"""Gold documents as phrases: what stands for each of them, and what it was called before."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from findback.corpus.corpus import Corpus
from findback.model.document import Document
from findback.model.protocols import SILENT, Progress
from findback.model.question import Question
from findback.text.frequency import list_frequent_words
from findback.text.phrases import LONGEST, find_phrases, list_phrases, write_words
from findback.text.stems import stem
from findback.text.words import Word, is_bigram, words

READ = 4_000
"""Characters of a document that are read for its words, besides anchors."""
TELLING = 40
"""Phrases of a document's text that stand for it: those that tell it best from others."""
FREQUENT = 1_000
"""Most frequent words of a language that stand for no document, save in its title."""
SHORTEST = 3
"""Letters of a word that stands for a document, save where words are pairs of characters."""


class Answered(NamedTuple):
    """A gold document as phrases."""

    title: Mapping[str, str]
    """Stems and words of its title's phrases."""
    former: frozenset[str]
    """Phrases of the names it had, or has elsewhere, as stems."""
    telling: Mapping[str, str]
    """Phrases that stand for it, its title's among them."""
    stems: frozenset[str]
    """Every stem of title and text."""


class Answers(NamedTuple):
    """The gold documents of some questions."""

    answered: Mapping[str, Answered]
    """By id."""
    frequency: Mapping[str, int]
    """In how many documents of the corpus each of their phrases stands."""


def read_answers(
    questions: Sequence[Question], corpus: Corpus, language: str, *, progress: Progress = SILENT
) -> Answers:
    """Return the gold documents of some questions as phrases.

    Args:
        questions: With their gold; what is no document of the corpus is passed over.
        corpus: The documents.
        language: Language of the stems.
        progress: Told of each document.
    """
    anchors = _list_anchors(questions)
    ids = dict.fromkeys(judgement.doc for question in questions for judgement in question.gold)
    documents = ((id_, corpus.get(id_)) for id_ in ids)
    read = {id_: _read(one, anchors.get(id_, ""), language) for id_, one in documents if one is not None}
    wanted = {phrase for one in read.values() for phrase in (*one.counts, *one.title)}
    frequency = count_documents(corpus, wanted, language, progress=progress)
    return Answers({id_: _describe(one, frequency, len(corpus)) for id_, one in read.items()}, frequency)


def _list_anchors(questions: Iterable[Question]) -> dict[str, str]:
    """Return the sentences of each document that answer, each on a line."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for question in questions:
        for judgement in question.gold:
            if judgement.anchor:
                found[judgement.doc][judgement.anchor] = None
    return {document: "\n".join(anchors) for document, anchors in found.items()}


class _Read(NamedTuple):
    """A gold document before it is known which of its phrases are rare."""

    title: dict[str, str]
    former: frozenset[str]
    counts: dict[str, int]
    """How often each phrase of its text stands there, of those that may stand for it."""
    written: dict[str, str]
    stems: frozenset[str]


def _read(document: Document, anchors: str, language: str) -> _Read:
    text = f"{document.text[:READ]}\n{anchors}"
    counts: Counter[str] = Counter()
    first: dict[str, Sequence[Word]] = {}
    for phrase in list_phrases(text, language):
        counts[phrase.stems] += 1
        first.setdefault(phrase.stems, phrase.words)
    quoted = find_phrases(anchors, language)
    written = {
        phrase: write_words(text, first[phrase])
        for phrase, times in counts.items()
        if _may_stand_for(first[phrase], language, certain=times > 1 or phrase in quoted)
    }
    title = find_phrases(document.title or "", language)
    former = {phrase for alias in document.aliases for phrase in find_phrases(spell_name(alias), language)}
    every = [document.title or "", document.text, anchors]
    return _Read(
        title,
        frozenset(former - title.keys()),
        {phrase: counts[phrase] for phrase in written},
        written,
        frozenset(stem(word, language) for part in every for word in words(part)),
    )


def _may_stand_for(phrase: Sequence[Word], language: str, *, certain: bool) -> bool:
    """Return whether a phrase may stand for a document: a rare word, or several that are no passing remark."""
    if len(phrase) > 1:
        return certain
    word = phrase[0].word
    frequent = list_frequent_words(language, FREQUENT) or ()
    return word not in frequent and (len(word) >= SHORTEST or is_bigram(word)) and not word.isdigit()


def spell_name(name: str) -> str:
    """Return the words of a path, address or key: its last part, without the ending.

    >>> spell_name("docs/old/vendor_sign-up.md"), spell_name("https://docs.example.org/guide/token-rotation/")
    ('vendor sign up', 'token rotation')
    """
    last = name.partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2]
    stem_, dot, ending = last.rpartition(".")
    plain = stem_ if dot and 1 <= len(ending) <= 5 and ending.isalnum() else last
    return " ".join("".join(c if c.isalnum() else " " for c in plain).split())


def count_documents(
    corpus: Corpus, wanted: Iterable[str], language: str | None, *, progress: Progress = SILENT
) -> Counter[str]:
    """Return in how many documents each phrase stands; what stands between its words makes no difference."""
    every = set(wanted)
    several: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for phrase in every:
        first, *rest = phrase.split(" ")
        if rest:
            several[first].add(tuple(rest))
    found: Counter[str] = Counter()
    progress.start("Counting phrases", len(corpus))
    for document in corpus:
        stems = [stem(word, language) for word in words(f"{document.title or ''}\n{document.text}")]
        held = every.intersection(stems)
        for at, first in enumerate(stems, 1):
            if first in several:
                follows = several[first]
                spans = (tuple(stems[at : at + size]) for size in range(1, LONGEST))
                held.update(" ".join((first, *span)) for span in spans if span in follows)
        found.update(held)
        progress.advance()
    progress.finish()
    return found


def _describe(read: _Read, frequency: Mapping[str, int], documents: int) -> Answered:
    def weigh(phrase: str) -> float:
        return read.counts[phrase] * (documents + 1) / (frequency.get(phrase, 0) + 0.5)

    ranked = sorted(read.counts, key=lambda phrase: (-weigh(phrase), phrase))
    telling = {phrase: read.written[phrase] for phrase in ranked[:TELLING]}
    return Answered(read.title, read.former, telling | read.title, read.stems)
