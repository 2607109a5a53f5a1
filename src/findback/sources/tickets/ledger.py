"""The account that is kept of one export of tickets while it is read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from findback.model.thread import Person, Thread
from findback.sources.answer import Answer
from findback.sources.archive import Archive
from findback.sources.faults import Faults
from findback.sources.format import Reading, SourceOptions
from findback.sources.opening import open_archive
from findback.sources.tickets.export import SUFFIXES, count_others, list_members
from findback.sources.tickets.held import Held
from findback.sources.tickets.scope import Scope


class Ledger:
    """What is wrong with an export, who is in it, which tickets were given, what was left out."""

    def __init__(self, place: Path | Archive, options: SourceOptions, reading: Reading) -> None:
        self.place = place
        self.faults = Faults(rows=isinstance(place, Answer))
        self.held = Held()
        self.notes = reading.notes
        self.skipped = reading.skipped
        self._skip_bad = options.skip_bad
        self._scope = Scope(options, reading.skipped)
        self._people = reading.people
        self._places: dict[str, int] = {}
        self._given: set[str] = set()

    @contextmanager
    def open_members(self, suffixes: tuple[str, ...] = SUFFIXES) -> Iterator[tuple[Archive, list[str]]]:
        """Open the export and give the names of the members that may hold records; the others are counted.

        Raises:
            StorageError: If it may not be read.
        """
        with open_archive(self.place) as archive:
            members = list_members(archive, suffixes)
            count_others(archive, members, self.skipped)
            yield archive, members

    def meet(self, person: Person) -> None:
        """Take somebody into the roster; one who is there already gains the names and addresses that are new."""
        place = self._places.setdefault(person.id, len(self._people))
        if place == len(self._people):
            self._people.append(person)
        elif (known := self._people[place]) != person:
            self._people[place] = Person(
                person.id,
                tuple(dict.fromkeys((*known.names, *person.names))),
                tuple(dict.fromkeys((*known.mails, *person.mails))),
                tuple(dict.fromkeys((*known.phones, *person.phones))),
                bot=known.bot or person.bot,
                gone=known.gone or person.gone,
            )

    def is_further(self, ticket: str, copies: str) -> bool:
        """Return whether a ticket of this id came before; it is then counted as one of the copies."""
        if ticket in self._given:
            self.skipped.add(copies)
            return True
        self._given.add(ticket)
        return False

    def admit(self, thread: Thread | None) -> Iterator[Thread]:
        """Yield what of a thread may be read: itself without messages that may not, or nothing."""
        if thread is not None and (admitted := self._scope.admit(thread)) is not None:
            yield admitted

    def settle(self, orphans: str | None = None) -> None:
        """Say what is wrong, now that all was read.

        Args:
            orphans: As what the records are counted whose ticket never came.

        Raises:
            DataError: With every fault, unless bad records are skipped.
        """
        if orphans is not None and self.held:
            self.skipped.add(orphans, len(self.held))
        what = self.place.path if isinstance(self.place, Archive) else self.place
        self.faults.settle(str(what), self.skipped, self.notes, skip_bad=self._skip_bad)
