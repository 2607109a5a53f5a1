"""Vectors by the digest of their text, kept in one private file per model."""

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from findback.errors import StorageError
from findback.files import private_folder

ASKED_AT_ONCE = 500
WAIT_SECONDS = 30

Rows = NDArray[np.float32] | NDArray[np.float16]


class VectorStore:
    """Keeps arrays of one width: a text's vector, or one row per token. In memory only where there is no path.

    What was written stays when the process is killed, so embedding goes on where it stopped.
    """

    def __init__(self, path: Path | None, *, half: bool = False) -> None:
        self._type = np.dtype(np.float16 if half else np.float32)
        self._lock = Lock()
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def read(self, digests: Sequence[bytes]) -> dict[bytes, Rows]:
        """Return what is kept under these digests."""
        found: dict[bytes, Rows] = {}
        with self._lock:
            connection = self._open()
            for at in range(0, len(digests), ASKED_AT_ONCE):
                asked = digests[at : at + ASKED_AT_ONCE]
                places = ",".join("?" * len(asked))
                rows = connection.execute(
                    f"SELECT digest, width, data FROM vectors WHERE digest IN ({places})",  # noqa: S608 (question marks)
                    asked,
                )
                for digest, width, data in rows:
                    found[digest] = np.frombuffer(data, dtype=self._type).reshape(-1, width)
        return found

    def write(self, vectors: Iterable[tuple[bytes, Rows]]) -> None:
        """Keep arrays under their digests.

        Raises:
            StorageError: If the disk refuses.
        """
        rows = [
            (digest, array.shape[-1], np.ascontiguousarray(array, dtype=self._type).tobytes())
            for digest, array in vectors
        ]
        with self._lock:
            connection = self._open()
            try:
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            except sqlite3.OperationalError as error:
                raise StorageError(f"cannot write {self._path}: {error}") from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = self._connect()
            except sqlite3.DatabaseError:
                # A damaged cache is thrown away: everything in it can be made again.
                if self._path is None:
                    raise
                for suffix in ("", "-wal", "-shm"):
                    self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
                self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        if self._path is not None:
            private_folder(self._path.parent)
        try:
            connection = sqlite3.connect(self._path or ":memory:", timeout=WAIT_SECONDS, check_same_thread=False)
        except sqlite3.OperationalError as error:
            raise StorageError(f"cannot open {self._path}: {error}") from None
        try:
            if self._path is not None:
                self._path.chmod(0o600)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors "
                "(digest BLOB PRIMARY KEY, width INTEGER NOT NULL, data BLOB NOT NULL) WITHOUT ROWID"
            )
            connection.execute("SELECT digest, width FROM vectors LIMIT 1").fetchone()
        except BaseException:
            with suppress(sqlite3.Error):
                connection.close()
            raise
        return connection


def digest_of(text: str) -> bytes:
    """Return the digest a text's vectors are kept under: 16 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def stack(digests: Sequence[bytes], vectors: Mapping[bytes, Rows]) -> NDArray[np.float32]:
    """Return one row per digest, in order."""
    width = next(iter(vectors.values())).shape[-1] if vectors else 0
    matrix = np.empty((len(digests), width), dtype=np.float32)
    for row, digest in enumerate(digests):
        matrix[row] = vectors[digest].reshape(-1)
    return matrix
