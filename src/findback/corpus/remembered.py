"""What is kept of the corpus that a release was made on: enough to tell later what became of it, and no text."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np

from findback.corpus.snapshot import Snapshot, load_snapshot, save_snapshot
from findback.errors import DataError
from findback.files import storage_errors, write_atomically
from findback.text.runs import Hashes

FORMAT = 1
PREFIX = "release-"
KEPT = 10
"""Releases whose corpus is kept; older ones go when a new one comes."""

_DAMAGED = (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile, zlib.error, RuntimeError, MemoryError)
"""What numpy and the archive raise over bytes that are not those written."""
_Cut = TypeVar("_Cut", bytes, Hashes)

_NO_HASHES: Hashes = np.empty(0, np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Remembered:
    """The corpus of a release."""

    snapshot: Snapshot
    golds: Mapping[str, Hashes] = field(default_factory=dict)
    """Numbers of the runs of words of each gold document, by the id that labels use."""
    words: Hashes = field(default_factory=_NO_HASHES.copy)
    """Numbers of every word of the corpus, in rising order."""


def save_remembered(remembered: Remembered, folder: Path, number: int) -> None:
    """Write what is kept for a release; what was kept for long gone ones goes.

    Raises:
        StorageError: If the disk refuses; what is there is whole.
    """
    names = list(remembered.golds)
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    file = BytesIO()
    np.savez_compressed(
        file,
        format=np.array([FORMAT]),
        ids=np.frombuffer(b"".join(encoded), np.uint8),
        id_lengths=np.array([len(one) for one in encoded], np.int64),
        runs=np.concatenate([*remembered.golds.values(), _NO_HASHES]),
        run_lengths=np.array([len(remembered.golds[name]) for name in names], np.int64),
        words=remembered.words,
    )
    write_atomically(_arrays(folder, number), file.getvalue(), private=True)
    # The snapshot comes last: who finds it finds the rest.
    save_snapshot(remembered.snapshot, _snapshot(folder, number))
    with storage_errors(folder):
        for old in list_remembered(folder)[:-KEPT]:
            _snapshot(folder, old).unlink(missing_ok=True)
            _arrays(folder, old).unlink(missing_ok=True)


def list_remembered(folder: Path) -> list[int]:
    """Return the releases whose corpus is kept, rising."""
    numbers = (path.stem.removeprefix(PREFIX) for path in folder.glob(f"{PREFIX}*.jsonl"))
    return sorted(int(number) for number in numbers if number.isdecimal())


def load_remembered(folder: Path, number: int) -> Remembered:
    """Return what was kept for a release.

    Raises:
        MissingError: If nothing was.
        DataError: If it is damaged, or of a format this version does not know.
    """
    snapshot = load_snapshot(_snapshot(folder, number))
    path = _arrays(folder, number)
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            if stored["format"].tolist() != [FORMAT]:
                raise DataError(f"{path} has a format this version does not know", hint="update findback, or delete it")
            ids, runs, words = stored["ids"].tobytes(), stored["runs"], stored["words"]
            names = [_decode(piece) for piece in _cut(ids, stored["id_lengths"])]
            golds = dict(zip(names, _cut(runs, stored["run_lengths"]), strict=True))
            if runs.dtype != np.uint64 or words.dtype != np.uint64 or words.ndim != 1:
                raise ValueError("not the numbers of words")
    except _DAMAGED:
        raise DataError(f"{path} is damaged", hint="delete it; refresh then tells what it can without") from None
    return Remembered(snapshot, golds, words)


def _cut(whole: _Cut, lengths: Any) -> list[_Cut]:
    ends: list[int] = np.cumsum(lengths).tolist()
    return [whole[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _decode(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass")


def _snapshot(folder: Path, number: int) -> Path:
    return folder / f"{PREFIX}{number}.jsonl"


def _arrays(folder: Path, number: int) -> Path:
    return folder / f"{PREFIX}{number}.npz"
