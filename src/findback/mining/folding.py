"""Messages folded for matching: what a person wrote in their own words, in one spelling."""

import html
import re
import unicodedata
from functools import lru_cache

from findback.model.thread import Mark, Message

MOST_CHARACTERS = 4_000
"""How much of a message is looked at for cues."""

_OTHERS = frozenset(("code", "quote", "link", "mail", "user", "group", "channel"))
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u00b4`\u2032", "'"))
_ACCENTS = re.compile("[\u0300-\u036f]+")
_BLANKS = re.compile(r"[^\S\n]+")
_FENCE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_ADDRESS = re.compile(r"<?\b[a-z][a-z0-9+.-]{1,20}://[^\s<>]+>?|\bwww\.[^\s<>]+", re.IGNORECASE)
_LOG_LINE = re.compile(
    r"^[ \t]*(?:>|\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d"
    r"|\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE|SEVERE)\b[]:\s]|at [\w.$<>]+\(|Traceback \(|File \""
    r"|(?:[\w.]+)?(?:Error|Exception): |\$ |\+{2,}|[\w./-]+:\d+:\d+: ).*$",
    re.MULTILINE,
)


def fold(text: str) -> str:
    r"""Return a text in lower case with straight apostrophes, single blanks and no accents, entities decoded.

    >>> fold("Je n\u2019ai pas trouv\u00e9 o\u00f9  c&amp;a est")
    "je n'ai pas trouve ou c&a est"
    >>> fold("ﾄﾞｷｭﾒﾝﾄが見つからない")
    'ドキュメントが見つからない'
    """
    text = text[:MOST_CHARACTERS]
    if text.isascii():
        text = html.unescape(text) if "&" in text else text
        return _single_blanks(text.replace("`", "'").lower())
    text = unicodedata.normalize("NFKC", html.unescape(text).translate(_APOSTROPHES)).casefold()
    text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
    return _single_blanks(text)


def _single_blanks(text: str) -> str:
    if "  " in text or "\t" in text or "\r" in text or not text.isascii():
        text = _BLANKS.sub(" ", text)
    return text.strip()


def own_words(text: str, marks: tuple[Mark, ...] = ()) -> str:
    """Return what somebody wrote themselves: no code, quotes, addresses, names of people or log lines.

    >>> own_words("see https://docs.example.org/cannot-find `cannot find symbol` please")
    'see     please'
    """
    text = text[: 4 * MOST_CHARACTERS]
    for mark in reversed(marks):
        if mark.kind in _OTHERS and mark.span.start < len(text):
            text = f"{text[: mark.span.start]} {text[mark.span.end :]}"
    if "`" in text:
        text = _FENCE.sub(" ", text)
    if "://" in text or "www." in text:
        text = _ADDRESS.sub(" ", text)
    return _LOG_LINE.sub("", text)


def fold_message(message: Message) -> str:
    """Return a message's own words, folded."""
    return _fold_cached(message.text, message.marks)


@lru_cache(maxsize=4_096)
def _fold_cached(text: str, marks: tuple[Mark, ...]) -> str:
    return fold(own_words(text, marks))
