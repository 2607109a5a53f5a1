"""What in a mail is not the writer's own wording: quoted mails, signatures, lines of programs."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from findback.model.hits import Span

MOST_LINE = 400
"""Longest line that is compared with what mail programs write."""
_AFTER_SIGN_OFF = 8
_DASHES = "-_*= \t"


class _Wording(NamedTuple):
    attribution: tuple[tuple[str, str], ...]
    separator: frozenset[str]
    reply_line: tuple[str, ...]
    header_first: tuple[str, ...]
    header_next: tuple[str, ...]
    device: tuple[str, ...]
    sign_off: frozenset[str]


@cache
def _wording() -> _Wording:
    text = files("findback.sources").joinpath("data/mail.toml").read_text(encoding="utf-8")
    held = tomllib.loads(text)
    return _Wording(
        attribution=tuple((first, verb) for first, verb in held["attribution"]),
        separator=frozenset(held["separator"]),
        reply_line=tuple(held["reply_line"]),
        header_first=tuple(held["header_first"]),
        header_next=tuple(held["header_next"]),
        device=tuple(held["device"]),
        sign_off=frozenset(held["sign_off"]),
    )


def find_quotes(text: str) -> list[Span]:
    r"""Return the stretches of a mail that repeat earlier mails or sign it off, in order.

    Lines that start with `>` are quotes. An attribution, a separator, a block of headers, a signature mark or a
    sign-off is one too, with all that follows; an attribution right above `>` lines only itself, because people
    answer below them. Nothing is taken where no wording of the writer's own would be left before it.

    >>> mail = "Which form?\n\nOn 3 May 2024, Bo wrote:\n> Use the form.\n"
    >>> [mail[span.start:span.end] for span in find_quotes(mail)]
    ['On 3 May 2024, Bo wrote:\n> Use the form.\n']
    """
    lines = text.splitlines(keepends=True)
    starts: list[int] = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    quotes: list[Span] = []
    own = False
    index = 0
    while index < len(lines):
        line = lines[index].strip()
        if line.startswith(">"):
            _extend(quotes, starts[index], starts[index + 1])
        elif line and len(line) <= MOST_LINE and own and (length := _begins(lines, index)):
            if length > 0 and _is_above_quote(lines, index + length):
                _extend(quotes, starts[index], starts[index + length])
                index += length
                continue
            _extend(quotes, starts[index], len(text))
            break
        else:
            own = own or bool(line)
        index += 1
    return quotes


def _extend(quotes: list[Span], start: int, end: int) -> None:
    if quotes and quotes[-1].end == start:
        quotes[-1] = Span(quotes[-1].start, end)
    else:
        quotes.append(Span(start, end))


def _begins(lines: list[str], index: int) -> int:
    """Return 0 when the line begins nothing, the number of lines of an attribution, or -1 for all else."""
    words, line = _wording(), lines[index].strip()
    if length := _attribution(lines, index, words):
        return length
    lowered = line.casefold()
    begins = (
        (line.startswith("--") and lines[index].rstrip("\r\n") in ("-- ", "--"))
        or any(phrase in lowered for phrase in words.reply_line)
        or lowered.startswith(words.device)
        or (line[0] in "-_*=" and lowered.strip(_DASHES) in words.separator)
        or (line.strip("*").startswith(words.header_first) and _has_headers(lines, index, words))
        or (len(line) >= 20 and not line.strip("_") and _has_headers(lines, index, words))
        or _signs_off(lines, index, words)
    )
    return -1 if begins else 0


def _attribution(lines: list[str], index: int, words: _Wording) -> int:
    line = lines[index].strip()
    for first, verb in words.attribution:
        if not line.startswith(first):
            continue
        joined = ""
        for count, piece in enumerate(lines[index : index + 3], start=1):
            joined = f"{joined} {piece.strip()}"
            if len(joined) > MOST_LINE:
                break
            if joined.rstrip().endswith(":") and verb in joined and any(c.isdigit() for c in joined):
                return count
    return 0


def _is_above_quote(lines: list[str], index: int) -> bool:
    return any(lines[at].lstrip().startswith(">") for at in range(index, min(index + 2, len(lines))))


def _has_headers(lines: list[str], index: int, words: _Wording) -> bool:
    following = (line[:MOST_LINE].strip().strip("*") for line in lines[index + 1 : index + 6])
    return sum(line.startswith(words.header_next) for line in following) >= 2


def _signs_off(lines: list[str], index: int, words: _Wording) -> bool:
    if lines[index].strip().casefold().rstrip(",.!- ") not in words.sign_off:
        return False
    after = 0
    for at in range(index + 1, len(lines)):
        after += bool(lines[at].strip())
        if after > _AFTER_SIGN_OFF:
            return False
    return True
