"""A sorted dictionary of ids, held as bytes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer[Any]]
ByteArray = NDArray[np.uint8]

WIDEST = 512
"""Ids longer than this many bytes are looked up one by one."""
CHUNK = 1 << 15


def encode_name(name: str) -> bytes:
    """Return the bytes an id is stored as; byte order is the order of code points."""
    return name.encode("utf-8", "surrogatepass")


class Names:
    """Distinct ids in the order of their code points, numbered from 0.

    A million ids are one byte array and its offsets: they load by mapping, without making a
    million strings. Because they are sorted, comparing two numbers compares the ids.

    >>> names = Names.of(["b", "a", "b"])
    >>> len(names), names[1], names.find(["b", "z"]).tolist()
    (2, 'b', [1, -1])
    """

    __slots__ = ("letters", "starts")

    def __init__(self, letters: ByteArray, starts: NDArray[np.int64]) -> None:
        self.letters = letters
        """All ids one after the other, UTF-8."""
        self.starts = starts
        """Where each id starts; one more entry than ids."""

    @classmethod
    def of(cls, names: Iterable[str]) -> "Names":
        """Return the dictionary of these ids."""
        return cls.joined([encode_name(name) for name in sorted(set(names))])

    @classmethod
    def joined(cls, names: Sequence[bytes]) -> "Names":
        """Return the dictionary of ids that are already encoded, sorted and distinct."""
        starts = np.zeros(len(names) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, names), dtype=np.int64, count=len(names)), out=starts[1:])
        return cls(np.frombuffer(b"".join(names), dtype=np.uint8), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, code: int) -> str:
        return self._bytes(int(code)).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (self[code] for code in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Names):
            return NotImplemented
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.letters, other.letters)

    __hash__ = None  # type: ignore[assignment]

    def _bytes(self, code: int) -> bytes:
        if not 0 <= code < len(self):
            raise IndexError(code)
        return self.letters[self.starts[code] : self.starts[code + 1]].tobytes()

    def find(self, names: Sequence[str]) -> NDArray[np.int32]:
        """Return the number of each id, -1 for those that are not here."""
        keys = [encode_name(name) for name in names]
        found = np.full(len(keys), -1, dtype=np.int32)
        if not len(self):
            return found
        for at in range(0, len(keys), CHUNK):
            chunk = keys[at : at + CHUNK]
            if max(map(len, chunk)) > WIDEST:
                found[at : at + CHUNK] = [self._find_one(key) for key in chunk]
            else:
                found[at : at + CHUNK] = self._find_all(chunk)
        return found

    def _find_one(self, key: bytes) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < key:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self._bytes(low) == key else -1

    def _find_all(self, keys: Sequence[bytes]) -> NDArray[np.int32]:
        lengths = np.fromiter(map(len, keys), dtype=np.int64, count=len(keys))
        width = max(1, int(lengths.max()))
        wanted = np.array(keys, dtype=f"S{width}")
        low = np.zeros(len(keys), dtype=np.int64)
        high = np.full(len(keys), len(self), dtype=np.int64)
        for _ in range(len(self).bit_length()):
            middle = np.minimum((low + high) // 2, len(self) - 1)
            here, here_lengths = self._window(middle, width)
            # Padding hides trailing NUL bytes and what is cut off: the length decides then.
            less = (here < wanted) | ((here == wanted) & (here_lengths < lengths))
            open_ = low < high
            low = np.where(open_ & less, middle + 1, low)
            high = np.where(open_ & ~less, middle, high)
        at = np.minimum(low, len(self) - 1)
        here, here_lengths = self._window(at, width)
        return np.where((here == wanted) & (here_lengths == lengths), at, -1).astype(np.int32)

    def _window(self, codes: NDArray[np.int64], width: int) -> tuple[NDArray[np.bytes_], NDArray[np.int64]]:
        begins = self.starts[codes]
        lengths = self.starts[codes + 1] - begins
        columns = np.arange(width)
        rows = (
            self.letters[np.minimum(begins[:, None] + columns, max(0, len(self.letters) - 1))]
            if len(self.letters)
            else np.zeros((len(codes), width), dtype=np.uint8)
        )
        rows[columns >= lengths[:, None]] = 0
        return np.ascontiguousarray(rows).view(f"S{width}")[:, 0], lengths
