"""Whether a document is fit to be described: rules that need no language, each with its reason."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from statistics import median
from typing import Literal

from findback.corpus.address import drop_suffix
from findback.model.document import Document
from findback.model.protocols import SILENT, Progress
from findback.text.frequency import list_function_words
from findback.text.languages import guess_language
from findback.text.words import is_bigram, words

Unfit = Literal["listed as not knowledge", "etiquette", "stub", "table of contents", "repeated lines"]

FEWEST_WORDS = 6
"""Distinct content words below which a page is a stub in any corpus: it names a thing and says nothing about it."""
ENOUGH_WORDS = 20
"""Distinct content words from which a page is none in any corpus: two sentences hold as many."""
STUB_SHARE = 0.25
"""In between, a page is a stub with less than this share of what is usual (the median) in the corpus: among manual
pages three lines are one, among one-line answers they are not."""
BIGRAM_WEIGHT = 0.5
"""How much of a word a pair of characters is: a word of a script without spaces makes about two pairs."""
LINKED_SHARE = 0.6
"""Share of the words in lines of links from which a page is a table of contents: below it there is prose to
describe."""
FEWEST_LINKED = 3
"""Lines of links a table of contents has at least; fewer are a short page with a reference."""
LISTED_SHARE = 0.9
"""Share of the words in list entries from which a long list is all a page is."""
FEWEST_LISTED = 20
"""Entries of a list that is all a page is, at least. Shorter ones may be the steps of one task; of so many a
description in two sentences would be about nothing."""
REPEATED_SHARE = 0.5
"""Share of lines that stand there before, from which a page is made of repeats."""
FEWEST_LINES = 8
"""Lines from which repeats mean anything."""
LOOKED_AT = 40_000
"""Characters of a page that are looked at; a longer one is judged by its beginning."""
_MOST_PATTERN_LINE = 2_000

_LINK = re.compile(
    r"!?\[(?P<markdown>[^\[\]\n]{0,300})\]\([^()\s]{0,1000}\)"
    r"|\[\[(?P<wiki>[^\[\]\n]{1,300})\]\]"
    r"|`(?P<rst>[^`<>\n]{1,300})<[^`<>\s]{1,1000}>`__?"
    r"|<?(?P<bare>https?://)[^\s<>]{1,1000}>?"
)
_LEADER = re.compile(r"(?:\.[ ]?){4,1000}[ ]*\d{1,5}$|…{2,200}[ ]*\d{1,5}$")
_ENTRY = re.compile(r"(?:[-*+•·‣–]|\d{1,3}[.)]|\(?[a-z0-9]{1,2}\))\s")
_HEADING = re.compile(r"#{1,6}\s|[=\-~^*_+|:\s]+$")
_SIGN_OF_LINK = ("](", "[[", "://", ">`_")


class Fitness:
    """Says why documents of a corpus are not fit to be described."""

    def __init__(
        self, documents: Sequence[Document], not_knowledge: Iterable[str] = (), *, progress: Progress = SILENT
    ) -> None:
        """Learn how long documents usually are.

        Args:
            documents: The corpus.
            not_knowledge: Ids or globs of documents that answer nothing, as `[mining] not_knowledge` lists them.
            progress: Told of each document.
        """
        self._not_knowledge = tuple(not_knowledge)
        self._words: dict[str, float] = {}
        progress.start("Looking for documents to describe", len(documents))
        for document in documents:
            self._words[document.id] = count_content_words(document.text[:LOOKED_AT], document.language)
            progress.advance()
        progress.finish()
        usual = median(self._words.values()) if self._words else 0
        self.fewest_words = min(max(STUB_SHARE * usual, FEWEST_WORDS), ENOUGH_WORDS)
        """Distinct content words below which a document of this corpus is a stub."""

    def why_unfit(self, document: Document) -> Unfit | None:
        """Return the first rule that speaks against a document of the corpus, or None for one that is fit.

        >>> page = Document("new.md", "To be written.")
        >>> Fitness([page]).why_unfit(page)
        'stub'
        """
        if any(document.id == name or fnmatchcase(document.id, name) for name in self._not_knowledge):
            return "listed as not knowledge"
        if is_etiquette(document):
            return "etiquette"
        lines = _lines(document.text[:LOOKED_AT])
        # Looked at before the length: a contents page has few words, and is no stub.
        if is_contents(lines):
            return "table of contents"
        if self._words[document.id] < self.fewest_words:
            return "stub"
        return "repeated lines" if is_repeated(lines) else None


def is_etiquette(document: Document) -> bool:
    """Say whether a page is called like one about how to behave or how to ask.

    >>> is_etiquette(Document("wiki/Code_of_Conduct.md", "Be kind.")), is_etiquette(Document("ask.md", "How to ask"))
    (True, False)
    """
    names = (drop_suffix(document.id.rstrip("/").rpartition("/")[2]), document.title or "")
    return any(_plain(name) in _etiquette() for name in names if len(name) <= 100)


def count_content_words(text: str, language: str | None) -> float:
    """Return how many distinct words of a text carry content, pairs of characters counted as parts of words.

    Addresses do not count. Where the language is not said, it is guessed.

    >>> count_content_words("The pump stops, and the pump starts: https://example.org/pump", "en")
    3.0
    """
    found = set(words(_LINK.sub(_link_text, text))) - list_function_words(language or guess_language(text))
    pairs = sum(map(is_bigram, found))
    return len(found) - pairs + BIGRAM_WEIGHT * pairs


def is_contents(lines: Sequence[str]) -> bool:
    """Say whether lines of a page are nothing but links, or one long list; longer lines weigh more."""
    linked = [is_linked(line) for line in lines]
    listed = [_ENTRY.match(line) is not None for line in lines]
    return (sum(linked) >= FEWEST_LINKED and _share(lines, linked) >= LINKED_SHARE) or (
        sum(listed) >= FEWEST_LISTED and _share(lines, listed) >= LISTED_SHARE
    )


def is_linked(line: str) -> bool:
    """Say whether at least half of a line's words stand in links, or it leads to a page number.

    >>> is_linked("- Quay: [windows](windows.md), [heap](heap.md)"), is_linked("2.1 Reefers ......... 14")
    (True, True)
    >>> is_linked("Ask for access first, see [roles](roles.md).")
    False
    """
    if line[-1:].isdigit() and _LEADER.search(line[-_MOST_PATTERN_LINE:]) is not None:
        return True
    if not any(sign in line for sign in _SIGN_OF_LINK):
        return False
    line = line[:_MOST_PATTERN_LINE]
    inside = sum(max(len(words(_link_text(match))), 1) for match in _LINK.finditer(line))
    return inside > 0 and inside >= len(words(_ENTRY.sub(" ", _LINK.sub(" ", line), count=1)))


def _share(lines: Sequence[str], chosen: Sequence[bool]) -> float:
    """Return the share of the words that stands in the lines chosen; a line counts for one word at least."""
    lengths = [max(len(words(_LINK.sub(_link_text, line))), 1) for line in lines]
    return sum(length for length, one in zip(lengths, chosen, strict=True) if one) / sum(lengths)


def is_repeated(lines: Sequence[str]) -> bool:
    """Say whether half of a page's lines stand there before."""
    return len(lines) >= FEWEST_LINES and len(lines) - len(set(lines)) >= REPEATED_SHARE * len(lines)


def _lines(text: str) -> list[str]:
    """Return the lines that say something: no blank ones, headings and rules."""
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and _HEADING.match(line) is None]


def _link_text(match: re.Match[str]) -> str:
    return match["markdown"] or match["wiki"] or match["rst"] or " "


@lru_cache(maxsize=1)
def _etiquette() -> frozenset[str]:
    listed = (files("findback.corpus") / "etiquette.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(_plain(line) for line in listed if line and not line.startswith("#"))


def _plain(name: str) -> str:
    return " ".join(words(name.replace("_", " ")))
