"""Write a findback.toml for a folder of documents."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import orjson
from jinja2.sandbox import ImmutableSandboxedEnvironment

from findback.errors import UsageError
from findback.files import write_atomically
from findback.model.record import LOCAL_ONLY, Record, Request
from findback.workspace import FILE_NAME

READABLE = {".md": "folder", ".rst": "folder", ".txt": "folder", ".html": "folder", ".jsonl": "jsonl"}
LOOKED_AT = 5_000
"""Most files looked at when guessing where the documents are."""


class InitRequest(Request):
    """Write a findback.toml for this folder."""

    folder: Annotated[Path, LOCAL_ONLY] = Path()
    """Folder that becomes the workspace."""
    corpus: Annotated[Path | None, LOCAL_ONLY] = None
    """Documents: a folder or file; guessed when left out."""
    kind: str | None = None
    """folder, jsonl, csv, parquet or beir; recognised by itself when left out."""
    name: str | None = None
    """How reports call the workspace; the folder's name when left out."""
    base_url: Annotated[str | None, LOCAL_ONLY] = None
    """Where the documents are published."""
    language: str | None = None
    """ISO 639-1 code of the documents."""
    force: bool = False
    """Replace a findback.toml that is there."""


class Initialised(Record):
    """What was written."""

    file: str
    corpus: str
    documents_seen: int
    """Files of a readable kind found there, counted up to a bound."""


def guess_corpus(folder: Path) -> Path | None:
    """Return the folder that most likely holds the documents, or None when nothing readable is there."""
    for name in ("docs", "doc", "documentation", "content", "pages", "site", "wiki"):
        if count_readable(folder / name):
            return folder / name
    return folder if count_readable(folder) else None


def count_readable(folder: Path) -> int:
    """Return how many files of a readable kind lie in a folder, looking at no more than a bound."""
    if folder.is_file():
        return 1
    seen: Counter[str] = Counter()
    for looked, path in enumerate(folder.rglob("*")):
        if looked >= LOOKED_AT:
            break
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix.lower() in READABLE and not hidden and path.is_file():
            seen[path.suffix.lower()] += 1
    return seen.total()


def init(request: InitRequest) -> Initialised:
    """Write a commented findback.toml.

    Raises:
        UsageError: If there is one already, or no documents can be found.
        StorageError: If the folder cannot be written.
    """
    folder = request.folder.absolute()
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", hint="make it first, or name another")
    target = folder / FILE_NAME
    if target.exists() and not request.force:
        raise UsageError(f"{target} is there already", hint="--force replaces it")
    corpus = request.corpus or guess_corpus(folder)
    if corpus is None:
        raise UsageError(f"no documents found in {folder}", hint="name them: findback init --corpus path/to/documents")
    place = corpus if corpus.is_absolute() else (Path.cwd() / corpus if request.corpus else corpus)
    if not place.exists():
        raise UsageError(f"{place} is not there", hint="name a folder or file of documents with --corpus")
    shown = place.relative_to(folder) if place.is_relative_to(folder) else place
    template = (Path(__file__).parent / "templates" / "findback.toml.j2").read_text("utf-8")
    text = (
        ImmutableSandboxedEnvironment(keep_trailing_newline=True, autoescape=False)
        .from_string(template)
        .render(
            name=quoted(request.name or folder.name or "workspace"),
            path=quoted(shown.as_posix()),
            kind=quoted(request.kind),
            base_url=quoted(request.base_url),
            language=quoted(request.language),
        )
    )
    write_atomically(target, text)
    return Initialised(file=str(target), corpus=shown.as_posix(), documents_seen=count_readable(place))


def quoted(value: str | None) -> str | None:
    """Return a text as a TOML basic string; JSON's escapes are a subset of TOML's."""
    return None if value is None else orjson.dumps(value).decode().replace("\x7f", "\\u007f")
