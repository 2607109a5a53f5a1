"""Which case each candidate became, and what happened to the cases since."""

import json
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, insert, select, update

from findback.errors import UsageError
from findback.model.case import Role, Split
from findback.workbench.database import Database
from findback.workbench.decision import missing_candidate, move_candidate, number_of_reviewer
from findback.workbench.erasure import erase_candidates, rewordings_of
from findback.workbench.event import add_event
from findback.workbench.faults import quietly
from findback.workbench.remains import forget_changes
from findback.workbench.rows import in_chunks
from findback.workbench.scrub import ask_for_scrub, scrub_database
from findback.workbench.tables import CANDIDATES, CASE_CHANGES, CASES, LINES

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_LENGTH = 10


class KnownCase(NamedTuple):
    """The case that a candidate became, or is about to."""

    candidate: str
    """Key of the candidate; it may be erased since."""
    case_id: str
    cluster: str
    """Id of the first case from the same thread."""
    release: int | None
    """Number of the release it came in; None before."""
    split: Split | None


class CaseChange(NamedTuple):
    """One thing that happened to a case."""

    number: int
    case_id: str
    at: datetime
    what: str
    """released, judged, retired, withdrawn, …"""
    why: str | None
    role: Role
    before: dict[str, Any] | None
    after: dict[str, Any] | None


def make_case_id() -> str:
    """Return a new id: `c` and ten random letters or digits."""
    return "c" + "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def assign_ids(connection: Connection, keys: Collection[str], taken: Collection[str], now: datetime) -> list[KnownCase]:
    """Return the case of each candidate, given now to those that have none; in the order of the keys.

    Candidates that share a message of a thread get one cluster.

    Raises:
        MissingError: If there is no such candidate.
    """
    known = {one.candidate: one for one in read_cases(connection, keys)}
    used = set(taken)
    for key in keys:
        if key in known:
            continue
        number = connection.scalar(select(CANDIDATES.c.id).where(CANDIDATES.c.key == key))
        if number is None:
            raise missing_candidate(key)
        case_id = make_case_id()
        while case_id in used or connection.scalar(select(CASES.c.case_id).where(CASES.c.case_id == case_id)):
            case_id = make_case_id()
        used.add(case_id)
        thread, cluster = _thread_of(connection, number)
        values = {"candidate_key": key, "case_id": case_id, "cluster": cluster or case_id, "thread": thread, "at": now}
        connection.execute(insert(CASES).values(**values))
        known[key] = KnownCase(key, case_id, cluster or case_id, None, None)
    return [known[key] for key in keys]


def _thread_of(connection: Connection, candidate: int) -> tuple[str | None, str | None]:
    """Return the key of a candidate's first message, and the cluster of a case from the same thread."""
    lines = connection.scalars(
        select(LINES.c.key).where(LINES.c.candidate == candidate).order_by(LINES.c.position)
    ).all()
    if not lines:
        return None, None
    for chunk in in_chunks(lines):
        cluster = connection.scalar(select(CASES.c.cluster).where(CASES.c.thread.in_(chunk)).order_by(CASES.c.at))
        if cluster is not None:
            return lines[0], cluster
        mates = (
            select(CASES.c.cluster)
            .join(CANDIDATES, CANDIDATES.c.key == CASES.c.candidate_key)
            .join(LINES, LINES.c.candidate == CANDIDATES.c.id)
            .where(LINES.c.key.in_(chunk))
            .order_by(CASES.c.at, CASES.c.case_id)
        )
        if (cluster := connection.scalar(mates)) is not None:
            return lines[0], cluster
    return lines[0], None


def read_cases(connection: Connection, keys: Iterable[str] | None) -> list[KnownCase]:
    """Return the cases of some candidates, or of all of them."""
    rows: list[Row[Any]] = []
    if keys is None:
        rows.extend(connection.execute(select(CASES).order_by(CASES.c.case_id)))
    else:
        for chunk in in_chunks(sorted(keys)):
            rows.extend(connection.execute(select(CASES).where(CASES.c.candidate_key.in_(chunk))))
    return [KnownCase(row.candidate_key, row.case_id, row.cluster, row.release, row.split) for row in rows]


def mark(connection: Connection, cases: Mapping[str, Split], release: int, *, reviewer: str, now: datetime) -> int:
    """Write down that cases are released; return how many candidates moved. Repeated, it changes nothing."""
    moved = 0
    number = number_of_reviewer(connection, reviewer, now)
    for case_id, split in sorted(cases.items()):
        row = connection.execute(select(CASES).where(CASES.c.case_id == case_id).with_for_update()).one_or_none()
        if row is None:
            continue
        if row.release is None:
            values = {"release": release, "split": split}
            connection.execute(update(CASES).where(CASES.c.case_id == case_id).values(**values))
        held = select(CANDIDATES.c.id, CANDIDATES.c.state, CANDIDATES.c.version).with_for_update()
        candidate = connection.execute(held.where(CANDIDATES.c.key == row.candidate_key)).one_or_none()
        if candidate is not None and candidate.state == "ready":
            move_candidate(connection, row.candidate_key, candidate, "released", reviewer=number, reason=None, now=now)
            moved += 1
    return moved


