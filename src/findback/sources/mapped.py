"""Messages of any program, read by a mapping that says which field is which."""

from fnmatch import fnmatchcase
from pathlib import Path

from findback.errors import FindbackError, SettingsError
from findback.sources.answer import Answer
from findback.sources.archive import Archive
from findback.sources.chat.mapped_reader import MappedReader
from findback.sources.chat.mapping import MessageMapping, change_mapping, is_file, load_mapping
from findback.sources.columns import split_places
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.opening import open_archive
from findback.sources.rows import list_files

_REQUIRED = ("author", "at", "text", "container")
_NO_PLACES = ("markup", "array", "resolved", "files", "arrays", "audiences.")
"""Keys, and beginnings of keys, of a mapping that name no field."""
_PEEKED_FILES = 5


class MappedMessages:
    """A reader of messages by one mapping."""

    family: Family = "chat"
    rules = ("link-thanks", "link", "help-thread", "cue", "no-answer")

    def __init__(self, name: str) -> None:
        self.name = name

    def recognise(self, path: Path) -> str | None:
        """Return why a path is an export that the mapping was made for, or None."""
        try:
            mapping = load_mapping(self.name)
            with open_archive(path) as archive:
                names = [name.rpartition("/")[2] for name in archive.names]
                if mapping.beside and all(any(fnmatchcase(name, glob) for name in names) for glob in mapping.beside):
                    return mapping.what
                if not mapping.contains:
                    return None
                for member in [name for name in list_files(archive) if is_file(name, mapping.files)][:_PEEKED_FILES]:
                    head = b"".join(archive.peek(member).split())
                    if all(literal.encode() in head for literal in mapping.contains):
                        return mapping.what
        except FindbackError:
            return None
        return None

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Begin reading messages; they come in any order, so all are put aside by channel before the first thread.

        Raises:
            SettingsError: If the mapping lacks a field without which there are no threads.
            DataError: If it cannot be opened, or, at the end of reading, if records in it are broken.
            RefusedError: If it is larger than may be read.
        """
        mapping = self._mapping(options)
        return self._begin(mapping, open_archive(path), options)

    def expect(self, answer: Answer, options: SourceOptions) -> None:
        """Check that the query has the columns that the mapping names, and those without which there are no threads.

        Raises:
            SettingsError: If it has not.
            EngineError: If the database does not answer.
        """
        mapping = self._mapping(options)
        named = (key for key in options.mapping or {} if not key.startswith(_NO_PLACES) and key not in _NO_PLACES)
        given = {key: split_places((options.mapping or {})[key]) for key in named}
        needed = {key: split_places(mapping.message[key]) for key in _REQUIRED}
        answer.expect(given, needed, needed["at"])

    def read_answer(self, answer: Answer, options: SourceOptions) -> Reading:
        """Begin reading messages from the rows of a query.

        Raises:
            SettingsError: If the query has not the columns that the mapping names.
            DataError: At the end of reading, if rows are broken.
            RefusedError: If there are more than may be read.
            EngineError: If the database fails.
        """
        self.expect(answer, options)
        return self._begin(self._mapping(options), answer, options)

    def _mapping(self, options: SourceOptions) -> MessageMapping:
        mapping = change_mapping(load_mapping(self.name), options.mapping)
        missing = [key for key in _REQUIRED if not mapping.message.get(key)]
        if missing:
            raise SettingsError(f"the mapping does not say which field is {', '.join(missing)}")
        return mapping

    def _begin(self, mapping: MessageMapping, archive: Archive, options: SourceOptions) -> Reading:
        reading = Reading()
        for reason, count in archive.left_out.items():
            reading.skipped.add(reason, count)
        reader = MappedReader(self.name, mapping, archive, options, reading)
        reader.load()
        reading.threads = reader.threads()
        return reading


discord = MappedMessages("discord")
mattermost = MappedMessages("mattermost")
zulip = MappedMessages("zulip")
messages = MappedMessages("messages")
