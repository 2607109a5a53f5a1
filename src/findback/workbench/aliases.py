"""What people are called besides their ids, as digests: an erasure finds them when the export is gone."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, union, update

from findback.model.alias import Alias
from findback.model.candidate import Candidate
from findback.workbench.rows import in_chunks
from findback.workbench.tables import ALIASES, CANDIDATES, LINES, SPANS


class Called(NamedTuple):
    """One thing that somebody who is to be erased or kept out is called."""

    as_id: frozenset[str]
    """Its digests, should it be the id a source gives them."""
    as_alias: frozenset[str]
    """Its digests, should it be an address, a number or a name."""


class Identity(NamedTuple):
    """Who is meant, as digests."""

    ids: frozenset[str]
    """Their ids in every source."""
    values: frozenset[str]
    """Everything that stands for them, and nobody else, in texts."""
    lasting: frozenset[str] = frozenset()
    """Besides their ids, what tells them from everybody else in an export that is yet to come."""
    doubtful: tuple[int, ...] = ()
    """Places of what names several people, none of whom was named otherwise."""


class Directory:
    """The people of one source, and what they are called."""

    def __init__(self, people: Mapping[str, Sequence[Alias]] | None = None) -> None:
        self.people = people or {}
        self._bearers: dict[str, list[str]] = defaultdict(list)
        for person, aliases in self.people.items():
            for alias in aliases:
                self._bearers[alias.hmac].append(person)

    def bearers(self, values: Iterable[str]) -> frozenset[str]:
        """Return everyone who is called one of these."""
        return frozenset(person for value in values for person in self._bearers.get(value, ()))

    def values(self, people: Iterable[str]) -> frozenset[str]:
        """Return what stands for one of these people alone."""
        return frozenset(alias.hmac for one in people for alias in self.people.get(one, ()) if not alias.shared)

    def concerned(self, candidates: Iterable[Candidate]) -> set[str]:
        """Return who wrote in candidates or is named there."""
        found: set[str] = set()
        for candidate in candidates:
            bodies = [candidate.query, *([candidate.title] if candidate.title is not None else [])]
            bodies += [line.body for line in candidate.thread]
            named = [candidate.asker_hmac, *(line.author_hmac for line in candidate.thread)]
            named += [span.value_hmac for body in bodies for span in body.spans]
            for value in named:
                if value is None:
                    continue
                bearers = self._bearers.get(value, ())
                if value in self.people:
                    found.add(value)
                elif len(bearers) == 1:
                    found.update(bearers)
        return found


def remember_aliases(connection: Connection, directory: Directory, people: Collection[str]) -> None:
    """Store what some people of a source are called; what turns out to be shared is shared from then on."""
    for chunk in in_chunks(sorted(people & directory.people.keys()), 100):
        query = select(ALIASES.c.person, ALIASES.c.alias, ALIASES.c.shared).where(ALIASES.c.person.in_(chunk))
        known = {(row.person, row.alias): row.shared for row in connection.execute(query)}
        given = {(person, alias.hmac): alias for person in chunk for alias in directory.people[person]}
        rows = [
            {"person": person, "alias": alias.hmac, "kind": alias.kind, "shared": alias.shared}
            for (person, _), alias in given.items()
            if (person, alias.hmac) not in known
        ]
        if rows:
            connection.execute(insert(ALIASES), rows)
        for (person, value), alias in given.items():
            if alias.shared and known.get((person, value)) is False:
                where = (ALIASES.c.person == person, ALIASES.c.alias == value)
                connection.execute(update(ALIASES).where(*where).values(shared=True))


def forget_aliases(connection: Connection) -> None:
    """Take out what people are called of whom no stored text is left, written or named."""
    person = select(ALIASES.c.person)
    named = select(ALIASES.c.person).join(SPANS, SPANS.c.value_hmac == ALIASES.c.alias)
    present = union(
        person.join(LINES, LINES.c.author_hmac == ALIASES.c.person),
        person.join(CANDIDATES, CANDIDATES.c.asker_hmac == ALIASES.c.person),
        person.join(SPANS, SPANS.c.value_hmac == ALIASES.c.person),
        named.where(ALIASES.c.shared.is_(False)),
    )
    connection.execute(delete(ALIASES).where(ALIASES.c.person.not_in(present)))


def identify(connection: Connection, called: Sequence[Called]) -> Identity:
    """Return who is meant by what they are called; an id of somebody stored is never taken for a name."""
    known = _known_ids(connection, {value for one in called for value in one.as_id})
    ids: set[str] = set()
    unknown: set[str] = set()
    names: list[tuple[int, set[str]]] = []
    for at, one in enumerate(called):
        if own := one.as_id & known:
            ids |= own
            continue
        people, clear = _bearers(connection, one)
        if not people:
            unknown |= one.as_alias
            ids |= one.as_id
        elif clear:
            ids |= people
        else:
            names.append((at, people))
    ids = _same_people(connection, ids)
    aliases = _aliases(connection, ids)
    return Identity(
        ids=frozenset(ids),
        values=frozenset(ids | unknown | {alias.hmac for alias in aliases}),
        lasting=frozenset(unknown | {alias.hmac for alias in aliases if alias.kind != "name"}),
        doubtful=tuple(at for at, people in names if not people & ids),
    )


def _known_ids(connection: Connection, values: Collection[str]) -> frozenset[str]:
    found: set[str] = set()
    for column in (LINES.c.author_hmac, CANDIDATES.c.asker_hmac, ALIASES.c.person):
        for chunk in in_chunks(sorted(values)):
            found.update(connection.scalars(select(column).where(column.in_(chunk)).distinct()))
    return frozenset(found)


def _bearers(connection: Connection, one: Called) -> tuple[set[str], bool]:
    """Return everyone called so, and whether they are one and the same."""
    query = select(ALIASES.c.person, ALIASES.c.shared).where(ALIASES.c.alias.in_(sorted(one.as_alias)))
    rows = connection.execute(query).all()
    people = {row.person for row in rows}
    if not people or any(row.shared for row in rows):
        return people, False
    return people, people <= _same_people(connection, {min(people)})


def _same_people(connection: Connection, ids: Collection[str]) -> set[str]:
    """Return some ids with those that other sources give the same people: who has an address of theirs."""
    found = set(ids)
    new = set(ids)
    while new:
        mails = {alias.hmac for alias in _aliases(connection, new) if alias.kind == "mail"}
        new = set()
        for chunk in in_chunks(sorted(mails)):
            where = (ALIASES.c.alias.in_(chunk), ALIASES.c.kind == "mail", ALIASES.c.shared.is_(False))
            new |= set(connection.scalars(select(ALIASES.c.person).where(*where))) - found
        found |= new
    return found


def _aliases(connection: Connection, people: Collection[str]) -> list[Alias]:
    """Return what some people alone are called."""
    found: list[Alias] = []
    for chunk in in_chunks(sorted(people)):
        where = (ALIASES.c.person.in_(chunk), ALIASES.c.shared.is_(False))
        query = select(ALIASES.c.alias, ALIASES.c.kind).where(*where)
        found += [Alias(row.alias, row.kind, shared=False) for row in connection.execute(query)]
    return found
