"""What a corpus held at a time: ids and text digests, and what changed between two times."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import orjson

from findback.corpus.corpus import digest_all, digest_text
from findback.corpus.findings import Findings
from findback.corpus.textfile import read_lines
from findback.errors import DataError, MissingError
from findback.files import open_atomically, private_folder

SNAPSHOT_FORMAT = 1
_SHA256 = re.compile(r"[0-9a-f]{64}")
_EMPTY = digest_text("")


class Digested(Protocol):
    """A corpus that knows the digests of its texts."""

    @property
    def digest(self) -> str:
        """Digest over ids and texts."""
        ...

    @property
    def text_digests(self) -> Mapping[str, str]:
        """The sha256 of each document's text, by id."""
        ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The documents of a corpus at a time."""

    taken: datetime
    """In UTC."""
    documents: Mapping[str, str]
    """Id to sha256 of the text, in the order of ids."""
    digest: str
    """Digest over all of them; the same as the corpus'."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a later snapshot has that an earlier one has not, and the other way round."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Same id, other text."""
    moved: tuple[tuple[str, str], ...] = ()
    """Old id and new id of the same text."""
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything differs."""
        return bool(self.added or self.changed or self.moved or self.removed)


def take_snapshot(corpus: Digested, *, now: datetime) -> Snapshot:
    """Return the corpus' ids and text digests as of `now`."""
    documents = {name: corpus.text_digests[name] for name in sorted(corpus.text_digests)}
    return Snapshot(now.astimezone(UTC), documents, corpus.digest)


def save_snapshot(snapshot: Snapshot, path: Path) -> None:
    """Write a snapshot as JSON Lines, a header first; whole or not at all.

    Raises:
        StorageError: If the disk refuses.
    """
    private_folder(path.parent)
    with open_atomically(path, private=True) as file:
        file.writelines(_lines(snapshot))


def load_snapshot(path: Path) -> Snapshot:
    """Return a saved snapshot.

    Raises:
        MissingError: If there is none.
        DataError: If it is damaged, altered, or of a format this version does not know.
    """
    if not path.is_file():
        raise MissingError(f"there is no snapshot {path}", hint="read the corpus once to take one")
    findings = Findings(skip_bad=True)
    lines = read_lines(path, str(path), findings)
    header = _read_header(next(lines, (1, ""))[1], path)
    documents: dict[str, str] = {}
    for number, line in lines:
        row = _read_row(line)
        if row is None:
            findings.fault(str(path), number, "not an id with its sha256")
            continue
        if row[0] in documents:
            findings.fault(str(path), number, "an id that was there before")
        documents[row[0]] = row[1]
    if not findings.faults and digest_all(documents) != header[1]:
        findings.fault(str(path), 1, "the digest does not fit the lines below it: cut short, or altered")
    if findings.faults:
        raise DataError(
            "the snapshot is damaged",
            faults=findings.faults,
            hint="delete it; reading the corpus takes another, only the comparison with this one is lost",
        )
    return Snapshot(header[0], documents, header[1])


def compare_snapshots(old: Snapshot, new: Snapshot, *, renames: Mapping[str, str] | None = None) -> Changes:
    """Return what was added, changed, moved and removed, each in the order of ids.

    Args:
        old: The earlier one.
        new: The later one.
        renames: Old id to new id where a rename is known, from git or redirects; such a document counts as
        moved even
            when its text changed too.

    Of several documents with the same text the first old id goes with the first new one. Documents without
    text are never taken as moved by their text.
    """
    gone = [name for name in old.documents if name not in new.documents]
    come = {name for name in new.documents if name not in old.documents}
    moved: list[tuple[str, str]] = []
    for name in sorted(gone):
        target = (renames or {}).get(name)
        if target in come:
            moved.append((name, target))
            come.discard(target)
    known = {name for name, _ in moved}
    waiting: dict[str, list[str]] = {}
    for name in sorted(come, reverse=True):
        waiting.setdefault(new.documents[name], []).append(name)
    for name in sorted(gone):
        digest = old.documents[name]
        if name not in known and digest != _EMPTY and waiting.get(digest):
            moved.append((name, waiting[digest].pop()))
    left = {name for name, _ in moved}
    arrived = {name for _, name in moved}
    return Changes(
        added=tuple(sorted(name for name in new.documents if name not in old.documents and name not in arrived)),
        changed=tuple(
            sorted(name for name, digest in new.documents.items() if old.documents.get(name, digest) != digest)
        ),
        moved=tuple(sorted(moved)),
        removed=tuple(sorted(name for name in gone if name not in left)),
    )


def _lines(snapshot: Snapshot) -> Iterator[bytes]:
    header = {
        "format": SNAPSHOT_FORMAT,
        "taken": snapshot.taken.isoformat(),
        "documents": len(snapshot.documents),
        "digest": snapshot.digest,
    }
    yield orjson.dumps(header) + b"\n"
    for name, digest in snapshot.documents.items():
        yield orjson.dumps({"id": name, "sha256": digest}) + b"\n"


def _read_row(line: str) -> tuple[str, str] | None:
    try:
        row = orjson.loads(line)
        name, digest = row["id"], row["sha256"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    good = isinstance(name, str) and isinstance(digest, str) and _SHA256.fullmatch(digest)
    return (name, digest) if good else None


def _read_header(line: str, path: Path) -> tuple[datetime, str]:
    try:
        header = orjson.loads(line)
        found = header["format"]
        if found == SNAPSHOT_FORMAT:
            return datetime.fromisoformat(header["taken"]).astimezone(UTC), str(header["digest"])
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        raise DataError(f"{path} is no snapshot", hint="delete it; reading the corpus takes another") from None
    raise DataError(
        f"{path} has format {found!r}, this version knows {SNAPSHOT_FORMAT}",
        hint="a newer findback wrote it: update, or delete it",
    )
