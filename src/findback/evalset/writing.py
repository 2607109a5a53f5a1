"""Files of a set, written whole or not at all."""

from collections.abc import Iterable
from pathlib import Path

from findback.files import open_atomically, storage_errors


def write_pieces(path: Path, pieces: Iterable[str | bytes]) -> None:
    """Write a file piece by piece, its folder made where needed; text is UTF-8.

    Raises:
        StorageError: If the disk refuses; the old file, if any, is then as it was.
    """
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with open_atomically(path) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8") if isinstance(piece, str) else piece)
