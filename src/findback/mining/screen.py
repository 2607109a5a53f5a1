"""A quick test of raw texts, to leave out early what no rule can find anything in."""

import heapq
import zlib
from collections.abc import Set as AbstractSet

from findback.mining.cues import TO_WORDS, Cues, split_raw_words
from findback.mining.folding import fold

_MOST_HOSTS = 16
_SPARE = 8
"""How many times as many questions are let through for a control sample as it will hold."""


class Screen:
    """Says whether a message may matter: it holds a link to a document's host, or a cue.

    It errs on the side of letting through: vetoes, and what is code or quoted, are looked at later. A seeded share
    of other questions passes too where a control sample is wanted.
    """

    def __init__(self, cues: Cues, *, hosts: AbstractSet[str] = frozenset(), control: int = 0, seed: int = 0) -> None:
        """Prepare the test.

        Args:
            cues: Cues that will be looked for.
            hosts: Hosts of documents; empty to let every link through.
            control: Size of the control sample.
            seed: Of the control sample.
        """
        self._cues = cues
        self._words = cues.words
        self._hosts = tuple(sorted(hosts)) if len(hosts) <= _MOST_HOSTS else ()
        self._wanted = control * _SPARE
        self._lowest: list[int] = []
        self._seed = zlib.crc32(str(seed).encode())

    def __call__(self, text: str) -> bool:
        """Return whether a message may matter."""
        if "/" in text and "://" in text and (not self._hosts or self._names_host(text)):
            return True
        if text.isascii():
            # `split_raw_words` written out: this line runs once for every message of an export.
            words = text.encode().translate(TO_WORDS).split()
            if not self._words.isdisjoint(words) and self._cues.may_seek(fold(text), words):
                return True
        else:
            folded = fold(text)
            if self._cues.may_seek(folded, split_raw_words(folded)):
                return True
        return self._wanted > 0 and "?" in text and self._draw(text)

    def _names_host(self, text: str) -> bool:
        lowered = text.lower()
        return any(host in lowered for host in self._hosts)

    def _draw(self, text: str) -> bool:
        """Keep the questions with the lowest numbers: which ones depends on seed and text, not on their order."""
        number = zlib.crc32(text.encode("utf-8", "surrogatepass"), self._seed)
        if len(self._lowest) < self._wanted:
            heapq.heappush(self._lowest, -number)
            return True
        if number >= -self._lowest[0]:
            return False
        heapq.heapreplace(self._lowest, -number)
        return True
