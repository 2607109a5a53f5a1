"""A control sample: questions that did not fail, drawn by lot whatever their order."""

import hashlib
import heapq
from collections.abc import Iterator

from findback.model.found import Found


class ControlSample:
    """Keeps the `size` questions with the lowest numbers; a number comes from seed, source and id alone."""

    def __init__(self, size: int, *, seed: int = 0) -> None:
        self.size = size
        self.offered = 0
        """Questions that did not fail."""
        self._seed = seed
        self._kept: list[tuple[int, str, Found]] = []

    def wants(self, source: str, identity: str) -> bool:
        """Return whether a question would be kept, before the trouble of building it; counts it as offered."""
        self.offered += 1
        if self.size <= 0:
            return False
        return len(self._kept) < self.size or self._number(source, identity) < -self._kept[0][0]

    def add(self, found: Found) -> None:
        """Keep a question that is wanted, and let go of the one with the highest number."""
        entry = (-self._number(found.source, found.id), found.id, found)
        if len(self._kept) < self.size:
            heapq.heappush(self._kept, entry)
        else:
            heapq.heapreplace(self._kept, entry)

    def __iter__(self) -> Iterator[Found]:
        """Yield the sample, by number."""
        for _, _, found in sorted(self._kept, key=lambda entry: (-entry[0], entry[1])):
            yield found

    def _number(self, source: str, identity: str) -> int:
        digest = hashlib.blake2b(f"{self._seed}\0{source}\0{identity}".encode("utf-8", "surrogatepass"), digest_size=8)
        return int.from_bytes(digest.digest(), "big")
