"""People and channels as the lists of a mapped export have them."""

from collections.abc import Mapping
from typing import NamedTuple

from findback.model.thread import Audience, Person
from findback.sources.chat.mapped_rows import MappedRows, find_record
from findback.sources.chat.mapping import MessageMapping, is_file
from findback.sources.paths import Row


class ListedChannel(NamedTuple):
    """A channel as a list of the export has it."""

    name: str | None
    audience: Audience | None


class Directory:
    """Who and which channels there are."""

    def __init__(self, mapping: MessageMapping, rows: MappedRows) -> None:
        self.mapping = mapping
        self.rows = rows
        self.people: dict[str, Person] = {}
        self.channels: dict[str, ListedChannel] = {}

    def load(self, members: list[str]) -> None:
        """Read the lists of people and channels."""
        people, containers = self.mapping.people, self.mapping.containers
        joined: dict[str, Row] = {}
        waiting: list[tuple[str, Row]] = []
        for member in members:
            for row, _ in self.rows.read(member, people.get("array")) if _lists(member, people, self.mapping) else ():
                self.add_person(row)
            for row, _ in (
                self.rows.read(member, containers.get("join_array"))
                if containers.get("join") and _lists(member, containers, self.mapping)
                else ()
            ):
                identity = row.text(containers.get("join_id"))
                if identity is not None:
                    joined[identity] = row
            for row, _ in (
                self.rows.read(member, containers.get("array")) if _lists(member, containers, self.mapping) else ()
            ):
                inner = find_record(row, containers)
                if row.meets(containers.get("where")) and inner is not None:
                    identity = inner.text(containers.get("id"))
                    if identity is not None:
                        waiting.append((identity, inner))
        for identity, row in waiting:
            audience, title = self.audience_of(row.text(containers.get("audience"))), row.text(containers.get("name"))
            other = joined.get(row.text(containers.get("join")) or "") if audience is None else None
            if other is not None:
                audience = self.audience_of(other.text(containers.get("join_audience")))
                title = other.text(containers.get("join_name"))
            self.channels[identity] = ListedChannel(title, audience)

    def audience_of(self, said: str | None) -> Audience | None:
        """Return who could read what an export says is open so far; None where that is not known."""
        return self.mapping.audiences.get(said) if said is not None else None

    def add_person(self, row: Row) -> None:
        """Take somebody of a list into the roster."""
        people = self.mapping.people
        inner = find_record(row, people)
        if inner is None or not row.meets(people.get("where")):
            return
        identity = inner.text(people.get("id"))
        if identity is not None:
            self.people[identity] = Person(
                identity,
                inner.texts(people.get("names")),
                mails=inner.texts(people.get("mails")),
                phones=inner.texts(people.get("phones")),
                bot=inner.flag(people.get("bot")),
                gone=inner.flag(people.get("gone")),
            )

    def learn(self, author: str | None, row: Row) -> None:
        """Take the author of a message into the roster where no list has them."""
        names = row.texts(self.mapping.message.get("names"))
        if author is not None and names and author not in self.people:
            self.people[author] = Person(author, names, bot=row.flag(self.mapping.message.get("bot")))


def _lists(member: str, part: Mapping[str, str], mapping: MessageMapping) -> bool:
    """Return whether a member may hold the rows of a list."""
    return bool(part.get("id")) and is_file(member, part.get("files", mapping.files))
