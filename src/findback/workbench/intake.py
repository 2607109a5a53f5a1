"""Taking candidates in: again and again, from exports that overlap, without doubling or bringing back."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime

from sqlalchemy import Connection, update

from findback.model.candidate import Candidate
from findback.workbench.aliases import Directory, remember_aliases
from findback.workbench.blocklist import Blocklist, read_blocklist, read_gone
from findback.workbench.event import add_event
from findback.workbench.people import normalised, without_people
from findback.workbench.rows import StoredCandidate, insert_candidates, read_by_keys, rewrite_candidates
from findback.workbench.state import UNDECIDED
from findback.workbench.tables import CANDIDATES
from findback.workbench.union import unite

BATCH = 200
"""Candidates in one transaction."""


@dataclass(slots=True)
class PutCounts:
    """What became of the candidates given; every one is counted once."""

    new: int = 0
    updated: int = 0
    """Undecided ones that say more or other than before."""
    unchanged: int = 0
    kept_decided: int = 0
    """Ready, rejected or released: they stay as they were decided."""
    excluded: int = 0
    """Asked by somebody, or somewhere, that objected."""
    purged: int = 0
    """Erased earlier, or asked by somebody, or somewhere, that was."""
    merged: int = 0
    """The same question once more in what was given, folded into its first."""

    @property
    def given(self) -> int:
        """Return how many candidates were given."""
        return sum(astuple(self))

    def add(self, other: "PutCounts") -> None:
        """Count those of another batch too."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def put_batch(
    connection: Connection, batch: Sequence[Candidate], seen: set[str], now: datetime, directory: Directory
) -> PutCounts:
    """Store one batch within the caller's transaction.

    Args:
        connection: Transaction of one who writes much.
        batch: Redacted candidates.
        seen: Keys given before in the same call; this batch's are added.
        now: When it happens.
        directory: The people of the source.
    """
    counts = PutCounts()
    blocklist = read_blocklist(connection, directory)
    gone = read_gone(connection, {candidate.key for candidate in batch})
    wanted: dict[str, Candidate] = {}
    repeated: set[str] = set()
    for raw in batch:
        candidate = normalised(raw)
        refusal = _refuse(candidate, blocklist, gone)
        if refusal is not None:
            setattr(counts, refusal, getattr(counts, refusal) + 1)
            continue
        candidate = without_people(candidate, blocklist.people)
        if candidate.key in wanted:
            counts.merged += 1
            wanted[candidate.key] = unite(wanted[candidate.key], candidate)
        else:
            wanted[candidate.key] = candidate
            if candidate.key in seen:
                repeated.add(candidate.key)
    stored = read_by_keys(connection, wanted.keys(), hold=True)
    insert_candidates(connection, [candidate for key, candidate in wanted.items() if key not in stored], now)
    outcomes = _update(connection, stored, wanted, now)
    remember_aliases(connection, directory, directory.concerned(wanted.values()))
    for key in wanted:
        name = "merged" if key in repeated else outcomes.get(key, "new")
        setattr(counts, name, getattr(counts, name) + 1)
    seen.update(wanted)
    if counts.new or counts.updated:
        add_event(connection, "put", now, details={"new": counts.new, "updated": counts.updated})
    return counts


def _refuse(candidate: Candidate, blocklist: Blocklist, gone: set[str]) -> str | None:
    """Return the count a candidate goes to when it may not be stored, else None."""
    asker, container = candidate.asker_hmac, candidate.container_hmac
    if candidate.key in gone or asker in blocklist.purged_people or container in blocklist.purged_containers:
        return "purged"
    if asker in blocklist.excluded_people or container in blocklist.excluded_containers:
        return "excluded"
    return None


def _update(
    connection: Connection, stored: dict[str, StoredCandidate], wanted: dict[str, Candidate], now: datetime
) -> dict[str, str]:
    """Bring what is stored and undecided up to date; return what became of each key."""
    outcomes: dict[str, str] = {}
    changes: list[tuple[StoredCandidate, Candidate]] = []
    for key, known in stored.items():
        candidate = wanted[key]
        if known.state not in UNDECIDED:
            outcomes[key] = "kept_decided"
            continue
        united = unite(known.candidate, candidate)
        here = {"file": candidate.file, "offset": candidate.offset}
        if united.model_copy(update=here) == known.candidate.model_copy(update=here):
            outcomes[key] = "unchanged"
            if (candidate.file, candidate.offset) != (known.candidate.file, known.candidate.offset):
                # The newest export is where the original can still be read.
                values = {"file": candidate.file, "file_offset": candidate.offset}
                connection.execute(update(CANDIDATES).where(CANDIDATES.c.id == known.number).values(**values))
        else:
            outcomes[key] = "updated"
            changes.append((known, united))
    rewrite_candidates(connection, changes, now)
    return outcomes
