"""The workbench: candidates with their evidence, decisions, and what must never come back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from findback.errors import UsageError
from findback.model.alias import Alias
from findback.model.candidate import Candidate
from findback.model.protocols import SILENT, Progress
from findback.workbench.aliases import Called, Directory, Identity, identify
from findback.workbench.archive import ArchiveWriter
from findback.workbench.asks import Asks
from findback.workbench.backup import write_tables
from findback.workbench.blocklist import Kind, add_exclusion, add_tombstones
from findback.workbench.cases import Cases
from findback.workbench.database import Database
from findback.workbench.decision import OriginalOutcome, decide_candidate, log_original, missing_candidate
from findback.workbench.deletions import Deletions
from findback.workbench.doubles import Doubles
from findback.workbench.erasure import (
    Erased,
    Retention,
    erase_containers,
    erase_expired,
    erase_people,
    erase_rejected,
)
from findback.workbench.event import Details, Event, add_event, read_events, read_newest
from findback.workbench.false_positives import FalsePositives
from findback.workbench.faults import quietly
from findback.workbench.flags import Flags
from findback.workbench.gone import Erasures
from findback.workbench.intake import BATCH, PutCounts, put_batch
from findback.workbench.jobs import Jobs
from findback.workbench.listing import CandidateFilters, count_states, find_prefix, list_rows
from findback.workbench.queue import Queue
from findback.workbench.reservations import Reservations
from findback.workbench.reviews import Reviews
from findback.workbench.rows import StoredCandidate, in_chunks, read_by_keys
from findback.workbench.same import SameValues
from findback.workbench.scrub import ask_for_scrub, scrub_database
from findback.workbench.sessions import Sessions
from findback.workbench.state import State
from findback.workbench.suggestions import Suggestions
from findback.workbench.texts import StoredText, read_texts
from findback.workbench.tokens import ApiTokens
from findback.workbench.upkeep import Upkeep
from findback.workbench.watermark import Watermark, advance_watermark, read_watermark

EVERYTHING = CandidateFilters()
RETENTION = Retention()


class Workbench(
    Reviews,
    Reservations,
    Queue,
    FalsePositives,
    Asks,
    Flags,
    Suggestions,
    Cases,
    Deletions,
    SameValues,
    Doubles,
    Sessions,
    ApiTokens,
    Jobs,
    Erasures,
    Upkeep,
):
    """An open workbench; several processes may have it open at once."""

    def __init__(self, database: Database, *, backup: Path | None = None) -> None:
        self._database = database
        self.backup = backup
        """Copy of the file before it was brought to today's format; None when it was not."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    @property
    def path(self) -> Path | None:
        """Return the SQLite file; None for a server."""
        return self._database.path

    @quietly("store candidates")
    def put(
        self,
        candidates: Iterable[Candidate],
        *,
        now: datetime,
        batch: int = BATCH,
        people: Mapping[str, Sequence[Alias]] | None = None,
    ) -> PutCounts:
        """Store candidates, in transactions of one batch each.

        Storing the same again changes nothing. What is undecided is brought up to date with new
        replies; what is decided stays; what was erased or objected to does not come in. When it is
        interrupted, the batches before stand, and giving everything again goes on from there.

        Args:
            candidates: Redacted candidates; read a batch at a time.
            now: When it happens.
            batch: Candidates in one transaction.
            people: What the people of their source are called, by the HMAC of their id; kept for those who
                wrote or are named in what is stored.

        Raises:
            StorageError: If the database refuses; the batches before stand.
        """
        counts = PutCounts()
        directory = Directory(people)
        seen: set[str] = set()
        for chunk in in_chunks(candidates, batch):
            with self._database.writing() as connection:
                counts.add(put_batch(connection, chunk, seen, now, directory))
        return counts

    @quietly("list candidates")
    def list_candidates(
        self, filters: CandidateFilters = EVERYTHING, *, limit: int = 50, after: int = 0
    ) -> list[StoredCandidate]:
        """Return candidates in the order they were stored.

        Args:
            filters: Which ones.
            limit: At most so many.
            after: Number of the last one seen, 0 to begin.
        """
        with self._database.reading() as connection:
            return list_rows(connection, filters, limit, after)

    @quietly("count candidates")
    def count(self, filters: CandidateFilters = EVERYTHING) -> dict[State, int]:
        """Return how many candidates are in each state."""
        with self._database.reading() as connection:
            return count_states(connection, filters)

    @quietly("read a candidate")
    def get(self, key: str) -> StoredCandidate:
        """Return a candidate by its key or by a beginning that only it has.

        Raises:
            MissingError: If there is none.
            UsageError: If several begin so.
        """
        with self._database.reading() as connection:
            stored = read_by_keys(connection, [key], hold=False).get(key)
            if stored is not None:
                return stored
            found = list(find_prefix(connection, key)) if key else []
            if len(found) > 1:
                raise UsageError(f"several candidates begin with {key[:12]}", hint="give more of the key")
            if not found:
                raise missing_candidate(key)
            return read_by_keys(connection, found, hold=False)[found[0]]

    @quietly("write down a decision")
    def decide(
        self, key: str, state: State, *, reviewer: str, version: int, now: datetime, reason: str | None = None
    ) -> int:
        """Move a candidate to another state and return its new version.

        Args:
            key: The candidate.
            state: Where it goes.
            reviewer: Who decides, as the login names them.
            version: The version they saw.
            now: When it happens.
            reason: Why, in their words.

        Raises:
            MissingError: If there is no such candidate.
            ConflictError: If somebody changed it since; carries its state and version.
            UsageError: If its state does not lead there.
        """
        with self._database.deciding() as connection:
            return decide_candidate(connection, key, state, reviewer=reviewer, version=version, reason=reason, now=now)

    def reject(self, key: str, reason: str, *, reviewer: str, version: int, now: datetime) -> int:
        """Reject a candidate and return its new version; raises what `decide` does."""
        return self.decide(key, "rejected", reviewer=reviewer, version=version, now=now, reason=reason)

    @quietly("write down that an original was asked for")
    def log_original(
        self, key: str, outcome: OriginalOutcome, *, reviewer: str, now: datetime, reason: str | None = None
    ) -> None:
        """Write down that somebody asked for the words behind a placeholder and why, or whether they saw them.

        Raises:
            MissingError: If there is no such candidate.
        """
        with self._database.deciding() as connection:
            log_original(connection, key, outcome, reviewer=reviewer, reason=reason, now=now)

    @quietly("look a person up")
    def identify(self, called: Sequence[Called]) -> Identity:
        """Return who is meant by what they are called: ids, or what mining stored beside them."""
        with self._database.reading() as connection:
            return identify(connection, called)

    @quietly("write down an objection")
    def exclude(self, kind: Kind, hmac: str | Iterable[str] | Identity, *, now: datetime) -> Erased:
        """Keep people or containers out from now on, and take out what is stored of them.

        Args:
            kind: person or container.
            hmac: Their HMACs: one, or all of one person's; or who was identified.
            now: When it happens.

        Raises:
            StorageError: If the texts are erased but their bytes cannot be overwritten yet.
        """
        who = _identity(hmac)
        with self._database.writing() as connection:
            add_exclusion(connection, kind, who.ids, now)
            add_exclusion(connection, "alias", who.lasting, now)
            erase = erase_people if kind == "person" else erase_containers
            erased = erase(connection, who.values, now, tombstones=False)
            add_event(connection, "exclude", now, details={"kind": kind, **erased._asdict()})
            ask_for_scrub(connection)
        scrub_database(self._database)
        return erased

    @quietly("erase texts")
    def purge(
        self,
        *,
        now: datetime,
        person_hmac: str | Iterable[str] | Identity = (),
        container_hmac: str | Iterable[str] = (),
        rejected: bool = False,
    ) -> Erased:
        """Erase every text of people or containers, or all that was rejected, for good.

        What they asked goes; elsewhere their lines go and the placeholders that stand for them
        forget who it was. Tombstones keep mining from bringing any of it back. Quotes of their words
        inside other people's messages are not known as theirs and stay.

        Raises:
            UsageError: If nothing is named.
            StorageError: If the texts are erased but their bytes cannot be overwritten yet.
        """
        who, containers = _identity(person_hmac), _names(container_hmac)
        if not (who.values or containers or rejected):
            raise UsageError("say what to erase: a person, a channel, or what was rejected")
        with self._database.writing() as connection:
            parts: list[Erased] = []
            if who.values:
                parts.append(erase_people(connection, who.values, now, tombstones=True))
                add_tombstones(connection, "person", who.ids, "purged", now)
                add_tombstones(connection, "alias", who.lasting, "purged", now)
            if containers:
                parts.append(erase_containers(connection, containers, now, tombstones=True))
                add_tombstones(connection, "container", containers, "purged", now)
            if rejected:
                parts.append(erase_rejected(connection, now))
            erased = Erased(*map(sum, zip(*parts, strict=True)))
            add_event(connection, "purge", now, details=erased._asdict())
            ask_for_scrub(connection)
        scrub_database(self._database)
        return erased

    @quietly("take out what is over its time")
    def sweep_retention(self, now: datetime, retention: Retention = RETENTION) -> Erased:
        """Take out what was kept long enough; what goes does not come back by mining again.

        Raises:
            StorageError: If the texts are erased but their bytes cannot be overwritten yet.
        """
        with self._database.writing() as connection:
            erased = erase_expired(connection, retention, now)
            if erased:
                add_event(connection, "retention", now, details=erased._asdict())
                ask_for_scrub(connection)
        if erased:
            scrub_database(self._database)
        return erased

    def back_up(self, archive: ArchiveWriter, progress: Progress = SILENT) -> None:
        """Write every table as it is now; whoever writes meanwhile waits for nothing.

        Raises:
            StorageError: If the database refuses.
        """
        write_tables(self._database, archive, progress)

    @quietly("write down what happened")
    def log(self, kind: str, *, now: datetime, details: Details) -> None:
        """Add to the event log; details are counts and states, never a text."""
        with self._database.deciding() as connection:
            add_event(connection, kind, now, details=details)

    @quietly("overwrite what was erased")
    def scrub(self) -> None:
        """Overwrite the bytes of what was erased, where an erasure could not."""
        scrub_database(self._database)

    def texts(self) -> Iterator[StoredText]:
        """Yield every text the workbench holds; nothing is locked while the caller looks at them."""
        after: int | None = 0
        while after is not None:
            found, after = self._texts_after(after)
            yield from found

    @quietly("read texts")
    def _texts_after(self, after: int) -> tuple[list[StoredText], int | None]:
        with self._database.reading() as connection:
            return read_texts(connection, after)

    @quietly("read the event log")
    def events(self, *, limit: int = 1000, after: int = 0) -> list[Event]:
        """Return what happened, oldest first, from the one after `after` on."""
        with self._database.reading() as connection:
            return list(read_events(connection, limit, after))

    @quietly("read the event log")
    def newest_events(self, *, limit: int = 100, before: int | None = None) -> list[Event]:
        """Return what happened, newest first, from the one before `before` on."""
        with self._database.reading() as connection:
            return list(read_newest(connection, limit, before))

    @quietly("read a watermark")
    def watermark(self, source: str) -> Watermark | None:
        """Return how far a source of findback.toml has been read; None when it never was."""
        with self._database.reading() as connection:
            return read_watermark(connection, source)

    @quietly("write down a watermark")
    def advance(self, source: str, mark: Watermark, *, now: datetime) -> Watermark:
        """Write down how far a source has been read and return it; it never goes back."""
        with self._database.deciding() as connection:
            return advance_watermark(connection, source, mark, now)


def _identity(hmac: str | Iterable[str] | Identity) -> Identity:
    if isinstance(hmac, Identity):
        return hmac
    names = frozenset(_names(hmac))
    return Identity(names, names)


def _names(hmac: str | Iterable[str]) -> list[str]:
    return [hmac] if isinstance(hmac, str) else list(hmac)
