"""A corpus opened from its settings, its kind recognised where none is named."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import orjson

from findback import registry
from findback.corpus.address import PAGE_SUFFIXES
from findback.corpus.corpus import Corpus
from findback.corpus.findings import Findings
from findback.corpus.redirects import Redirect, read_redirects
from findback.corpus.same import read_same
from findback.corpus.shape import Shape
from findback.errors import MissingError, SettingsError
from findback.model.document import Document
from findback.model.protocols import SILENT, Progress
from findback.model.settings import CorpusSettings

GROUP = "findback.documents"
Reader = Callable[[Path, CorpusSettings, Findings], Iterator[Document]]
"""What an entry point of the group must be: yields documents, records faults and notes."""

FROM_ENVIRONMENT = "env:"
"""Before the name of the variable that holds a database server's address."""

_BY_SUFFIX = {
    "jsonl": (".jsonl", ".ndjson"),
    "csv": (".csv", ".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "folder": PAGE_SUFFIXES,
}


class Recognised(NamedTuple):
    """A kind, and why."""

    kind: str
    reason: str


_GUIDE_SUFFIXES = (".json", ".jsonl", ".ndjson")
_SQLITE = b"SQLite format 3\0"


def open_corpus(
    settings: CorpusSettings,
    *,
    base: Path,
    skip_bad: bool = False,
    progress: Progress = SILENT,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Corpus:
    """Return the corpus the settings name; its documents are read when first asked for.

    Args:
        settings: The `[corpus]` table.
        base: Folder its paths are relative to.
        skip_bad: Leave out what cannot be read and count it, instead of raising every fault.
        progress: Told of each document while the corpus is read.
        environment: Where the address of a database server is found.

    Raises:
        MissingError: If there is no such file, folder or kind.
        MissingLibraryError: If the kind needs a library that is not installed.
        SettingsError: If a setting makes no sense.
    """
    path = base / settings.path
    found = recognise(path, settings)
    reader: Callable[..., Iterator[Document]] = registry.load(GROUP, found.kind)
    if settings.path.startswith(FROM_ENVIRONMENT):
        reader = partial(reader, address=_find_address(settings, environment))
    shape = Shape(settings, Findings())
    if settings.id_from == "field" and not settings.id_field:
        raise SettingsError("corpus.id_from is field, but id_field is empty", hint="name the field of the id")

    def read(findings: Findings) -> Iterator[Document]:
        findings.remark(f"{settings.path} is read as {found.kind}: {found.reason}")
        if settings.git and found.kind != "folder":
            findings.remark("git is only asked about folders")
        return reader(path, settings, findings)

    return Corpus(
        settings.name or path.resolve().name or settings.path,
        read,
        kind=found.kind,
        recognised=found.reason,
        site=shape.site,
        redirects=_redirects_of(settings, base),
        same=_same_of(settings, base),
        names_audiences=settings.audience_field is not None,
        skip_bad=skip_bad,
        progress=progress,
    )


def recognise(path: Path, settings: CorpusSettings) -> Recognised:
    """Return which kind of corpus a path is, and why it is taken for that.

    Raises:
        MissingError: If there is nothing there, or nothing of a known kind.
    """
    if settings.path.startswith(FROM_ENVIRONMENT):
        return Recognised("sql", "a variable holds its address")
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, ValueError):
        is_folder = is_file = False
    if not is_folder and not is_file:
        raise MissingError(
            f"there is no file or folder {settings.path!r}",
            hint="path under [corpus] is relative to findback.toml",
        )
    if settings.kind is not None:
        return Recognised(settings.kind, "the settings say so")
    return _recognise_folder(path, settings) if is_folder else _recognise_file(path, settings)


def _recognise_file(path: Path, settings: CorpusSettings) -> Recognised:
    suffix = path.suffix.lower()
    if settings.query is not None or _begins(path, _SQLITE):
        return Recognised("sql", "it is an SQLite file" if settings.query is None else "a query is named")
    if suffix in _GUIDE_SUFFIXES and _is_guide(path):
        return Recognised("zendesk-guide", "it holds articles with html_url and body")
    for kind, suffixes in _BY_SUFFIX.items():
        if suffix in suffixes:
            if kind == "jsonl" and _is_beir(path):
                return Recognised("beir", "its first line has _id and text")
            return Recognised(kind, f"its name ends in {suffix}")
    raise MissingError(
        f"{settings.path} is of no known kind (it ends in {suffix or 'nothing'})",
        hint=f"name its kind under [corpus]: {', '.join(registry.names(GROUP)) or 'none is installed'}",
    )


def _recognise_folder(path: Path, settings: CorpusSettings) -> Recognised:
    if (path / "corpus.jsonl").is_file() and _is_beir(path / "corpus.jsonl"):
        return Recognised("beir", "it holds a corpus.jsonl with _id and text")
    if settings.include:
        return Recognised("folder", "it is a folder, and include says which files")
    top = {entry.suffix.lower() for entry in path.iterdir() if entry.is_file()}
    for kind in ("jsonl", "csv", "parquet"):
        found = sorted(top.intersection(_BY_SUFFIX[kind]))
        # Looking through the whole tree is only worth it where a table lies at the top.
        if found and not any(_holds(path, suffix) for suffix in _BY_SUFFIX["folder"]):
            return Recognised(kind, f"it holds {found[0]} files and no pages")
    return Recognised("folder", "it is a folder")


def _holds(path: Path, suffix: str) -> bool:
    return any(found.is_file() for found in path.rglob(f"*{suffix}"))


def _begins(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError:
        return False


def _is_guide(path: Path) -> bool:
    """Say whether the beginning of a file looks like articles of Zendesk Guide, as its API gives them."""
    try:
        with path.open("rb") as file:
            head = file.read(200_000)
    except OSError:
        return False
    return all(f'"{key}"'.encode() in head for key in ("html_url", "body", "section_id", "draft"))


def _find_address(settings: CorpusSettings, environment: Mapping[str, str]) -> str:
    variable = settings.path.removeprefix(FROM_ENVIRONMENT)
    address = environment.get(variable, "").strip()
    if not address:
        raise SettingsError(
            f"[corpus] path: the environment variable {variable or '(none)'} is not set",
            hint=f"export {variable or 'NAME'}=postgresql://user:password@host/database",
        )
    return address


def _is_beir(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            first = orjson.loads(file.readline(1_000_000).removeprefix(b"\xef\xbb\xbf"))
    except (OSError, orjson.JSONDecodeError):
        return False
    return isinstance(first, dict) and "_id" in first and "text" in first and "id" not in first


def _redirects_of(settings: CorpusSettings, base: Path) -> Callable[[Findings], list[Redirect]] | None:
    if not settings.aliases_from:
        return None

    def read(findings: Findings) -> list[Redirect]:
        return [
            redirect for shown in settings.aliases_from for redirect in read_redirects(base / shown, shown, findings)
        ]

    return read


def _same_of(
    settings: CorpusSettings, base: Path
) -> Callable[[Callable[[str], str | None], Findings], Mapping[str, str]] | None:
    shown = settings.same
    if shown is None:
        return None

    def read(resolve: Callable[[str], str | None], findings: Findings) -> Mapping[str, str]:
        return read_same(base / shown, shown, resolve, findings)

    return read
