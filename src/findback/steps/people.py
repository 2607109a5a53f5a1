"""The people that exports name, read again where those still lie where findback.toml says."""

from collections.abc import Iterable
from typing import NamedTuple

from findback.errors import FindbackError
from findback.model.protocols import Documents
from findback.model.settings import SourceSettings
from findback.model.thread import Person
from findback.privacy.opening import NO_VOCABULARY
from findback.privacy.roster import Roster
from findback.privacy.vocabulary import read_vocabulary
from findback.sources.format import SourceOptions
from findback.sources.recognise import load_source, recognise
from findback.steps.exports import source_options
from findback.workspace import Workspace


class AtHand(NamedTuple):
    """The people of the workspace's exports, as far as they are at hand."""

    roster: Roster | None
    """None where no export lists any."""
    notes: tuple[str, ...]
    """Exports whose people could not be looked for, and why."""


def read_roster(workspace: Workspace, documents: Documents | None) -> AtHand:
    """Return everyone whom the chat exports of findback.toml list.

    Only their lists are read, not their messages. Other exports name people message by message: what they name was
    looked for when they were mined.
    """
    people: dict[str, Person] = {}
    notes = []
    for name, settings in workspace.settings.sources.items():
        if settings.path is None:
            # What a database names was looked for when it was mined; it is not asked again for that.
            continue
        try:
            people |= {person.id: person for person in _people_of(workspace, name, settings, settings.path)}
        except FindbackError as error:
            notes.append(f"names of the people of {name} were not looked for: {error}")
    if not people:
        return AtHand(None, tuple(notes))
    vocabulary = read_vocabulary(documents) if documents is not None else NO_VOCABULARY
    return AtHand(Roster(people.values(), ambiguous=vocabulary.frequent), tuple(notes))


def _people_of(workspace: Workspace, name: str, settings: SourceSettings, path: str) -> Iterable[Person]:
    file = workspace.path(path)
    source = load_source(settings.kind or recognise(file).name)
    if source.family != "chat":
        return ()
    options = source_options(workspace, name, settings, SourceOptions(skip_bad=True))
    reading = source.read(file, options)
    if reading.threads is not None:
        # The list is whole before the first thread comes.
        next(reading.threads, None)
    return reading.people
