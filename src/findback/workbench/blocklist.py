"""Who and what must not be stored: objections and tombstones."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import Connection, select

from findback.workbench.aliases import Directory
from findback.workbench.insertion import insert_missing
from findback.workbench.rows import in_chunks
from findback.workbench.tables import EXCLUSIONS, TOMBSTONES

Kind = Literal["person", "container"]
Listed = Literal["person", "alias", "container"]
"""What may stand on a list: an id, something else a person is called, a place."""
TombstoneKind = Literal["candidate", "person", "alias", "container"]
TombstoneReason = Literal["purged", "expired"]


class Blocklist(NamedTuple):
    """HMACs of people and containers, by why they are kept out."""

    excluded_people: frozenset[str]
    purged_people: frozenset[str]
    excluded_containers: frozenset[str]
    purged_containers: frozenset[str]
    people: frozenset[str]
    """Everyone whose words are kept out, and what else stands for them in texts."""


def read_blocklist(connection: Connection, directory: Directory) -> Blocklist:
    """Return the people and containers that objected or were erased.

    Args:
        connection: An open transaction.
        directory: Whom the source of what comes in knows; those of them who are on a list by an address, a number
            or a name are found by it.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for name, table in (("excluded", EXCLUSIONS), ("purged", TOMBSTONES)):
        query = select(table.c.kind, table.c.hmac).where(table.c.kind.in_(("person", "alias", "container")))
        for row in connection.execute(query):
            found.setdefault((name, row.kind), set()).add(row.hmac)
    people, places, values = {}, {}, set[str]()
    for name in ("excluded", "purged"):
        called = found.get((name, "alias"), set())
        people[name] = found.get((name, "person"), set()) | directory.bearers(called)
        places[name] = frozenset(found.get((name, "container"), ()))
        values |= called | people[name] | directory.values(people[name])
    return Blocklist(
        excluded_people=frozenset(people["excluded"]),
        purged_people=frozenset(people["purged"]),
        excluded_containers=places["excluded"],
        purged_containers=places["purged"],
        people=frozenset(values),
    )


def read_gone(connection: Connection, keys: Collection[str]) -> set[str]:
    """Return those of the keys whose candidates were erased."""
    gone: set[str] = set()
    for chunk in in_chunks(sorted(keys)):
        query = select(TOMBSTONES.c.hmac).where(TOMBSTONES.c.kind == "candidate", TOMBSTONES.c.hmac.in_(chunk))
        gone.update(connection.scalars(query))
    return gone


def add_exclusion(connection: Connection, kind: Listed, hmacs: Iterable[str], now: datetime) -> None:
    """Keep people or containers out from now on."""
    insert_missing(connection, EXCLUSIONS, [{"kind": kind, "hmac": hmac, "since": now} for hmac in hmacs])


def add_tombstones(
    connection: Connection, kind: TombstoneKind, hmacs: Iterable[str], reason: TombstoneReason, now: datetime
) -> None:
    """Remember what was erased, so that it does not come back."""
    rows = [{"kind": kind, "hmac": hmac, "reason": reason, "since": now} for hmac in hmacs]
    insert_missing(connection, TOMBSTONES, rows)
