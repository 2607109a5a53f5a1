"""Text to words: the tokens every measure counts."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from findback.text.scripts import load_ranges

TOKENIZER_VERSION = "words-1"
"""Named by every result that rests on these tokens; raised when the same text would give other tokens."""

_LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789_'"
_ASCII_TABLE = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).lower().encode() in _LETTERS else 32 for code in range(256)
)
_PLACEHOLDER = re.compile(r"⟦[^⟦⟧\n]{0,64}⟧")
_ELISION = (
    r"(?=[aeiouhyàâäáèéêëìíîïòóôöùúûüœæ])"
    r"(?:(?<=\b[cdjlmnstv]')|(?<=\b(?:qu|un)')|(?<=\ball')|(?<=\b(?:dell|nell|dall|sull|coll)')"
    r"|(?<=\b(?:jusqu|quest|quell)')|(?<=\b(?:lorsqu|puisqu)'))"
)
# An apostrophe or underscore belongs to a word only between two letters or digits (don't, api_key), and not
# where it ends an article or pronoun that merely lost its vowel (l'erreur, dell'acqua).
_LOOSE_APOSTROPHE = re.compile(rf"'(?:(?<![^\W_].)|(?![^\W_])|{_ELISION})", re.DOTALL)
_LOOSE_UNDERSCORE = re.compile(r"_(?:(?<![^\W_].)|(?![^\W_]))", re.DOTALL)
_SYMBOLS = re.compile(
    "[\u00a0-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7\u2000-\u2065\u20a0-\u20bf\u2190-\u245f\u2500-\u2767]+"
)
_ASCII_WORD = re.compile(r"[a-z0-9_']+")


class Word(NamedTuple):
    """A word and where it stands in the original text."""

    word: str
    """The token, folded."""
    start: int
    """First code point in the original text."""
    end: int
    """Code point after the last one."""


class _Patterns(NamedTuple):
    word: re.Pattern[str]
    spaceless: re.Pattern[str]
    runs: re.Pattern[str]
    cluster: re.Pattern[str]


def fold(text: str) -> str:
    """Return the text in the form in which words are compared.

    NFKC and full case folding; U+2018, U+2019 and U+02BC become the ASCII apostrophe.

    >>> fold("Ｄon’t STRASSE straße")
    "don't strasse strasse"
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    for apostrophe in "\u2018\u2019\u02bc":
        folded = folded.replace(apostrophe, "'")
    return folded


def words(text: str) -> list[str]:
    """Return the words of a text in order, repeats included.

    Words are runs of letters, marks and digits; an apostrophe or underscore inside belongs to them. Scripts
    written without spaces give pairs of characters, a lone character itself. Placeholders are no words.

    >>> words("The worker's VENDOR_STRICT_MODE is _set_ for ⟦USER_1⟧")
    ['the', "worker's", 'vendor_strict_mode', 'is', 'set', 'for']
    >>> words("返金API")
    ['返金', 'api']
    >>> words("返金額")
    ['返金', '金額']
    """
    if text.isascii():
        return space_out(text).split()
    folded = fold(blank_placeholders(text))
    # Dashes, curly quotes and arrows are all that is not ASCII in most English texts.
    plain = _SYMBOLS.sub(" ", folded)
    if plain.isascii():
        return space_out(plain).split()
    folded = _blank_joiners(folded)
    patterns = _patterns()
    found = patterns.word.findall(folded)
    if patterns.spaceless.search(folded) is None:
        return found
    return [token for word in found for token, _, _ in _cut(word, patterns)]


def space_out(text: str) -> str:
    """Return an ASCII text folded, of the same length, with a space for everything that is no part of a word.

    >>> space_out("The worker's _set_")
    "the worker's  set "
    """
    return _blank_joiners(text.encode().translate(_ASCII_TABLE).decode())


