"""The passages of a corpus under one chunker's settings, kept by digest."""

import hashlib
import inspect
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from findback import registry
from findback.errors import UsageError
from findback.files import private_folder, write_atomically
from findback.model.document import Document, Passage
from findback.model.hits import Span
from findback.model.protocols import SILENT, Progress
from findback.model.settings import PassageSettings

GROUP = "findback.chunkers"
PASSAGES_FORMAT = 1
Chunker = Callable[..., Iterable[Span]]
"""What an entry point of the group must be: takes the text, and `size` and `overlap` if it names them."""


class Chunked(Protocol):
    """A corpus that can be cut."""

    @property
    def digest(self) -> str:
        """Digest over ids and texts."""
        ...

    @property
    def text_digests(self) -> Mapping[str, str]:
        """The sha256 of each document's text, by id."""
        ...

    def get(self, document: str) -> Document | None:
        """Return the document with this id, or None."""
        ...


class PassageStore:
    """Passages in the order of document ids, then of characters; texts are taken from the corpus."""

    def __init__(
        self,
        corpus: Chunked,
        digest: str,
        names: Sequence[str],
        documents: NDArray[np.int32],
        spans: NDArray[np.int32],
    ) -> None:
        self.digest = digest
        """Digest over the corpus and the chunker's settings."""
        self._corpus = corpus
        self._names = names
        self._documents = documents
        self._spans = spans

    def __len__(self) -> int:
        """Return how many passages there are."""
        return len(self._documents)

    def __getitem__(self, index: int) -> Passage:
        """Return one passage by its position.

        Raises:
            IndexError: If there is none, which ends iteration over positions.
        """
        start, end = self._spans[index].tolist()
        name = self._names[self._documents[index]]
        document = self._corpus.get(name)
        return Passage(name, Span(start, end), document.text[start:end] if document else "")

    def __iter__(self) -> Iterator[Passage]:
        """Yield every passage in order."""
        return map(self.__getitem__, range(len(self)))

    @cached_property
    def text_digests(self) -> tuple[str, ...]:
        """The sha256 of each passage's text, by position: what its vector can be kept under."""
        return tuple(hashlib.sha256(passage.text.encode()).hexdigest() for passage in self)

    def positions_of(self, document: str) -> range:
        """Return where a document's passages stand; empty for an unknown one."""
        return self._ranges.get(document, range(0))

    @cached_property
    def _ranges(self) -> dict[str, range]:
        edges = np.searchsorted(self._documents, np.arange(len(self._names) + 1)).tolist()
        return {
            name: range(start, end)
            for name, start, end in zip(self._names, edges[:-1], edges[1:], strict=True)
            if end > start
        }


def open_passages(
    corpus: Chunked, settings: PassageSettings, *, cache: Path | None = None, progress: Progress = SILENT
) -> PassageStore:
    """Return the corpus cut into passages; from the cache where the same corpus was cut the same way before.

    Blank passages are left out. The cache holds ids and character positions, no text; a damaged or outdated
    entry is made again.

    Args:
        corpus: The documents.
        settings: The `[passages]` table.
        cache: Folder for it (made with mode 0700, files 0600); nothing is kept when left out.
        progress: Told of each document that is cut.

    Raises:
        MissingError: If there is no such chunker.
        UsageError: If size and overlap do not fit together, or the chunker names characters outside the text.
        StorageError: If the cache cannot be written.
    """
    chunker: Chunker = registry.load(GROUP, settings.chunker)
    options = _options(chunker, settings)
    digest = _digest(corpus, settings, options)
    names = sorted(corpus.text_digests)
    place = cache / f"passages-{digest}.npz" if cache is not None else None
    kept = _load(place, digest, corpus, names) if place is not None else None
    if kept is None:
        kept = _cut(corpus, names, partial(chunker, **options), settings.chunker, progress)
        if place is not None:
            _save(place, digest, *kept)
    return PassageStore(corpus, digest, names, *kept)


def _options(chunker: Chunker, settings: PassageSettings) -> dict[str, int]:
    asked = {"size": settings.size, "overlap": settings.overlap}
    taken = inspect.signature(chunker).parameters
    return {name: value for name, value in asked.items() if name in taken}


def _digest(corpus: Chunked, settings: PassageSettings, options: Mapping[str, int]) -> str:
    parts = [
        str(PASSAGES_FORMAT),
        corpus.digest,
        settings.chunker,
        *(f"{name}={options[name]}" for name in options),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _cut(
    corpus: Chunked,
    names: list[str],
    chunker: Callable[[str], Iterable[Span]],
    called: str,
    progress: Progress,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    documents: list[int] = []
    spans: list[tuple[int, int]] = []
    progress.start("Cutting documents into passages", len(names))
    for place, name in enumerate(names):
        document = corpus.get(name)
        text = document.text if document is not None else ""
        for start, end in chunker(text):
            if not 0 <= start <= end <= len(text):
                raise UsageError(
                    f"the chunker {called} names characters {start} to {end} of {name!r}, which has {len(text)}",
                    hint="use another chunker under [passages], and tell its authors",
                )
            if text[start:end].strip():
                documents.append(place)
                spans.append((start, end))
        progress.advance()
    progress.finish()
    return np.array(documents, dtype=np.int32), np.array(spans, dtype=np.int32).reshape(-1, 2)


def _save(place: Path, digest: str, documents: NDArray[np.int32], spans: NDArray[np.int32]) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, digest=np.frombuffer(bytes.fromhex(digest), dtype=np.uint8), documents=documents, spans=spans)
    private_folder(place.parent)
    write_atomically(place, buffer.getvalue(), private=True)


def _load(
    place: Path, digest: str, corpus: Chunked, names: list[str]
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    try:
        # Opened here, or numpy leaves it open where it cannot make sense of it.
        with place.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            if kept["digest"].tobytes().hex() != digest:
                return None
            documents, spans = kept["documents"], kept["spans"]
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, BadZipFile, EOFError):
        return None
    return (documents, spans) if _fits(documents, spans, corpus, names) else None


def _fits(documents: NDArray[np.int32], spans: NDArray[np.int32], corpus: Chunked, names: list[str]) -> bool:
    if documents.dtype != np.int32 or spans.dtype != np.int32 or spans.shape != (len(documents), 2):
        return False
    if len(documents) == 0:
        return True
    if documents.min() < 0 or documents.max() >= len(names) or np.any(np.diff(documents) < 0):
        return False
    lengths = np.array([len(document.text) if (document := corpus.get(name)) else 0 for name in names])
    return bool(np.all((spans[:, 0] >= 0) & (spans[:, 0] < spans[:, 1]) & (spans[:, 1] <= lengths[documents])))
