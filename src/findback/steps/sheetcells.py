"""What the cells of a label sheet say, written and read back: pure text, one pair of functions for each."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from findback.errors import UsageError
from findback.model.candidate import RedactedSpan, RedactedText
from findback.model.case import Judgement
from findback.model.review import DroppedLink
from findback.text.placeholders import TYPES
from findback.text.safe import clip, escape_terminal

YES, NO = "yes", "no"
_YES = frozenset({"yes", "y", "x", "1", "true", "ja", "oui", "sí", "si"})
_NO = frozenset({"", "no", "n", "0", "false", "nein", "non"})
_DECISION = re.compile(r"([0-9]{1,4})\s*[:=]?\s*([a-z]+)", re.ASCII)
_MARK = re.compile(r"⟦\?[0-9]+ [A-Z_]+: ([^⟦⟧]*)⟧")
_SEPARATORS = re.compile(r"[;\n]")
_ESCAPED = {";": "%3B", "\n": "%0A", "\r": "%0D"}


class Grade(NamedTuple):
    """A graded document as a cell names it."""

    document: str
    grade: int
    part: int


def write_marked(text: RedactedText) -> str:
    """Return a text in which each suggested redaction is marked with its number and type, no word changed.

    Only placeholders have these brackets in a stored text, so `read_marked` gives the text back.
    """
    pieces, at = [], 0
    for number, span in enumerate(list_suggestions(text), 1):
        pieces += [text.text[at : span.start], f"⟦?{number} {span.type}: {text.text[span.start : span.end]}⟧"]
        at = span.end
    return escape_terminal("".join([*pieces, text.text[at:]]), multiline=True)


def read_marked(marked: str) -> str:
    """Return the text that a marked one stands for.

    >>> read_marked("ask ⟦?1 PERSON: Noor⟧ or ⟦USER_1⟧")
    'ask Noor or ⟦USER_1⟧'
    """
    return _MARK.sub(lambda match: match[1], marked)


def list_suggestions(text: RedactedText) -> list[RedactedSpan]:
    """Return the suggested redactions of a text in the order of their numbers."""
    return sorted((span for span in text.spans if span.band == "suggested"), key=lambda span: (span.start, span.end))


def write_decisions(said: Sequence[str | None]) -> str:
    """Return what is decided on the numbered suggestions.

    >>> write_decisions(["redact", None, "keep"])
    '1 redact; 3 keep'
    """
    return "; ".join(f"{number} {one}" for number, one in enumerate(said, 1) if one is not None)


def read_decisions(cell: str, count: int) -> list[str | None]:
    """Return what a cell decides on each of some numbered suggestions; one word alone is for all of them.

    >>> read_decisions("1 Redact; 3 = keep", 3), read_decisions("keep", 2)
    (['redact', None, 'keep'], ['keep', 'keep'])
    """
    said: list[str | None] = [None] * count
    for piece in _pieces(cell):
        found = _DECISION.fullmatch(piece.casefold())
        word = found[2] if found else piece.casefold()
        if word not in ("redact", "keep"):
            raise UsageError(f"{_quoted(piece)} is no decision: write 1 redact; 2 keep")
        if found is None:
            said = [word] * count
        elif not 1 <= int(found[1]) <= count:
            raise UsageError(f"there is no suggestion {found[1]}: the question has {count or 'none'}")
        else:
            said[int(found[1]) - 1] = word
    return said


def write_redactions(words: Iterable[tuple[str, str]]) -> str:
    """Return further words that are redacted, each with its type.

    >>> write_redactions([("PERSON", "Noor"), ("ORG", "Blue Fin")])
    'PERSON: Noor; ORG: Blue Fin'
    """
    return "; ".join(f"{kind}: {_escaped(one)}" for kind, one in words)


def read_redactions(cell: str) -> list[tuple[str, str]]:
    """Return the types and words of a cell.

    >>> read_redactions("person: Noor")
    [('PERSON', 'Noor')]
    """
    found = []
    for number, piece in enumerate(_pieces(cell), 1):
        kind, colon, words = piece.partition(":")
        if not colon or kind.strip().upper() not in TYPES or not words.strip():
            # The words are private, so they are not repeated.
            raise UsageError(f"entry {number} is not a type, a colon and words; types are {', '.join(TYPES)}")
        found.append((kind.strip().upper(), unescape(words.strip())))
    return list(dict.fromkeys(found))


def write_grades(judged: Iterable[Judgement]) -> str:
    """Return graded documents; the first part goes without saying.

    >>> one = Judgement(doc="a.md", grade=3, found_by="pool")
    >>> write_grades([one, Judgement(doc="b.md", grade=2, part=2, found_by="pool")])
    'a.md=3; b.md=2 part 2'
    """
    return "; ".join(f"{_escaped(one.doc)}={one.grade}{f' part {one.part}' if one.part > 1 else ''}" for one in judged)


def read_grades(cell: str) -> list[Grade]:
    """Return what a cell grades.

    >>> read_grades("a.md = 3; b.md=2 part 2")
    [Grade(document='a.md', grade=3, part=1), Grade(document='b.md', grade=2, part=2)]
    """
    found = []
    for piece in _pieces(cell):
        document, _, said = piece.rpartition("=")
        grade, _, part = (word.strip() for word in said.casefold().partition("part"))
        number = int(part) if part.isascii() and part.isdecimal() and len(part) <= 2 else 0 if part else 1
        if not document.strip() or grade not in ("0", "1", "2", "3") or not 1 <= number <= 99:
            raise UsageError(f"{_quoted(piece)} needs a grade from 0 to 3: write page.md=3, or page.md=2 part 2")
        found.append(Grade(document.strip(), int(grade), number))
    return found


def write_drops(dropped: Iterable[DroppedLink]) -> str:
    """Return dropped documents with their reasons.

    >>> write_drops([DroppedLink(document="a.md", reason="about another terminal")])
    'a.md = about another terminal'
    """
    return "\n".join(f"{_escaped(one.document)} = {one.reason}" for one in dropped)


def read_drops(cell: str) -> list[tuple[str, str]]:
    """Return documents and reasons; a semicolon inside a reason belongs to it.

    >>> read_drops("a.md = old; see b; c.md = no")
    [('a.md', 'old; see b'), ('c.md', 'no')]
    """
    found: list[tuple[str, str]] = []
    for piece in _pieces(cell):
        document, equals, reason = piece.partition(" = ")
        if equals and document.strip() and reason.strip():
            found.append((document.strip(), reason.strip()))
        elif found and not equals:
            found[-1] = (found[-1][0], f"{found[-1][1]}; {piece}")
        else:
            raise UsageError(f"{_quoted(piece)} needs a reason: write page.md = why it is no answer")
    return found


def write_flag(value: bool) -> str:
    """Return yes, or no."""
    return YES if value else NO


def read_flag(cell: str) -> bool:
    """Return whether a cell says yes.

    >>> read_flag("Yes"), read_flag("")
    (True, False)
    """
    word = cell.strip().casefold()
    if word not in _YES | _NO:
        raise UsageError(f"{_quoted(cell.strip())} is neither yes nor no")
    return word in _YES


def tidy(cell: str) -> str:
    """Return a cell without what spreadsheets do to line ends and edges."""
    return cell.replace("\r\n", "\n").replace("\r", "\n").strip()


def fold(cell: str) -> str:
    """Return a cell with every run of blanks as one: how cells are compared."""
    return " ".join(cell.split())


def _pieces(cell: str) -> list[str]:
    return [piece.strip() for piece in _SEPARATORS.split(tidy(cell)) if piece.strip()]


def _escaped(words: str) -> str:
    for character, written in _ESCAPED.items():
        words = words.replace(character, written)
    return words


def unescape(words: str) -> str:
    """Return words with the semicolons and line ends that separate entries elsewhere."""
    for character, written in _ESCAPED.items():
        words = words.replace(written, character)
    return words


def _quoted(piece: str) -> str:
    return f"'{clip(piece, 40)}'"
