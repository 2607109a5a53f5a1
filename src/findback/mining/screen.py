"""A quick test of raw texts, to leave out early what no rule can find anything in."""

import heapq
import zlib
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet

from findback.mining.cues import TO_WORDS, Cues, split_raw_words
from findback.mining.folding import fold

_ADDRESS = "://"
_APART = "\0"
_TO_WORDS_APART = _APART.encode() + TO_WORDS[1:]
_MOST_HOSTS = 16
_SPARE = 8
"""How many times as many questions are let through for a control sample as it will hold."""


class Screen:
    """Says which messages may matter: those that hold a link to a document's host, or a cue.

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

    def __call__(self, texts: Sequence[str]) -> list[int]:
        """Return the places of the texts that may matter, in order."""
        return [place for place in self._suspect(texts) if self._may_matter(texts[place])]

    def _suspect(self, texts: Sequence[str]) -> Collection[int]:
        """Return the places of texts worth a closer look; all texts are looked at together, which is quick."""
        joined = _APART.join(texts)
        lines = joined.encode("utf-8", "surrogatepass").translate(_TO_WORDS_APART).split(_APART.encode())
        if len(lines) != len(texts):
            return range(len(texts))
        needless = self._words.isdisjoint
        found = [place for place, line in enumerate(lines) if not needless(line.split())]
        further: set[int] = set()
        if not joined.isascii():
            further.update(place for place, text in enumerate(texts) if not text.isascii())
        for sign in _ADDRESS, *(("?",) if self._wanted else ()):
            if sign in joined:
                further.update(place for place, text in enumerate(texts) if sign in text)
        return sorted(further.union(found)) if further else found

    def _may_matter(self, text: str) -> bool:
        if _ADDRESS in text and (not self._hosts or self._names_host(text)):
            return True
        folded = fold(text)
        # Folding takes accents away, so that words are cut again where it had any to take.
        if self._cues.may_seek(folded, split_raw_words(text if text.isascii() else folded)):
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
