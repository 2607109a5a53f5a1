"""A name for a candidate that outlives its workbench: the file it came from, and the place in it.

Keys are keyed digests, and a new workbench has a new key. The same export gives the same file and place.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from findback.model.candidate import Candidate


class References:
    """References of candidates, short but telling them apart."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._by_tail: dict[str, list[str]] = defaultdict(list)
        self._tails: dict[str, list[str]] = {}
        for one in candidates:
            tails = list(_tails(one))
            self._tails[one.key] = tails
            for tail in tails:
                self._by_tail[tail].append(one.key)

    def name(self, key: str) -> str | None:
        """Return the shortest reference that only this candidate has, such as `slack.zip!ask/2026-02-03.json#4`.

        None where it came from no file, or another has the same place.
        """
        return next((tail for tail in self._tails.get(key, ()) if len(self._by_tail[tail]) == 1), None)

    def find(self, reference: str) -> list[str]:
        """Return the keys of the candidates that a reference fits; it may be longer or shorter than `name`."""
        return list(self._by_tail.get(reference.strip().replace("\\", "/"), ()))


def _tails(candidate: Candidate) -> Iterator[str]:
    """Yield where a candidate came from: first the file alone, then with each folder above it."""
    if candidate.file is None or candidate.offset is None:
        return
    archive, mark, member = candidate.file.replace("\\", "/").partition("!")
    parts = archive.split("/")
    for count in range(1, len(parts) + 1):
        yield f"{'/'.join(parts[-count:])}{mark}{member}#{candidate.offset}"
