"""Text as one terminal can show it: how wide it is, what it can write, and which notes stand below."""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import ConsoleOptions
from rich.table import Table as Grid
from rich.text import Text

from findback.model.hits import Span
from findback.reporting.figures import NO_BREAK
from findback.reporting.inert import inert, pieces

NAME_WIDTH = 24
"""Cells that a name gets in a narrow terminal."""
_ASCII = str.maketrans(
    {
        "–": "-",
        "−": "-",
        "…": "...",
        "≥": ">=",
        "·": "|",
        "�": "?",
        "’": "'",
        "⚑": "*",
        "•": "*",
        "→": "->",
        NO_BREAK: " ",
    }
)
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Pen:
    """Writes text for one console: inert, and in ASCII where the terminal has no more."""

    def __init__(self, options: ConsoleOptions) -> None:
        self.ascii_only = options.ascii_only
        self.width = options.max_width

    def write(self, text: str, style: str = "", *, limit: int = 2_000) -> Text:
        """Return text that cannot command the terminal."""
        return Text(self.plain(text, limit=limit), style=style)

    def plain(self, text: str, *, limit: int = 2_000) -> str:
        """Return the characters `write` would show."""
        safe = inert(text, limit=limit)
        if not self.ascii_only:
            return safe
        return safe.translate(_ASCII).encode("ascii", "replace").decode("ascii")

    def paragraph(self, text: str, style: str = "", *, less: int = 0) -> Text:
        """Return text wrapped at its plain spaces, so that an interval stays on one line."""
        lines = [""]
        for word in inert(text).split(" "):
            grown = f"{lines[-1]} {word}" if lines[-1] else word
            if cell_len(grown) > self.width - less and lines[-1]:
                lines.append(word)
            else:
                lines[-1] = grown
        return Text("\n".join(self.plain(line, limit=len(line) + 1) for line in lines), style=style)

    def footnote(self, number: int) -> str:
        """Return the sign of a footnote."""
        return f"({number})" if self.ascii_only else str(number).translate(_SUPERSCRIPT)

    def marked(self, text: str, marks: Iterable[Span], *, limit: int) -> Text:
        """Return text with its marks in brackets and bold, so that they are seen without colour too."""
        shown = Text()
        for piece in pieces(text, marks, limit=limit):
            if piece.marked:
                shown.append(f"[{self.plain(piece.text)}]", style="bold underline")
            else:
                shown.append(self.plain(piece.text))
        return shown


def hanging(mark: str, text: Text) -> Grid:
    """Return a text with a mark before its first line."""
    grid = Grid.grid(padding=0)
    grid.add_column(width=len(mark), no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(mark), text)
    return grid
