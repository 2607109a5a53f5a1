"""Runs on disk: one file, read by mapping it."""

import json
import mmap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from findback.errors import DataError, MissingError, StorageError
from findback.model.names import Names, encode_name
from findback.model.run import FAILED, Run

FORMAT = 1
MAGIC = b"findback run\n"
_ALIGNED = 64
_LENGTH = 8
_HINT = "make the run again, or use the findback that wrote it"

_COLUMNS = {
    "starts": "<i8",
    "codes": "<i4",
    "scores": "<f8",
    "passage": "<i4",
    "spans": "<i8",
    "latency": "<f8",
    "ended": "|i1",
    "reason": "<i4",
    "abstained": "|b1",
    "exhausted": "|b1",
}
"""Fields of a run that are arrays, with their type in the file."""
_TABLES = ("documents", "queries", "passages")
"""Fields that are texts: their letters, and where each starts."""
_PLAIN = (
    "name",
    "kind",
    "direction",
    "order",
    "distinct",
    "reasons",
    "config_digest",
    "system_digest",
    "created",
    "depth",
)
"""Fields that stand in the header."""


class RunSummary(TypedDict):
    """What a stored run says about itself without being read whole."""

    retriever: str
    questions: int
    failed: int
    depth: int | None
    created: str | None


def save_run(run: Run, path: Path) -> None:
    """Write a run into one file that only its owner may read, whole or not at all.

    Raises:
        StorageError: If the disk refuses.
    """
    from findback.files import open_atomically  # noqa: PLC0415  (reading a run has no use for it)

    arrays = {name: np.ascontiguousarray(values) for name, values in _columns(run)}
    places: dict[str, tuple[int, int]] = {}
    end = 0
    for name, values in arrays.items():
        places[name] = (end, values.size)
        end += -(-values.nbytes // _ALIGNED) * _ALIGNED
    header = {
        "format": FORMAT,
        **{name: getattr(run, name) for name in _PLAIN},
        "questions": len(run),
        "failed": 0 if run.ended is None else int((run.ended == FAILED).sum()),
        "arrays": places,
    }
    text = json.dumps(header).encode()
    text += b" " * (-(len(MAGIC) + _LENGTH + len(text)) % _ALIGNED)
    with open_atomically(path, private=True) as file:
        file.write(MAGIC + len(text).to_bytes(_LENGTH, "little") + text)
        for values in arrays.values():
            file.write(values.data.cast("B") if values.nbytes else b"")
            file.write(bytes(-values.nbytes % _ALIGNED))


def _columns(run: Run) -> list[tuple[str, NDArray[Any]]]:
    found = [(name, getattr(run, name)) for name in _COLUMNS]
    columns = [(name, values.astype(_COLUMNS[name], copy=False)) for name, values in found if values is not None]
    tables = [
        ("documents", run.documents),
        ("queries", _pack(run.queries)),
        ("passages", _pack(run.passages)),
    ]
    for name, names in tables:
        columns += [
            (f"{name}.letters", names.letters),
            (f"{name}.starts", names.starts.astype("<i8", copy=False)),
        ]
    return columns


def _pack(texts: Sequence[str]) -> Names:
    return Names.joined([encode_name(text) for text in texts])


def read_run_summary(path: Path) -> RunSummary:
    """Return what a stored run says about itself.

    Raises:
        MissingError: If there is no such file.
        DataError: If it is no run, of a format this findback does not know, or damaged.
    """
    with _map(path) as mapped:
        header, _ = _read_header(path, mapped)
    kinds = {"name": str, "questions": int, "failed": int, "depth": int | None, "created": str | None}
    if not all(name in header and isinstance(header[name], kind) for name, kind in kinds.items()):
        raise DataError(f"{path} is damaged: its header does not say what a run's does", hint=_HINT)
    return RunSummary(
        retriever=header["name"],
        questions=header["questions"],
        failed=header["failed"],
        depth=header["depth"],
        created=header["created"],
    )


def load_run(path: Path) -> Run:
    """Return a stored run; its arrays stay on disk until they are looked at.

    Raises:
        MissingError: If there is no such file.
        DataError: If it is no run, of another format, or damaged.
    """
    mapped = _map(path)
    header, begin = _read_header(path, mapped)
    try:
        arrays = {name: _view(mapped, begin, name, *place) for name, place in header["arrays"].items()}
        names = {name: Names(arrays[f"{name}.letters"], arrays[f"{name}.starts"]) for name in _TABLES}
        fields: dict[str, Any] = {name: header[name] for name in _PLAIN}
        fields |= {name: values for name, values in arrays.items() if name in _COLUMNS}
        run = Run(
            **{**fields, "reasons": tuple(header["reasons"])},
            documents=names["documents"],
            queries=tuple(names["queries"]),
            passages=tuple(names["passages"]),
        )
        _check(run, names)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError):
        raise DataError(f"{path} is damaged: its arrays do not fit together", hint=_HINT) from None
    return run


