"""What was deleted where it was written, while the questions it belongs to still wait for a decision."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from findback.workbench.aliases import Directory
from findback.workbench.blocklist import read_blocklist
from findback.workbench.database import Database
from findback.workbench.erasure import Erased, erase_candidates
from findback.workbench.event import add_event
from findback.workbench.faults import quietly
from findback.workbench.people import with_lines
from findback.workbench.remains import forget_lines
from findback.workbench.rows import StoredCandidate, in_chunks, read_by_keys, read_by_numbers, rewrite_candidates
from findback.workbench.scrub import ask_for_scrub, scrub_database
from findback.workbench.state import UNDECIDED
from findback.workbench.tables import CANDIDATES, LINES


class WaitingLine(NamedTuple):
    """A line of a question that waits."""

    key: str
    at: datetime | None


class WaitingQuestion(NamedTuple):
    """A mined question nobody has decided on."""

    query_line: int
    """Which line is its own message; -1 where none is."""
    lines: tuple[WaitingLine, ...]


class Deletions:
    """What the workbench gives and does about deleted messages."""

    _database: Database

    @quietly("look a channel up")
    def is_kept_out(self, container_hmac: str) -> bool:
        """Return whether a channel or queue objected, or was erased."""
        with self._database.reading() as connection:
            listed = read_blocklist(connection, Directory(None))
        return container_hmac in listed.excluded_containers or container_hmac in listed.purged_containers

    @quietly("look a person up")
    def is_person_kept_out(self, person_hmac: str) -> bool:
        """Return whether a person objected, or was erased."""
        with self._database.reading() as connection:
            listed = read_blocklist(connection, Directory(None))
        return person_hmac in listed.excluded_people or person_hmac in listed.purged_people

    @quietly("list what waits")
    def waiting_in(self, container_hmac: str) -> dict[str, WaitingQuestion]:
        """Return the mined questions of a channel that nobody has decided on, by their key."""
        wanted = (
            select(CANDIDATES.c.id, CANDIDATES.c.key, CANDIDATES.c.query_line)
            .where(
                CANDIDATES.c.container_hmac == container_hmac,
                CANDIDATES.c.origin == "mined",
                CANDIDATES.c.state.in_(sorted(UNDECIDED)),
            )
            .order_by(CANDIDATES.c.id)
        )
        found: dict[str, WaitingQuestion] = {}
        with self._database.reading() as connection:
            for row in connection.execute(wanted).all():
                lines = select(LINES.c.key, LINES.c.at).where(LINES.c.candidate == row.id).order_by(LINES.c.position)
                listed = tuple(WaitingLine(line.key, line.at) for line in connection.execute(lines))
                found[row.key] = WaitingQuestion(row.query_line, listed)
        return found

    @quietly("take out what was deleted")
    def take_deleted(
        self, *, lines: Mapping[str, Collection[str]], questions: Collection[str] = (), now: datetime
    ) -> Erased:
        """Take out undecided questions that were deleted where they were asked, and deleted lines of others.

        No tombstone stays: what is written again may come in again.

        Args:
            lines: Keys of deleted lines by the key of their question; with its own line a question goes whole.
            questions: Keys of questions that were deleted whole.
            now: When it happens.

        Raises:
            StorageError: If the texts are erased but their bytes cannot be overwritten yet.
        """
        if not lines and not questions:
            return Erased()
        with self._database.writing() as connection:
            erased = _take(connection, lines, questions, now)
            if erased:
                add_event(connection, "deleted-at-source", now, details=erased._asdict())
                ask_for_scrub(connection)
        if erased:
            scrub_database(self._database)
        return erased


def _take(
    connection: Connection, lines: Mapping[str, Collection[str]], questions: Collection[str], now: datetime
) -> Erased:
    stored = read_by_keys(connection, {*lines, *questions}, hold=True)
    waiting = {key: one for key, one in stored.items() if one.state in UNDECIDED}
    whole = {key for key, one in waiting.items() if key in questions or _asks_in(one, lines.get(key, ()))}
    candidates = erase_candidates(connection, [waiting[key].number for key in whole], now, reason=None)
    taken = 0
    for chunk in in_chunks(sorted(one.number for key, one in waiting.items() if key not in whole), 200):
        changes = []
        for one in read_by_numbers(connection, chunk):
            gone = lines.get(one.candidate.key, ())
            kept = [at for at, line in enumerate(one.candidate.thread) if line.key not in gone]
            taken += len(one.candidate.thread) - len(kept)
            thread = [one.candidate.thread[at] for at in kept]
            changes.append((one, with_lines(one.candidate, thread, {old: new for new, old in enumerate(kept)})))
        rewrite_candidates(connection, changes, now)
        forget_lines(connection, {old.number: {line.key for line in new.thread} for old, new in changes})
    return Erased(candidates, taken)


def _asks_in(stored: StoredCandidate, gone: Collection[str]) -> bool:
    at, thread = stored.candidate.query_line, stored.candidate.thread
    return 0 <= at < len(thread) and thread[at].key in gone
