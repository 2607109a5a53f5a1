"""The team's own words for its systems, which are no people."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from findback.model.protocols import Documents
from findback.privacy.folding import find_words
from findback.privacy.name_lists import name_list

_CODE = re.compile(r"```.*?```|`[^`\n]{1,200}`", re.DOTALL)
_IDENTIFIER = re.compile(r"[A-Za-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+|[A-Za-z][A-Za-z0-9]*(?:[_.\-/:][A-Za-z0-9]+)+")
_SHORTEST = 3
_OFTEN = 2
_MANY = 5


class Vocabulary(NamedTuple):
    """Words that name systems here."""

    words: frozenset[str] = frozenset()
    """Folded; a name made of these is at most suggested where nobody lists it."""
    frequent: frozenset[str] = frozenset()
    """Those of them that many documents hold: a listed person called so needs a cue too."""


def read_vocabulary(documents: Documents, *, shown: Iterable[str] = ()) -> Vocabulary:
    """Return the words that name systems: from titles, and from identifiers in code.

    A word that is a person's name elsewhere counts only when two documents hold it in a title or code, since
    one title may well be "Minh's guide".

    Args:
        documents: The corpus.
        shown: Further names of systems, such as a service catalogue's.
    """
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update({word for text in (document.title or "", _code_of(document.text)) for word in _words(text)})
    people = name_list("person") | name_list("given")
    named = frozenset(word for text in shown for word in _words(text))
    words = frozenset(word for word, count in counts.items() if count >= _OFTEN or word not in people)
    return Vocabulary(words | named, named | {word for word, count in counts.items() if count >= _MANY})


def _code_of(text: str) -> str:
    code = " ".join(match[0] for match in _CODE.finditer(text))
    return " ".join(match[0] for match in _IDENTIFIER.finditer(code))


def _words(text: str) -> set[str]:
    # A camel-case name is several words.
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return {word.folded for word in find_words(spaced) if len(word.folded) >= _SHORTEST and not word.folded.isdigit()}