def locate_words(text: str) -> list[Word]:
    """Return the words of a text with their places in it.

    The words equal those of `words`. A place covers whole characters of the original: a ligature or a letter
    with its accents is never cut.

    >>> [tuple(word) for word in locate_words("see ﬁle 返金額")]
    [('see', 0, 3), ('file', 4, 7), ('返金', 8, 10), ('金額', 9, 11)]
    """
    if text.isascii():
        folded = _blank_joiners(text.lower())
        return [Word(match[0], match.start(), match.end()) for match in _ASCII_WORD.finditer(folded)]
    blanked = blank_placeholders(text)
    folded, starts, ends = _fold_with_places(blanked)
    folded = _blank_joiners(folded)
    patterns = _patterns()
    located = []
    for match in patterns.word.finditer(folded):
        for token, start, end in _cut(match[0], patterns):
            first, last = match.start() + start, match.start() + end - 1
            located.append(Word(token, starts[first], ends[last]))
    return located


def is_bigram(word: str) -> bool:
    """Say whether a word comes from a script written without spaces.

    >>> is_bigram("返金"), is_bigram("refund")
    (True, False)
    """
    return not word.isascii() and _patterns().spaceless.match(word) is not None


def blank_placeholders(text: str) -> str:
    """Return the text with a space for every character of a placeholder, well formed or not.

    >>> blank_placeholders("a⟦X⟧b")
    'a   b'
    """
    if "⟦" not in text:
        return text
    return _PLACEHOLDER.sub(lambda match: " " * len(match[0]), text)


def _blank_joiners(folded: str) -> str:
    if "'" in folded:
        folded = _LOOSE_APOSTROPHE.sub(" ", folded)
    if "_" in folded:
        folded = _LOOSE_UNDERSCORE.sub(" ", folded)
    return folded


def _cut(word: str, patterns: _Patterns) -> list[tuple[str, int, int]]:
    if patterns.spaceless.search(word) is None:
        return [(word, 0, len(word))]
    pieces: list[tuple[str, int, int]] = []
    for match in patterns.runs.finditer(word):
        run, start = match[0], match.start()
        if patterns.spaceless.match(run) is None:
            inner = run.strip("'_")
            if inner:
                offset = start + run.index(inner)
                pieces.append((inner, offset, offset + len(inner)))
        elif len(run) == 1:
            pieces.append((run, start, start + 1))
        else:
            pieces += [(run[at : at + 2], start + at, start + at + 2) for at in range(len(run) - 1)]
    return pieces


def _fold_with_places(text: str) -> tuple[str, list[int], list[int]]:
    """Return the folded text and, for each of its characters, the piece of the original it came from."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _patterns().cluster.finditer(text):
        folded = fold(match[0])
        parts.append(folded)
        starts += [match.start()] * len(folded)
        ends += [match.end()] * len(folded)
    return "".join(parts), starts, ends


@lru_cache(maxsize=1)
def _patterns() -> _Patterns:
    marks = _mark_class()
    spaceless = "".join(f"{chr(entry.first)}-{chr(entry.last)}" for entry in load_ranges() if entry.kind == "bigrams")
    return _Patterns(
        word=re.compile(rf"\w[\w'{marks}]*"),
        spaceless=re.compile(f"[{spaceless}]"),
        runs=re.compile(f"[{spaceless}]+|[^{spaceless}]+"),
        cluster=re.compile(rf".[{marks}\u1160-\u11ff\ud7b0-\ud7ff\uff9e\uff9f]*", re.DOTALL),
    )


def _mark_class() -> str:
    r"""Return the combining marks as the inside of a character class; Python's `\w` leaves them out."""
    blocks = ((0x300, 0x1E00), (0x20D0, 0x2100), (0x2CEF, 0x3100), (0xA66F, 0xAC00), (0xFB1E, 0xFE30))
    planes = (
        (0x101FD, 0x11FFF),
        (0x16AF0, 0x16FF2),
        (0x1BC9D, 0x1BCA0),
        (0x1D165, 0x1D245),
        (0x1E000, 0x1E94B),
    )
    parts = []
    for first, last in (*blocks, *planes, (0xE0100, 0xE01F0)):
        start: int | None = None
        for code in range(first, last + 1):
            mark = code < last and unicodedata.category(chr(code))[0] == "M"
            if mark and start is None:
                start = code
            elif not mark and start is not None:
                parts.append(f"{chr(start)}-{chr(code - 1)}")
                start = None
    return "".join(parts)
