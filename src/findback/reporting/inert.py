"""Text from documents and questions made harmless, before each target adds its own escaping."""

import re
import shlex
from collections.abc import Iterable
from typing import NamedTuple

from findback.model.hits import Span

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
QUERY_LIMIT = 600
EXTRACT_LIMIT = 900
NAME_LIMIT = 160
PROSE_LIMIT = 2_000
COMMAND_LIMIT = 1_000

_BLANK = re.compile("[^\\S\\xa0]")
_UNSAFE = re.compile(
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f"  # C0, DEL, C1: terminal commands
    "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # reordering of what is read
    "\\u180e\\u200b\\u2060-\\u2064\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb"  # invisible
    "\\u115f\\u1160\\u3164\\uffa0"  # blank letters
    "\\ud800-\\udfff\\ufdd0-\\ufdef\\ufffe\\uffff\\U000e0000-\\U000e007f]"
)
_PLAIN_WORD = re.compile(r"[ -~\u00a1-\u1fff\u3001-\ud7ff]*\Z")


class Piece(NamedTuple):
    """A stretch of text that is marked or not."""

    text: str
    marked: bool


def inert(text: str, *, limit: int = PROSE_LIMIT) -> str:
    r"""Return text on one line, without control, reordering or invisible characters, clipped.

    Every character becomes exactly one character, so that positions stay true.

    >>> inert("a\x1b[31mb\u202ec\nd")
    'a�[31mb�c d'
    >>> inert("abcdef", limit=4)
    'abc…'
    """
    clipped = text if len(text) <= limit else text[: limit - 1] + "…"
    return _BLANK.sub(" ", _UNSAFE.sub(lambda bad: " " if bad[0].isspace() else REPLACEMENT, clipped))


def pieces(text: str, marks: Iterable[Span], *, limit: int) -> tuple[Piece, ...]:
    """Return text cut at its marks, clipped to a stretch that begins near the first mark.

    Overlapping marks are joined; what lies outside the text is ignored.

    >>> [tuple(p) for p in pieces("set the backoff", [Span(8, 15)], limit=100)]
    [('set the ', False), ('backoff', True)]
    """
    spans = sorted((max(0, s.start), min(len(text), s.end)) for s in marks if s.start < s.end)
    begin = 0
    if len(text) > limit and spans:
        begin = max(0, min(spans[0][0] - limit // 5, len(text) - limit))
    end = min(len(text), begin + limit)
    found = [Piece("…", False)] if begin else []
    at = begin
    for start, stop in spans:
        left, right = max(start, at), min(stop, end)
        if left >= right:
            continue
        if left > at:
            found.append(Piece(inert(text[at:left], limit=limit), False))
        found.append(Piece(inert(text[left:right], limit=limit), True))
        at = right
    if at < end:
        found.append(Piece(inert(text[at:end], limit=limit), False))
    if end < len(text):
        found.append(Piece("…", False))
    return tuple(found)


def shell_word(text: str) -> str:
    r"""Return text quoted for a shell; what cannot be seen is written as escapes that bash and zsh read.

    >>> print(shell_word("guide/a b.md"), shell_word("a\nb"))
    'guide/a b.md' $'a\nb'
    """
    if _PLAIN_WORD.match(text) and inert(text, limit=len(text) + 1) == text:
        return shlex.quote(text)
    return "$'" + "".join(_escaped(letter) for letter in text) + "'"


def _escaped(letter: str) -> str:
    if letter in "\\'":
        return "\\" + letter
    if letter == "\n":
        return "\\n"
    if " " <= letter <= "~":
        return letter
    code = ord(letter)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def judge_command(question: str, document: str, grade: int, place: str | None = None) -> str | None:
    """Return the command that records a grade, to be copied; None where an id is too long to be shown whole.

    >>> judge_command("c1", "guide/a b.md", 3, "asked.jsonl")
    "findback label judge c1 --doc 'guide/a b.md' --set asked.jsonl --grade 3"
    """
    if max(map(len, (question, document, place or ""))) > COMMAND_LIMIT:
        return None
    asked = shell_word(question)
    option = _option("--doc", document) + ("" if place is None else " " + _option("--set", place))
    if question.startswith("-"):
        return f"findback label judge {option} --grade {grade} -- {asked}"
    return f"findback label judge {asked} {option} --grade {grade}"


def _option(name: str, value: str) -> str:
    return f"{name}={shell_word(value)}" if value.startswith("-") else f"{name} {shell_word(value)}"
