"""A plain TREC run, read a block at a time without making a string of each id."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.evalset.trec_ids import LONGEST, CollisionError, IdCoder, gather_words
from findback.evalset.trec_lines import BLOCK, RUN_COLUMNS, DamagedError, read_blocks
from findback.evalset.trec_tokens import Block, parse_numbers, split_block
from findback.measure.ranks import find_repeats
from findback.model.names import Names
from findback.model.run import Run

QUERY, DOCUMENT, SCORE, TAG = 0, 2, 4, 5
_LONGEST_LINES = 4 * BLOCK


class _Columns(NamedTuple):
    """What one block holds."""

    query: NDArray[np.int32]
    document: NDArray[np.int32]
    score: NDArray[np.float64]


def read_plain_run(path: Path) -> Run | None:
    """Return a run all of whose lines are plain; None at the first thing that is not.

    The slow reader then says what is wrong, or reads what is only unusual.
    """
    queries, documents = IdCoder(), IdCoder()
    found: list[_Columns] = []
    tag = b""
    try:
        for text in read_blocks(path):
            plain = b"\0" not in text and len(text) <= _LONGEST_LINES
            block = split_block(text, RUN_COLUMNS) if plain else None
            columns = None if block is None else _read_block(block, queries, documents)
            if block is None or columns is None:
                return None
            if not found and len(columns.score):
                tag = block.letters[block.starts[0, TAG] : block.ends[0, TAG]].tobytes()
            found.append(columns)
        names, places = documents.sorted_names()
        names.letters.tobytes().decode("utf-8")
        return _assemble(tag.decode("utf-8"), queries.names(), names, places, found) if len(names) else None
    except (CollisionError, UnicodeDecodeError, DamagedError):
        return None


def _read_block(block: Block, queries: IdCoder, documents: IdCoder) -> _Columns | None:
    letters, starts, ends = block
    if not len(starts):
        return _Columns(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    if int((ends - starts)[:, (QUERY, DOCUMENT)].max()) > LONGEST:
        return None
    scores = _read_scores(letters, starts[:, SCORE], ends[:, SCORE])
    if scores is None:
        return None
    return _Columns(
        _number_stretches(queries, letters, starts[:, QUERY], ends[:, QUERY]),
        documents.number(letters, starts[:, DOCUMENT], ends[:, DOCUMENT]),
        scores,
    )


def _number_stretches(
    coder: IdCoder, letters: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return numbers of ids that mostly equal the one before, looking up only where they change."""
    lengths = ends - starts
    change = np.ones(len(starts), dtype=np.bool_)
    change[1:] = lengths[1:] != lengths[:-1]
    for word in gather_words(letters, starts, lengths):
        change[1:] |= word[1:] != word[:-1]
    first = np.flatnonzero(change)
    return np.asarray(coder.number(letters, starts[first], ends[first])[np.cumsum(change) - 1], dtype=np.int32)


def _read_scores(
    letters: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    values, odd = parse_numbers(letters, starts, ends)
    try:
        for at, start, end in zip(odd.tolist(), starts[odd].tolist(), ends[odd].tolist(), strict=True):
            text = letters[start:end].tobytes()
            values[at] = float("nan" if b"_" in text else text)
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _assemble(
    tag: str,
    queries: Sequence[str],
    documents: Names,
    places: NDArray[np.int32],
    found: Sequence[_Columns],
) -> Run | None:
    """Return the run with each query's lines together, or None when a query has a document twice."""
    owner = np.concatenate([columns.query for columns in found])
    codes = np.concatenate([places[columns.document] for columns in found])
    scores = np.concatenate([columns.score for columns in found])
    if (np.diff(owner) < 0).any():
        order = np.argsort(owner, kind="stable")
        owner, codes, scores = owner[order], codes[order], scores[order]
    starts = np.searchsorted(owner, np.arange(len(queries) + 1, dtype=np.int32)).astype(np.int64)
    slots = np.empty(len(documents), dtype=np.int32)
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if find_repeats(codes[begin:end], slots).any():
            return None
    return Run(
        name=tag,
        queries=tuple(queries),
        documents=documents,
        starts=starts,
        codes=codes,
        scores=scores,
        direction="higher",
        order="score",
        distinct=True,
    )
