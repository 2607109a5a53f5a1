"""Printing: one console for results, JSON or a rich renderable."""

import os
import sys
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table

from findback.errors import StorageError, UsageError
from findback.files import write_atomically
from findback.model.record import Record
from findback.reporting.render import Renderer
from findback.text.safe import escape_terminal


def console() -> Console:
    """Return the console results are printed on; NO_COLOR and dumb terminals are honoured by rich."""
    width = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS", "100"))
    return Console(width=width, highlight=False, emoji=False, markup=False)


def show(renderable: RenderableType) -> None:
    """Print a renderable."""
    console().print(renderable)


def show_json(record: Record) -> None:
    """Print a record as JSON."""
    print(record.model_dump_json(indent=2))


def say(line: str) -> None:
    """Print one line of untrusted text, made safe for the terminal."""
    print(escape_terminal(line))


def warn(line: str) -> None:
    """Print one line of untrusted text to stderr, made safe for the terminal."""
    print(f"warning: {escape_terminal(line)}", file=sys.stderr)


def check_output(output: Path | None) -> None:
    """Find out before the work whether its result can be written.

    Raises:
        StorageError: If the folder is not there or cannot be written.
    """
    if output is not None and not os.access(output.absolute().parent, os.W_OK):
        raise StorageError(
            f"cannot write {output}: no such folder, or it is read-only", hint="name another file with -o"
        )


def table(headers: tuple[str, ...], rows: list[tuple[Any, ...]], *, title: str | None = None) -> Table:
    """Return a plain table of untrusted cells."""
    grid = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for header in headers:
        grid.add_column(header, overflow="fold")
    for row in rows:
        grid.add_row(*(escape_terminal("" if cell is None else str(cell)) for cell in row))
    return grid


def deliver(result: Record, renderer: Renderer, *, output: Path | None, json: bool) -> None:
    """Print a result, or write it in the format its file name asks for.

    Raises:
        UsageError: If the file name ends in no format findback writes.
        StorageError: If the file cannot be written.
    """
    if output is not None:
        write = renderer.by_suffix.get(output.suffix.lower())
        if write is None:
            known = ", ".join(sorted(renderer.by_suffix))
            raise UsageError(f"cannot tell the format of {output.name}", hint=f"let it end in one of: {known}")
        write_atomically(output, write(result), private=True)
        say(f"wrote {output}")
    if json:
        print(renderer.by_suffix[".json"](result))
    elif output is None:
        show(renderer.terminal(result))
