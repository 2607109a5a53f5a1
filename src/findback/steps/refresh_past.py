"""What is known of the documents of earlier releases: from the releases themselves, and from what was remembered."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from findback.corpus.corpus import Corpus
from findback.corpus.remembered import Remembered, list_remembered, load_remembered, save_remembered
from findback.corpus.snapshot import Snapshot, load_snapshot, take_snapshot
from findback.errors import FindbackError
from findback.evalset.manifest import Manifest, read_manifest
from findback.evalset.release import DOCUMENTS, GoldDocument, list_numbers, read_rows, release_folder
from findback.measure.fates import Standing
from findback.model.document import Document
from findback.steps.changes import FILE as LAST_READ
from findback.text.runs import Hashes, WordHashes
from findback.text.words import words
from findback.workspace import Workspace

PLACE = "snapshots"


class PastGold(NamedTuple):
    """A gold document as it was in a release."""

    release: int
    sha256: str
    runs: Hashes | None
    """Numbers of its runs of words; None where nothing was remembered."""


class Past(NamedTuple):
    """Everything known of earlier releases."""

    newest: Manifest
    golds: Mapping[str, Sequence[PastGold]]
    """By the id that labels use, release by release; those that never were in the corpus are absent."""
    remembered: Mapping[int, Remembered]
    """By release, rising; without those that are damaged."""
    notes: tuple[str, ...]

    def gold_of(self, document: str, release: int | None) -> PastGold | None:
        """Return a gold as it was when it was labelled: in the first release since that is remembered.

        Where none is, only its digest is known, of the newest release that has one. None where no release has.
        """
        listed = [one for one in self.golds.get(document, ()) if one.release >= (release or 1)]
        return next((one for one in listed if one.runs is not None), listed[-1] if listed else None)

    def snapshot_of(self, release: int | None) -> Snapshot | None:
        """Return the corpus as it was at a release; else at the next later one that is remembered, or None."""
        later = [number for number in self.remembered if number >= (release or 1)]
        return self.remembered[min(later)].snapshot if later else None


def remember_corpus(
    workspace: Workspace, number: int, golds: Iterable[str], documents: Corpus, *, now: datetime
) -> None:
    """Keep of the corpus what `findback refresh` compares with later: digests of texts, words and runs of words.

    Args:
        workspace: Whose private folder keeps it.
        number: The release that was made on these documents.
        golds: Gold documents, as labels name them.
        documents: The corpus.
        now: When.

    Raises:
        StorageError: If the disk refuses.
    """
    hashes = WordHashes()
    for document in documents:
        hashes.hash_words(words(document.text))
    vocabulary = np.unique(np.fromiter(hashes.values(), dtype=np.uint64, count=len(hashes)))
    named = {gold: documents.resolve(gold) for gold in sorted(set(golds))}
    runs = {
        gold: hashes.hash_runs(found.text)
        for gold, name in named.items()
        if name is not None and (found := documents.get(name)) is not None
    }
    save_remembered(
        Remembered(take_snapshot(documents, now=now), runs, vocabulary), workspace.private_part(PLACE), number
    )


def recall_past(workspace: Workspace, golds: Iterable[str], documents: Corpus, *, now: datetime) -> Past | None:
    """Return what is known of earlier releases; None where nothing was released.

    Where the newest release was made on the very documents there are now, and nothing was remembered of it, that is
    made up for.

    Raises:
        DataError: If a release is not as it was published.
        StorageError: If the disk refuses.
    """
    numbers = list_numbers(workspace.evalset)
    if not numbers:
        return None
    newest = read_manifest(release_folder(workspace.evalset, numbers[-1]))
    folder = workspace.private_part(PLACE)
    wanted = sorted(set(golds))
    remembered, notes = _load_all(folder, numbers)
    if numbers[-1] not in remembered and newest.corpus == documents.digest:
        remember_corpus(workspace, numbers[-1], wanted, documents, now=now)
        remembered, notes = _load_all(folder, numbers)
    if numbers[-1] not in remembered:
        last = _read_last(folder)
        if last is not None and last.digest == newest.corpus:
            remembered[numbers[-1]] = Remembered(last)
            notes.append(
                f"of release {numbers[-1]} only ids and digests of the documents are kept: texts that were split or"
                " merged are told by quotes alone"
            )
        else:
            notes.append(
                f"nothing is remembered of the documents of release {numbers[-1]}: what is new since, what merged and"
                " split without a quote, and which words vanished cannot be told; the next release remembers them"
            )
    return Past(newest, _find_golds(workspace, wanted, numbers, remembered), remembered, tuple(notes))


def stand(document: str, digests: Mapping[str, str], past: Snapshot | None) -> Standing:
    """Return whether a document of today was there at a time, with the same text."""
    if past is None:
        return "unknown"
    known = past.documents.get(document)
    if known is None:
        return "new"
    return "unchanged" if known == digests.get(document) else "changed"


def list_newer(past: Past, documents: Corpus, release: int | None, *, changed: bool = True) -> frozenset[str]:
    """Return the documents that are new since a release: by their texts where those are remembered, else by times.

    An old text under a new id is not new.

    Args:
        past: What is known of earlier releases.
        documents: The corpus.
        release: The release; the first one that is remembered when None.
        changed: Whether documents that were there with another text count.
    """
    snapshot = past.snapshot_of(release)
    if snapshot is None:
        return frozenset(one.id for one in documents if _is_later(one, past.newest.date, changed=changed))
    digests, known = documents.text_digests, set(snapshot.documents.values())
    wanted = ("new", "changed") if changed else ("new",)
    return frozenset(
        name for name, digest in digests.items() if digest not in known and stand(name, digests, snapshot) in wanted
    )


def touched_on(document: Document) -> datetime | None:
    """Return when a document was last written or changed; None where it does not say."""
    return max((one for one in (document.created, document.modified) if one is not None), default=None)


def _is_later(document: Document, released: date, *, changed: bool) -> bool:
    moment = touched_on(document) if changed else document.created
    return moment is not None and moment.date() > released


def _load_all(folder: Path, numbers: Sequence[int]) -> tuple[dict[int, Remembered], list[str]]:
    found: dict[int, Remembered] = {}
    notes: list[str] = []
    for number in list_remembered(folder):
        if number not in numbers:
            continue
        try:
            found[number] = load_remembered(folder, number)
        except FindbackError:
            # A report is passed on, and where the private folder lies is nobody's business.
            notes.append(
                f"what was remembered of release {number} is damaged, and is not used: delete release-{number}.* under"
                f" {PLACE} in the private folder"
            )
    return found, notes


def _read_last(folder: Path) -> Snapshot | None:
    """Return the corpus as the last evaluation read it; None where that is not known."""
    try:
        return load_snapshot(folder / LAST_READ)
    except FindbackError:
        return None


def _find_golds(
    workspace: Workspace, wanted: Sequence[str], numbers: Sequence[int], remembered: Mapping[int, Remembered]
) -> dict[str, list[PastGold]]:
    found: dict[str, list[PastGold]] = {}
    for number in numbers:
        rows = _read_documents(release_folder(workspace.evalset, number))
        known = remembered.get(number)
        for gold in rows.keys() & set(wanted):
            runs = known.golds.get(gold) if known is not None else None
            found.setdefault(gold, []).append(PastGold(number, rows[gold], runs))
    return found


def _read_documents(folder: Path) -> dict[str, str]:
    rows = read_rows(folder / DOCUMENTS, GoldDocument)
    return {row.id: row.sha256 for row in rows if row.sha256 is not None}
