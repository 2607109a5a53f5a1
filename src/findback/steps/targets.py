"""Where a step may write: never over what it reads, nor over documents."""

from collections.abc import Iterable
from pathlib import Path

from findback.corpus.address import PAGE_SUFFIXES
from findback.errors import UsageError
from findback.files import is_same, refuse_special
from findback.steps.opening import SetRequest, corpus_settings
from findback.workspace import Workspace

OUR_PAGE = b"content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\""
"""What stands at the start of every page findback writes, and hardly in another's."""
BEIR_DOCUMENTS = "corpus.jsonl"
LOOKED_AT = 2_000
"""Bytes of a file in which it is looked for."""


def refuse_targets(
    workspace: Workspace,
    targets: Iterable[Path],
    *,
    read: Iterable[Path | None] = (),
    corpus: Path | None = None,
    replace: bool = True,
) -> None:
    """Stop before a result takes the place of something that is no result; nothing is written.

    Args:
        workspace: Its settings, releases, and what the settings name are safe from every result.
        targets: Files that are about to be written.
        read: Files and folders the step reads; None is nothing.
        corpus: Where the documents are, if anywhere.
        replace: Whether files that are there already may be replaced.

    Raises:
        UsageError: If one of them is read, a document or a release, or is there and must not be replaced.
        StorageError: If one of them is a folder, pipe or device.
    """
    places = [*(place for place in read if place is not None), *_named_files(workspace)]
    for target in targets:
        refuse_special(target)
        if not target.exists():
            continue
        if workspace.file is not None and is_same(target, workspace.file):
            raise UsageError(f"{target} holds the settings of this workspace", hint="name another file with -o")
        if _is_within(target, workspace.evalset / "releases"):
            raise UsageError(f"{target} belongs to a release, and a release never changes", hint="name another file")
        if any(_is_within(target, place) for place in places):
            raise UsageError(f"{target} is what is being read", hint="name another file with -o")
        if corpus is not None and _is_document(target, corpus) and not _is_ours(target):
            raise UsageError(f"{target} is a document of the corpus", hint="name a file outside it with -o")
        if not replace:
            raise UsageError(f"{target} is there already", hint="name another file with -o; --force replaces it")


def corpus_place(workspace: Workspace, request: SetRequest) -> Path | None:
    """Return where the documents of a request are, or None where no corpus is named."""
    settings, base = corpus_settings(workspace, request)
    return base / settings.path if settings is not None else None


def _is_within(target: Path, place: Path) -> bool:
    """Return whether a file is the place, or lies in it, by whatever name or link."""
    if is_same(target, place):
        return True
    if not place.is_dir():
        return False
    whole = place.resolve()
    return target.resolve().is_relative_to(whole) or target.parent.resolve().is_relative_to(whole)


def _named_files(workspace: Workspace) -> list[Path]:
    """Return the recorded runs and exports that the settings name."""
    named = [one.own.get("path") for one in workspace.settings.retrievers.values()]
    named += [one.path or one.database for one in workspace.settings.sources.values()]
    places = [workspace.path(path) for path in named if isinstance(path, str)]
    return [place for place in places if place.is_file()]


def _is_document(target: Path, corpus: Path) -> bool:
    """Return whether a file is the corpus, or one in its folder that is read as a document."""
    if is_same(target, corpus):
        return True
    return (target.suffix.lower() in PAGE_SUFFIXES or target.name == BEIR_DOCUMENTS) and _is_within(target, corpus)


def _is_ours(target: Path) -> bool:
    """Return whether a file is a page findback wrote, so that a report beside documents can be written again."""
    with target.open("rb") as file:
        return OUR_PAGE in file.read(LOOKED_AT)