def _map(path: Path) -> mmap.mmap:
    try:
        if path.exists() and not path.is_file():
            raise DataError(f"{path} is not a regular file, and no run", hint="findback runs --remove removes it")
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise MissingError(f"there is no run {path}") from None
    except ValueError:
        raise DataError(f"{path} is empty", hint=_HINT) from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {(error.strerror or '').lower()}") from None


def _read_header(path: Path, mapped: mmap.mmap) -> tuple[Mapping[str, Any], int]:
    if mapped[: len(MAGIC)] != MAGIC:
        raise DataError(f"{path} is not a stored run", hint="TREC, JSON Lines and CSV runs are retrievers of kind file")
    begin = len(MAGIC) + _LENGTH
    end = begin + int.from_bytes(mapped[len(MAGIC) : begin], "little")
    try:
        header = json.loads(mapped[begin:end])
    except (ValueError, RecursionError):
        raise DataError(f"{path} is damaged: its header cannot be read", hint=_HINT) from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found = header.get("format") if isinstance(header, dict) else None
        raise DataError(f"{path} is a run of format {found}; this findback reads {FORMAT}", hint=_HINT)
    return header, end


def _view(mapped: mmap.mmap, begin: int, name: str, offset: int, size: int) -> NDArray[Any]:
    kind = _COLUMNS.get(name) or ("|u1" if name.endswith(".letters") else "<i8")
    if size == 0:
        values: NDArray[Any] = np.empty(0, dtype=kind)
    else:
        values = np.frombuffer(mapped, dtype=kind, count=size, offset=begin + offset)
    return values.reshape(-1, 2) if name == "spans" else values


def _check(run: Run, names: Mapping[str, Names]) -> None:
    """Raise ValueError where arrays contradict each other, so that nothing is read out of bounds later."""
    rows, queries = len(run.codes), len(run)
    by_row = (run.scores, run.passage, run.spans)
    by_query = (run.latency, run.ended, run.reason, run.abstained, run.exhausted)
    fits = (
        all(values is None or len(values) == rows for values in by_row)
        and all(values is None or len(values) == queries for values in by_query)
        and len(run.starts) == queries + 1
        and _rises(run.starts, rows)
        and all(_rises(table.starts, len(table.letters)) for table in names.values())
        and _within(run.codes, 0, len(run.documents))
        and (run.passage is None or _within(run.passage, -1, len(run.passages)))
        and (run.reason is None or _within(run.reason, -1, len(run.reasons)))
        and run.order in ("given", "score")
        and run.direction in ("higher", "lower", None)
    )
    if not fits:
        raise ValueError


def _rises(starts: NDArray[Any], end: int) -> bool:
    return bool(starts[0] == 0 and starts[-1] == end and (np.diff(starts) >= 0).all())


def _within(values: NDArray[Any], low: int, high: int) -> bool:
    return not len(values) or bool(values.min() >= low and values.max() < high)
