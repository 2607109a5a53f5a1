"""What the readers of tables share: which files, and rows to documents."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from findback.corpus.columns import find_columns
from findback.corpus.findings import Findings
from findback.corpus.patterns import matches_any
from findback.corpus.shape import Found, Shape
from findback.corpus.values import flatten, is_unknown, parse_text
from findback.errors import MissingError
from findback.model.document import Document
from findback.model.settings import CorpusSettings


class Row(NamedTuple):
    """One row of a table."""

    line: int | None
    """Line where it starts, or None where the file has no lines."""
    fields: Mapping[str, Any]


def list_tables(path: Path, suffixes: tuple[str, ...], settings: CorpusSettings) -> list[Path]:
    """Return the file itself, or a folder's files of these kinds in the order of their names.

    Raises:
        MissingError: If a folder has none.
    """
    if not path.is_dir():
        return [path]
    tables = [
        file
        for file in sorted(path.iterdir())
        if file.suffix.lower() in suffixes
        and not file.name.startswith(".")
        and file.is_file()
        and not file.is_symlink()
        and (not settings.include or matches_any(file.name, settings.include))
        and not matches_any(file.name, settings.exclude)
    ]
    if not tables:
        raise MissingError(
            f"{settings.path} holds no {' or '.join(suffixes)} file to read",
            hint="name the file itself, or another kind under [corpus]",
        )
    return tables


def shape_rows(rows: Iterable[Row], shown: str, settings: CorpusSettings, findings: Findings) -> Iterator[Document]:
    """Yield a document for each row; the first row decides which columns are meant.

    Raises:
        DataError: If there is no column for the id or the text.
    """
    shape: Shape | None = None
    for row in rows:
        fields = flatten(row.fields)
        if shape is None:
            settings = find_columns(settings, fields.keys(), shown, findings)
            shape = Shape(settings, findings)
        text = fields.get(settings.text_field)
        if not isinstance(text, str):
            missing = is_unknown(text)
            plain = None if missing else parse_text(text)
            if plain is None:
                what = "nothing" if missing else f"a {type(text).__name__}, not text,"
                findings.fault(shown, row.line, f"{what} in {settings.text_field!r}")
                continue
            text = plain
        document = shape.document(Found(shown=shown, line=row.line, fields=fields, text=text))
        if document is not None:
            yield document


def name_of(file: Path, path: Path, settings: CorpusSettings) -> str:
    """Return how a table is shown: as the user named it."""
    return settings.path if file == path else f"{settings.path.rstrip('/')}/{file.name}"