class Cases:
    """Cases, each call a transaction of its own."""

    _database: Database

    @quietly("give candidates their case ids")
    def assign_case_ids(
        self, keys: Sequence[str], *, now: datetime, taken: Collection[str] = ()
    ) -> dict[str, KnownCase]:
        """Return the case of each candidate by its key; those that have none get one, for good.

        Args:
            keys: Candidates.
            now: When it happens.
            taken: Ids that others use, such as cases of the set that came from elsewhere.

        Raises:
            MissingError: If there is no such candidate.
        """
        with self._database.writing() as connection:
            return {one.candidate: one for one in assign_ids(connection, keys, taken, now)}

    @quietly("read cases")
    def cases(self, keys: Iterable[str] | None = None) -> list[KnownCase]:
        """Return the cases of some candidates, or of all of them, erased ones included."""
        with self._database.reading() as connection:
            return read_cases(connection, keys)

    @quietly("read cases")
    def released_cases(self) -> frozenset[str]:
        """Return the ids of the cases that a release holds and whose candidates are still here."""
        joined = select(CASES.c.case_id).join(CANDIDATES, CANDIDATES.c.key == CASES.c.candidate_key)
        with self._database.reading() as connection:
            return frozenset(connection.scalars(joined.where(CASES.c.release.is_not(None))))

    @quietly("read cases")
    def newest_number(self) -> int:
        """Return the highest number of a release that a case came in; 0 before the first."""
        with self._database.reading() as connection:
            return connection.scalar(select(func.max(CASES.c.release))) or 0

    @quietly("write a release down")
    def mark_released(self, cases: Mapping[str, Split], number: int, *, reviewer: str, now: datetime) -> int:
        """Write down that cases came in a release: their candidates are released; repeated, it changes nothing.

        Args:
            cases: Split of each case, by its id; ids this workbench does not know are passed over.
            number: The release.
            reviewer: Who made it.
            now: When it happens.

        Returns:
            How many candidates became released.
        """
        with self._database.writing() as connection:
            return mark(connection, cases, number, reviewer=reviewer, now=now)

    @quietly("write down what happened to a case")
    def add_case_change(
        self,
        case_id: str,
        what: str,
        *,
        role: Role,
        now: datetime,
        why: str | None = None,
        reviewer: str | None = None,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> None:
        """Add to a case's history: what happened, why, in which role, and what of it was and is.

        Raises:
            UsageError: If it is too long.
        """
        written = [None if one is None else json.dumps(one) for one in (before, after)]
        if any(len(one) > 1_000_000 for one in (*written, why) if one is not None):
            raise UsageError("a change this long is not kept")
        with self._database.deciding() as connection:
            number = None if reviewer is None else number_of_reviewer(connection, reviewer, now)
            values = {"case_id": case_id, "at": now, "what": what, "why": why, "role": role, "reviewer": number}
            connection.execute(insert(CASE_CHANGES).values(**values, before=written[0], after=written[1]))

    @quietly("read a case's history")
    def case_changes(self, case_id: str | None = None, *, limit: int = 200) -> list[CaseChange]:
        """Return what happened to one case, or to all, newest first; in roles, not names."""
        query = select(CASE_CHANGES).order_by(CASE_CHANGES.c.id.desc()).limit(limit)
        if case_id is not None:
            query = query.where(CASE_CHANGES.c.case_id == case_id)
        with self._database.reading() as connection:
            return [_change(row) for row in connection.execute(query)]

    @quietly("erase what a case came from")
    def forget_cases(self, case_ids: Collection[str], *, now: datetime) -> int:
        """Erase the candidates that became some cases, with all that was said about them; they do not come back.

        Of the cases' own history only stays that something happened.

        Returns:
            How many candidates there were.

        Raises:
            StorageError: If the texts are erased but their bytes cannot be overwritten yet.
        """
        with self._database.writing() as connection:
            numbers: list[int] = []
            for chunk in in_chunks(sorted(case_ids)):
                joined = select(CANDIDATES.c.id).join(CASES, CASES.c.candidate_key == CANDIDATES.c.key)
                numbers.extend(connection.scalars(joined.where(CASES.c.case_id.in_(chunk))))
            # The candidate may be gone already, and what a model made of its words is still here.
            numbers.extend(rewordings_of(connection, case_ids) - set(numbers))
            erased = erase_candidates(connection, numbers, now, reason="purged")
            forget_changes(connection, case_ids)
            add_event(connection, "forget", now, details={"cases": len(case_ids), "candidates": erased})
            ask_for_scrub(connection)
        scrub_database(self._database)
        return erased


def _change(row: Row[Any]) -> CaseChange:
    before, after = (None if one is None else json.loads(one) for one in (row.before, row.after))
    return CaseChange(row.id, row.case_id, row.at, row.what, row.why, row.role, before, after)
