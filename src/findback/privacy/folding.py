"""Words as names are compared: without case, accents and invisible characters."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

# What decomposition leaves whole.
_WHOLE = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ð": "d", "ħ": "h", "ŋ": "n"}
)
_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_INVISIBLE = "\u00ad\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff"
_MARKS = "\u0300-\u036f" + _INVISIBLE
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}](?=[^\W_{_MARKS}]|[{_MARKS}]))*[\u0300-\u036f]*")
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Letters of scripts that write no blanks between words, as the inside of a character class."""
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")


class Word(NamedTuple):
    """A word in a text."""

    start: int
    end: int
    folded: str


def fold(word: str) -> str:
    """Return a word without case, accents and invisible characters.

    >>> fold("Sørvik"), fold("BRANDÃO"), fold("Straße")
    ('sorvik', 'brandao', 'strasse')
    """
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold()).translate(_WHOLE)
    return "".join(c for c in decomposed if unicodedata.category(c) not in ("Mn", "Cf"))


def fold_spelled_out(word: str) -> str:
    """Return a word folded with umlauts written as two letters.

    >>> fold_spelled_out("Müller")
    'mueller'
    """
    return fold(unicodedata.normalize("NFC", word.casefold()).translate(_SPELLED))


def find_words(text: str) -> list[Word]:
    """Return runs of letters and digits with their folded form, in order.

    >>> [word.folded for word in find_words("O'Brien met bao.ilunga0")]
    ['o', 'brien', 'met', 'bao', 'ilunga0']
    """
    if text.isascii():
        return [Word(match.start(), match.end(), match[0].lower()) for match in _ASCII_WORD.finditer(text)]
    return [Word(match.start(), match.end(), fold(match[0])) for match in _WORD.finditer(text)]


def find_unspaced_runs(text: str) -> Iterator[tuple[int, str]]:
    """Yield stretches in scripts without blanks, each with its place."""
    if not text.isascii():
        for match in _UNSPACED_RUN.finditer(text):
            yield match.start(), match[0]


def is_glued(text: str, start: int, end: int) -> bool:
    """Say whether a word is a piece of an identifier, a path or an address.

    >>> is_glued("@pytest.mark.skip", 8, 12), is_glued("ask mark.", 4, 8)
    (True, False)
    """
    before, further = text[max(start - 1, 0) : start], text[max(start - 2, 0) : max(start - 1, 0)]
    after, beyond = text[end : end + 1], text[end + 1 : end + 2]
    if before and before in "_/\\:=#$%&+<":
        return True
    if before in (".", "-") and further.isalnum():
        return before == "." or not further.isupper()
    return (after != "" and after in "_/\\=($#@") or (after in (".", ":") and beyond.isalnum())
