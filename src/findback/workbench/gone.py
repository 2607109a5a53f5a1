"""What was erased, as digests alone, and doing it again: to a workbench that was restored from before it."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import Connection, select

from findback.workbench.aliases import Called, identify
from findback.workbench.database import Database
from findback.workbench.erasure import (
    Erased,
    Retention,
    erase_candidates,
    erase_containers,
    erase_expired,
    erase_people,
    rewordings_of,
)
from findback.workbench.faults import quietly
from findback.workbench.insertion import insert_missing
from findback.workbench.remains import forget_changes, forget_changes_of
from findback.workbench.rows import in_chunks
from findback.workbench.tables import ALIASES, CANDIDATES, CASE_CHANGES, CASES, EXCLUSIONS, TOMBSTONES

Why = Literal["excluded", "purged", "expired", "withdrawn"]
GoneKind = Literal["person", "alias", "container", "candidate", "case"]

WITHDRAWN = "withdrawn"
"""How the history of a case calls it, and why it is gone."""


class Gone(NamedTuple):
    """One thing that must not come back."""

    why: Why
    kind: GoneKind
    name: str
    """Its digest; of a case, which is public, its id."""
    since: datetime

    @property
    def mark(self) -> tuple[str, str, str]:
        """Return what makes it the same as another."""
        return self.why, self.kind, self.name


def read_all_gone(connection: Connection) -> list[Gone]:
    """Return everything that was erased, excluded or withdrawn, oldest first."""
    found = [Gone("excluded", row.kind, row.hmac, row.since) for row in connection.execute(select(EXCLUSIONS))]
    found += [Gone(row.reason, row.kind, row.hmac, row.since) for row in connection.execute(select(TOMBSTONES))]
    withdrawn = select(CASE_CHANGES.c.case_id, CASE_CHANGES.c.at).where(CASE_CHANGES.c.what == WITHDRAWN)
    found += [Gone("withdrawn", "case", row.case_id, row.at) for row in connection.execute(withdrawn)]
    return sorted(found, key=lambda one: (one.since, one.mark))


def erase_again(connection: Connection, gone: Collection[Gone], now: datetime) -> Erased:
    """Erase what was erased elsewhere, and remember it here too.

    People are found by what the workbench itself knows of them: under whatever an erased id, address or number stands
    here, it goes, as it does when something is mined.
    """
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in gone:
        names[one.why, one.kind].add(one.name)
    _remember(connection, gone)
    done = [_erase_candidates(connection, names, now)]
    for why in ("purged", "excluded"):
        if people := _people(connection, names[why, "person"], names[why, "alias"]):
            done.append(erase_people(connection, people, now, tombstones=why == "purged"))
        if containers := names[why, "container"]:
            done.append(erase_containers(connection, containers, now, tombstones=why == "purged"))
    forget_changes(connection, names["withdrawn", "case"])
    return Erased(*map(sum, zip(*done, strict=True)))


def _remember(connection: Connection, gone: Collection[Gone]) -> None:
    """Keep out here what is kept out elsewhere."""
    listed = [{"kind": one.kind, "hmac": one.name, "since": one.since} for one in gone if one.why == "excluded"]
    insert_missing(connection, EXCLUSIONS, listed)
    buried = [
        {"kind": one.kind, "hmac": one.name, "since": one.since, "reason": one.why}
        for one in gone
        if one.why in ("purged", "expired")
    ]
    insert_missing(connection, TOMBSTONES, buried)


def _erase_candidates(connection: Connection, names: dict[tuple[str, str], set[str]], now: datetime) -> Erased:
    keys = names["purged", "candidate"] | names["expired", "candidate"]
    cases = names["withdrawn", "case"]
    forget_changes_of(connection, keys)
    numbers: set[int] = set(rewordings_of(connection, cases))
    for chunk in in_chunks(sorted(keys)):
        numbers.update(connection.scalars(select(CANDIDATES.c.id).where(CANDIDATES.c.key.in_(chunk))))
    joined = select(CANDIDATES.c.id).join(CASES, CASES.c.candidate_key == CANDIDATES.c.key)
    for chunk in in_chunks(sorted(cases)):
        numbers.update(connection.scalars(joined.where(CASES.c.case_id.in_(chunk))))
    return Erased(erase_candidates(connection, sorted(numbers), now, reason="purged"))


def _people(connection: Connection, ids: Collection[str], aliases: Collection[str]) -> frozenset[str]:
    """Return everything that stands for some people, known by ids and by what else they are called."""
    bearers: set[str] = set()
    for chunk in in_chunks(sorted(aliases)):
        bearers.update(connection.scalars(select(ALIASES.c.person).where(ALIASES.c.alias.in_(chunk))))
    known = sorted({*ids, *bearers})
    who = identify(connection, [Called(frozenset((one,)), frozenset()) for one in known])
    return who.values | frozenset(aliases)


@quietly("take out of the backup what was erased")
def erase_loaded(scratch: Database, gone: Collection[Gone], retention: Retention, now: datetime) -> Erased:
    """Take out of an unpacked backup what was erased since, and what is over its time.

    Raises:
        StorageError: If the disk refuses.
    """
    with scratch.writing() as connection:
        done = [erase_again(connection, gone, now), erase_expired(connection, retention, now)]
    return Erased(*map(sum, zip(*done, strict=True)))


class Erasures:
    """What was erased, each call a transaction of its own."""

    _database: Database

    @quietly("read what was erased")
    def gone(self) -> list[Gone]:
        """Return everything that was erased, excluded or withdrawn, oldest first."""
        with self._database.reading() as connection:
            return read_all_gone(connection)
