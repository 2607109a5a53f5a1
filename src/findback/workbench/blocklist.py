"""Who and what must not be stored: objections and tombstones."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import Connection, select

from findback.workbench.insertion import insert_missing
from findback.workbench.rows import in_chunks
from findback.workbench.tables import EXCLUSIONS, TOMBSTONES

Kind = Literal["person", "container"]
TombstoneKind = Literal["candidate", "person", "container"]
TombstoneReason = Literal["purged", "expired"]


class Blocklist(NamedTuple):
    """HMACs of people and containers, by why they are kept out."""

    excluded_people: frozenset[str]
    purged_people: frozenset[str]
    excluded_containers: frozenset[str]
    purged_containers: frozenset[str]

    @property
    def people(self) -> frozenset[str]:
        """Return everyone whose words are kept out."""
        return self.excluded_people | self.purged_people


def read_blocklist(connection: Connection) -> Blocklist:
    """Return the people and containers that objected or were erased."""
    found: dict[tuple[str, str], set[str]] = {}
    for name, table in (("excluded", EXCLUSIONS), ("purged", TOMBSTONES)):
        query = select(table.c.kind, table.c.hmac).where(table.c.kind.in_(("person", "container")))
        for row in connection.execute(query):
            found.setdefault((name, row.kind), set()).add(row.hmac)
    return Blocklist(
        *(frozenset(found.get((name, kind), ())) for kind in ("person", "container") for name in ("excluded", "purged"))
    )


def read_gone(connection: Connection, keys: Collection[str]) -> set[str]:
    """Return those of the keys whose candidates were erased."""
    gone: set[str] = set()
    for chunk in in_chunks(sorted(keys)):
        query = select(TOMBSTONES.c.hmac).where(TOMBSTONES.c.kind == "candidate", TOMBSTONES.c.hmac.in_(chunk))
        gone.update(connection.scalars(query))
    return gone


def add_exclusion(connection: Connection, kind: Kind, hmacs: Iterable[str], now: datetime) -> None:
    """Keep people or containers out from now on."""
    insert_missing(connection, EXCLUSIONS, [{"kind": kind, "hmac": hmac, "since": now} for hmac in hmacs])


def add_tombstones(
    connection: Connection, kind: TombstoneKind, hmacs: Iterable[str], reason: TombstoneReason, now: datetime
) -> None:
    """Remember what was erased, so that it does not come back."""
    rows = [{"kind": kind, "hmac": hmac, "reason": reason, "since": now} for hmac in hmacs]
    insert_missing(connection, TOMBSTONES, rows)
