"""Large sets measured in two halves, by two processes where that is allowed.

A set counts as large from 20,000 documents and wordings on. It is then always measured in the same two halves of
the corpus, each half drawing its chance floors from its own documents, so that the figures do not depend on how
many processes there are. Document frequencies are those of the whole corpus.
"""

import gc
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.measure.rarity import DocumentFrequencies
from findback.measure.ruler import DRAWS, Pool, code_pool
from findback.measure.wordings import Columns, SetMeasured, Wording
from findback.measure.yardstick import measure_columns, measure_set

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


class _MeasuredHalf(NamedTuple):
    cases: list[int]
    """Which of the whole set's wordings were measured."""
    columns: Columns


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
    take = partial(_take_half, wordings, corpus, (window, seed, draws))
    with _no_collection():
        measured = _measure_with_child(take) if processes > 1 else _measure_alone(take)
        return _join_halves(measured, len(corpus.texts))


def _join_halves(measured: tuple[_MeasuredHalf, _MeasuredHalf], documents: int) -> SetMeasured:
    # Where each wording's row is, when those of one half follow those of the other.
    order = np.argsort(np.concatenate([half.cases for half in measured])).tolist()
    rows = [row for half in measured for row in half.columns.rows()]
    articles = [figures for half in measured for figures in half.columns.articles()]
    return SetMeasured(
        rows=tuple(map(rows.__getitem__, order)),
        articles=tuple(map(articles.__getitem__, order)),
        window=measured[0].columns.window,
        draws=measured[0].columns.draws,
        seed=measured[0].columns.seed,
        documents=documents,
        corpus_decides=any(half.columns.corpus_decides for half in measured),
    )


def _take_half(wordings: Sequence[Wording], corpus: Corpus, settings: tuple[int, int, int], number: int) -> _Half:
    documents = _list_half(np.arange(len(corpus.texts)), number)
    places = {document: at for at, document in enumerate(documents)}
    cases = _list_half(
        np.array([case if wording.document is None else wording.document for case, wording in enumerate(wordings)]),
        number,
    )
    own = [wordings[case] for case in cases]
    return _Half(
        Corpus(
            [corpus.texts[at] for at in documents],
            None if corpus.languages is None else [corpus.languages[at] for at in documents],
            None if corpus.groups is None else [corpus.groups[at] for at in documents],
        ),
        [
            wording if wording.document is None else wording._replace(document=places[wording.document])
            for wording in own
        ],
        cases,
        *settings,
    )


def _list_half(documents: NDArray[np.int64], number: int) -> list[int]:
    """Return where the documents of a half stand; which half each is in follows no order that a corpus could have."""
    half = documents * 2_654_435_761 >> 16 & 1
    return list(map(int, np.flatnonzero(half == number)))


def _measure_half(half: _Half, pool: Pool, frequencies: DocumentFrequencies) -> Columns:
    return measure_columns(
        half.wordings, pool, window=half.window, seed=half.seed, frequencies=frequencies, draws=half.draws
    )


def _measure_alone(take: Callable[[int], _Half]) -> tuple[_MeasuredHalf, _MeasuredHalf]:
    own, other = take(0), take(1)
    pools = [code_pool(*half.corpus) for half in (own, other)]
    frequencies = pools[0].coded.count_documents()
    frequencies.merge(pools[1].coded.count_documents())
    return (
        _MeasuredHalf(own.cases, _measure_half(own, pools[0], frequencies)),
        _MeasuredHalf(other.cases, _measure_half(other, pools[1], frequencies)),
    )


def _measure_with_child(take: Callable[[int], _Half]) -> tuple[_MeasuredHalf, _MeasuredHalf]:
    """Measure one half here and the other in a child, which hands its document frequencies over in between."""
    command = [sys.executable, "-P", "-m", "findback.measure.halves"]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child,  # noqa: S603 -- ourselves
        ThreadPoolExecutor(1) as aside,
    ):
        if child.stdin is None or child.stdout is None:
            raise OSError("the child process has no pipes")
        try:
            other = take(1)
            sent = aside.submit(_send, child.stdin, other)
            own = take(0)
            pool = code_pool(*own.corpus)
            frequencies = pool.coded.count_documents()
            sent.result()
            frequencies.merge(_receive(child.stdout))
            _send(child.stdin, frequencies)
            answered = aside.submit(_receive, child.stdout)
            measured = _MeasuredHalf(own.cases, _measure_half(own, pool, frequencies))
            return measured, _MeasuredHalf(other.cases, answered.result())
        except (EOFError, BrokenPipeError) as error:
            raise OSError("the child process that measured half of the set died") from error
        finally:
            child.stdin.close()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector from going through hundreds of thousands of rows, none of them garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _send(pipe: IO[bytes], record: object) -> None:
    pickle.dump(record, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    return pickle.load(pipe)  # noqa: S301 -- from our own child only


def _serve() -> None:
    """Measure the half that the parent sends."""
    with _no_collection():
        half = _receive(sys.stdin.buffer)
        pool = code_pool(*half.corpus)
        _send(sys.stdout.buffer, pool.coded.count_documents())
        _send(sys.stdout.buffer, _measure_half(half, pool, _receive(sys.stdin.buffer)))


if __name__ == "__main__":
    _serve()
