"""Taking texts out of the tables: on objection, on request, and when their time is over."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, func, or_, select, update

from findback.workbench.aliases import forget_aliases
from findback.workbench.blocklist import TombstoneReason, add_tombstones
from findback.workbench.people import with_lines, without_people
from findback.workbench.remains import forget_changes_of, forget_lines, forget_restored
from findback.workbench.rows import delete_candidates, in_chunks, read_by_numbers, rewrite_candidates
from findback.workbench.state import UNDECIDED
from findback.workbench.tables import CANDIDATES, CASES, LINES, SPANS


class Erased(NamedTuple):
    """What an erasure took."""

    candidates: int = 0
    lines: int = 0
    """Messages taken out of the threads of candidates that stay."""
    mentions: int = 0
    """Placeholders that no longer say who they stand for."""

    def __bool__(self) -> bool:
        return any(self)


class Retention(NamedTuple):
    """How many days things are kept."""

    undecided: int = 90
    """A candidate that stays in an undecided state."""
    rejected: int = 30
    context: int = 30
    """The thread around a query, after its release."""


def erase_people(connection: Connection, people: Collection[str], now: datetime, *, tombstones: bool) -> Erased:
    """Take out every text of some people: what they asked goes, elsewhere their lines go.

    Args:
        connection: Transaction of one who writes much.
        people: HMACs of the people, and of all else that stands for them in texts.
        now: When it happens.
        tombstones: Whether the keys of what goes are remembered.
    """
    numbers: list[int] = []
    for names in in_chunks(sorted(people)):
        numbers.extend(connection.scalars(select(CANDIDATES.c.id).where(CANDIDATES.c.asker_hmac.in_(names))))
    candidates = erase_candidates(connection, numbers, now, reason="purged" if tombstones else None)
    mentions = 0
    concerned: set[int] = set()
    for names in in_chunks(sorted(people)):
        concerned.update(connection.scalars(select(LINES.c.candidate).where(LINES.c.author_hmac.in_(names))))
        forget_restored(connection, names)
        mentions += connection.execute(
            update(SPANS).where(SPANS.c.value_hmac.in_(names)).values(value_hmac=None)
        ).rowcount
    lines = 0
    for chunk in in_chunks(sorted(concerned), 200):
        changes = [(stored, without_people(stored.candidate, people)) for stored in read_by_numbers(connection, chunk)]
        lines += sum(len(stored.candidate.thread) - len(candidate.thread) for stored, candidate in changes)
        rewrite_candidates(connection, changes, now)
        forget_lines(connection, {old.number: {line.key for line in new.thread} for old, new in changes})
    forget_aliases(connection)
    return Erased(candidates, lines, mentions)


def erase_containers(connection: Connection, containers: Collection[str], now: datetime, *, tombstones: bool) -> Erased:
    """Take out every candidate of some channels, queues or repositories."""
    where = CANDIDATES.c.container_hmac.in_(sorted(containers))
    return Erased(_erase_where(connection, where, now, reason="purged" if tombstones else None))


def erase_rejected(connection: Connection, now: datetime) -> Erased:
    """Take out everything that was rejected."""
    return Erased(_erase_where(connection, CANDIDATES.c.state == "rejected", now, reason="purged"))


def erase_expired(connection: Connection, retention: Retention, now: datetime) -> Erased:
    """Take out what nobody decided in time, what was rejected long enough ago, and threads after release."""
    over = or_(
        CANDIDATES.c.state.in_(sorted(UNDECIDED))
        & (CANDIDATES.c.state_at <= now - timedelta(days=retention.undecided)),
        (CANDIDATES.c.state == "rejected") & (CANDIDATES.c.state_at <= now - timedelta(days=retention.rejected)),
    )
    candidates = _erase_where(connection, over, now, reason="expired")
    released = select(CANDIDATES.c.id).where(
        CANDIDATES.c.state == "released",
        CANDIDATES.c.context_dropped_at.is_(None),
        CANDIDATES.c.state_at <= now - timedelta(days=retention.context),
    )
    lines = 0
    for chunk in in_chunks(connection.scalars(released).all(), 200):
        lines += connection.scalar(select(func.count()).where(LINES.c.candidate.in_(chunk))) or 0
        changes = [(stored, with_lines(stored.candidate, (), {})) for stored in read_by_numbers(connection, chunk)]
        rewrite_candidates(connection, changes, now)
        forget_lines(connection, dict.fromkeys(chunk, ()))
        connection.execute(update(CANDIDATES).where(CANDIDATES.c.id.in_(chunk)).values(context_dropped_at=now))
    forget_aliases(connection)
    return Erased(candidates, lines)


def _erase_where(
    connection: Connection, where: ColumnElement[bool], now: datetime, *, reason: TombstoneReason | None
) -> int:
    return erase_candidates(
        connection, connection.scalars(select(CANDIDATES.c.id).where(where)).all(), now, reason=reason
    )


def erase_candidates(
    connection: Connection, numbers: Sequence[int], now: datetime, *, reason: TombstoneReason | None
) -> int:
    """Take candidates out and return how many; with a reason their keys are remembered.

    What was said about them goes along, what a model said in other words, and the texts in the history of the cases
    they became.
    """
    taken = sorted({*numbers, *_rewordings(connection, numbers)})
    for chunk in in_chunks(taken):
        keys = connection.scalars(select(CANDIDATES.c.key).where(CANDIDATES.c.id.in_(chunk))).all()
        forget_changes_of(connection, keys)
        if reason is not None:
            add_tombstones(connection, "candidate", keys, reason, now)
        delete_candidates(connection, chunk)
    forget_aliases(connection)
    return len(taken)


def _rewordings(connection: Connection, numbers: Sequence[int]) -> set[int]:
    """Return the candidates that say in other words what some candidates asked."""
    cases: set[str] = set()
    for chunk in in_chunks(numbers):
        joined = select(CASES.c.case_id).join(CANDIDATES, CANDIDATES.c.key == CASES.c.candidate_key)
        cases.update(connection.scalars(joined.where(CANDIDATES.c.id.in_(chunk))))
    return rewordings_of(connection, cases)


def rewordings_of(connection: Connection, cases: Collection[str]) -> set[int]:
    """Return the row numbers of the candidates that say in other words what some cases ask."""
    found: set[int] = set()
    for chunk in in_chunks(sorted(cases)):
        found.update(connection.scalars(select(CANDIDATES.c.id).where(CANDIDATES.c.root.in_(chunk))))
    return found
