"""Large sets measured in two halves, by two processes where that is allowed.

A set counts as large from 20,000 documents and wordings on. It is then always measured in the same two halves of
the corpus, each half drawing its chance floors from its own documents, so that the figures do not depend on how
many processes there are. Document frequencies are those of the whole corpus.
"""

import pickle
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, NamedTuple

from findback.measure.rarity import DocumentFrequencies
from findback.measure.ruler import DRAWS, Pool, code_pool
from findback.measure.yardstick import Measured, SetMeasured, Wording, measure_set

LARGE = 20_000
"""Documents, and wordings, from which a set is measured in halves."""


class Corpus(NamedTuple):
    """The documents of a corpus, not yet cut into words."""

    texts: Sequence[str]
    languages: Sequence[str | None] | None = None
    """One a document, None where unknown; guessed when left out."""
    groups: Sequence[int] | None = None
    """One number a document, equal for near-duplicates; each document is alone when left out."""


class _Half(NamedTuple):
    corpus: Corpus
    wordings: list[Wording]
    cases: list[int]
    """Which of the whole set's wordings these are."""
    window: int
    seed: int
    draws: int


def measure_large_set(
    wordings: Sequence[Wording],
    corpus: Corpus,
    *,
    window: int,
    seed: int,
    draws: int = DRAWS,
    processes: int = 1,
) -> SetMeasured:
    """Return what `measure_set` does, quicker for large sets.

    Args:
        wordings: As there; `document` is a position in the corpus.
        corpus: The documents.
        window: As there.
        seed: As there.
        draws: As there.
        processes: 2 lets a child process measure one half of a large set; the result is the same.

    Raises:
        OSError: If the child process cannot be started or dies.
    """
    if len(corpus.texts) < LARGE or len(wordings) < LARGE:
        return measure_set(wordings, code_pool(*corpus), window=window, seed=seed, draws=draws)
    own, other = (_take_half(wordings, corpus, number, (window, seed, draws)) for number in (0, 1))
    measured = _measure_with_child(own, other) if processes > 1 else _measure_alone(own, other)
    rows: list[Measured | None] = [None] * len(wordings)
    for half, result in zip((own, other), measured, strict=True):
        for case, row in zip(half.cases, result.rows, strict=True):
            rows[case] = row
    return SetMeasured(
        rows=tuple(row for row in rows if row is not None),
        window=window,
        draws=draws,
        seed=seed,
        documents=len(corpus.texts),
        corpus_decides=any(result.corpus_decides for result in measured),
    )


def _take_half(wordings: Sequence[Wording], corpus: Corpus, number: int, settings: tuple[int, int, int]) -> _Half:
    documents = [at for at in range(len(corpus.texts)) if _half_of(at) == number]
    places = {document: at for at, document in enumerate(documents)}
    cases = [
        case
        for case, wording in enumerate(wordings)
        if _half_of(case if wording.document is None else wording.document) == number
    ]
    taken = Corpus(
        [corpus.texts[at] for at in documents],
        None if corpus.languages is None else [corpus.languages[at] for at in documents],
        None if corpus.groups is None else [corpus.groups[at] for at in documents],
    )
    own = [
        wording if wording.document is None else wording._replace(document=places[wording.document])
        for wording in (wordings[case] for case in cases)
    ]
    return _Half(taken, own, cases, *settings)


def _half_of(position: int) -> int:
    """Return 0 or 1 in no order that a corpus could have."""
    return (position * 2_654_435_761 >> 16) & 1


def _measure_half(half: _Half, pool: Pool, frequencies: DocumentFrequencies) -> SetMeasured:
    return measure_set(
        half.wordings, pool, window=half.window, seed=half.seed, frequencies=frequencies, draws=half.draws
    )


def _measure_alone(own: _Half, other: _Half) -> tuple[SetMeasured, SetMeasured]:
    pools = [code_pool(*half.corpus) for half in (own, other)]
    frequencies = pools[0].coded.count_documents()
    frequencies.merge(pools[1].coded.count_documents())
    return _measure_half(own, pools[0], frequencies), _measure_half(other, pools[1], frequencies)


def _measure_with_child(own: _Half, other: _Half) -> tuple[SetMeasured, SetMeasured]:
    """Measure one half here and the other in a child, which hands its document frequencies over in between."""
    command = [sys.executable, "-P", "-m", "findback.measure.halves"]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child,  # noqa: S603 -- ourselves
        ThreadPoolExecutor(1) as aside,
    ):
        if child.stdin is None or child.stdout is None:
            raise OSError("the child process has no pipes")
        try:
            sent = aside.submit(_send, child.stdin, other)
            pool = code_pool(*own.corpus)
            frequencies = pool.coded.count_documents()
            sent.result()
            frequencies.merge(_receive(child.stdout))
            _send(child.stdin, frequencies)
            answered = aside.submit(_receive, child.stdout)
            return _measure_half(own, pool, frequencies), answered.result()
        except (EOFError, BrokenPipeError) as error:
            raise OSError("the child process that measured half of the set died") from error
        finally:
            child.stdin.close()


def _send(pipe: IO[bytes], record: object) -> None:
    pickle.dump(record, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    return pickle.load(pipe)  # noqa: S301 -- from our own child only


def _serve() -> None:
    """Measure the half that the parent sends."""
    half = _receive(sys.stdin.buffer)
    pool = code_pool(*half.corpus)
    _send(sys.stdout.buffer, pool.coded.count_documents())
    _send(sys.stdout.buffer, _measure_half(half, pool, _receive(sys.stdin.buffer)))


if __name__ == "__main__":
    _serve()
