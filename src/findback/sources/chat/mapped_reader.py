"""Exports of messages read by a mapping, one channel after another."""

from collections.abc import Iterable, Iterator, Mapping

from findback.errors import DataError
from findback.model.thread import Message, Place, Thread
from findback.sources.answer import Answer
from findback.sources.archive import Archive
from findback.sources.chat.directory import Directory
from findback.sources.chat.mapped_message import MessageBuilder
from findback.sources.chat.mapped_rows import MappedRows, find_record
from findback.sources.chat.mapped_threads import HeldMessage, MappedChannel, ThreadJoiner
from findback.sources.chat.mapping import MessageMapping, is_file
from findback.sources.faults import Faults
from findback.sources.format import Reading, SourceOptions
from findback.sources.paths import Row
from findback.sources.rows import list_files
from findback.sources.scope import Scope, since_timestamp
from findback.sources.shelf import Shelf

_Record = tuple[HeldMessage, list[HeldMessage]]
"""A message, and the replies that lay inside it."""


class MappedReader:
    """Reads everything once, puts messages aside by channel, and makes threads of one channel at a time."""

    def __init__(
        self, name: str, mapping: MessageMapping, archive: Archive, options: SourceOptions, reading: Reading
    ) -> None:
        self.mapping = mapping
        self.archive = archive
        self.options = options
        self.reading = reading
        self.faults = Faults(rows=isinstance(archive, Answer))
        self.scope = Scope(options)
        self.rows = MappedRows(mapping, archive, self.faults, reading.skipped)
        self.directory = Directory(mapping, self.rows)
        self.builder = MessageBuilder(mapping, self.directory, reading, self.faults)
        self.joiner = ThreadJoiner(name, mapping, self.scope, since_timestamp(options.since), reading.skipped)
        self.channels: dict[str, MappedChannel] = {}
        self.refused: dict[str, str | None] = {}
        self.shelf = Shelf(str(archive.path), options.scratch)

    def load(self) -> None:
        """Read people, channels and messages.

        Raises:
            DataError: If there are no messages.
            RefusedError: If there are more than may be held.
        """
        members = list_files(self.archive)
        with self.archive:
            self.directory.load(members)
            used = 0
            for member in members:
                if not is_file(member, self.mapping.files) and len(members) > 1:
                    continue
                used += 1
                self.load_messages(member)
        left = len(self.archive.names) - used
        if left:
            self.reading.skipped.add("files without messages", left)
        if not self.channels and not self.faults.count:
            raise DataError(f"{self.archive.path} holds no messages of this kind", hint=f"expected {self.mapping.what}")
        self.reading.people += self.directory.people.values()

    def load_messages(self, member: str) -> None:
        """Put the messages of one member aside."""
        paths = self.mapping.message
        for row, place in self.rows.read(member, paths.get("array")):
            if self.mapping.direct and row.meets(self.mapping.direct.get("where")):
                self.reading.skipped.add("messages in direct messages")
                continue
            if not row.meets(paths.get("where")):
                continue
            inner = find_record(row, paths)
            if inner is None:
                self.faults.add(place.file, None, f"the record at {place.offset} has no {paths.get('record')}")
                continue
            if not inner.meets(paths.get("keep")):
                self.reading.skipped.add("notices of the system")
                continue
            self.add_message(inner, place)

    def add_message(self, row: Row, place: Place) -> None:
        """Put one message aside, with the replies inside it; what may not be read is only counted."""
        paths = self.mapping.message
        whole = bool(paths.get("whole")) and row.meets(paths["whole"])
        own = row.text(paths["container"])
        container = (row.text(paths.get("whole_container")) if whole else None) or own
        if container is None or own is None:
            self.faults.at(place, "does not say in which channel it stands")
            return
        channel = self.channel_of(container, row, whole=whole)
        message = self.builder.build(row, place, channel.audience or "private")
        if message is None:
            return
        title = row.text(paths.get("whole_title") if whole else paths.get("title"))
        thread = own if whole else row.text(paths.get("thread"))
        held = HeldMessage(message, thread, row.text(paths.get("reply_to")), title)
        replies = [HeldMessage(reply, thread, message.id, None) for reply in self.replies(row, message, place, channel)]
        reason = self.refused[container]
        if reason is not None:
            self.reading.skipped.add(f"messages in {reason}", 1 + len(replies))
        else:
            self.shelf.put(container, (held, replies))

    def replies(self, row: Row, message: Message, place: Place, channel: MappedChannel) -> Iterator[Message]:
        """Yield the replies that lie inside a message."""
        for number, reply in enumerate(row.all(self.mapping.message.get("replies"))):
            if isinstance(reply, Mapping):
                fallback = f"{message.id}.{number}"
                built = self.builder.build(Row(reply, row.root), place, channel.audience or "private", fallback)
                if built is not None:
                    yield built

    def channel_of(self, container: str, row: Row, *, whole: bool) -> MappedChannel:
        """Return the channel a message stands in, as lists or its first message describe it."""
        known = self.channels.get(container)
        if known is not None:
            return known
        paths = self.mapping.message
        listed = self.directory.channels.get(container)
        named = row.text(paths.get("whole_container_name") if whole else paths.get("container_name"))
        audience = self.directory.audience_of(row.text(paths.get("audience")))
        found = self.channels[container] = MappedChannel(
            container, (listed.name if listed else None) or named, (listed.audience if listed else None) or audience
        )
        self.refused[container] = self.scope.refuse([container, *([found.name] if found.name else [])], found.audience)
        return found

    def threads(self) -> Iterator[Thread]:
        """Yield the threads of every channel that is read.

        Raises:
            DataError: At the end, if records were broken and nobody asked to skip them.
        """
        for container, records in self.shelf.take():
            yield from self.joiner.join(self.channels[container], self.newest(records))
        if any(self.refused[container] and channel.audience is None for container, channel in self.channels.items()):
            self.reading.notes.append(
                "some channels do not say who could read them: they count as private; name them to read them"
            )
        self.faults.settle(
            str(self.archive.path), self.reading.skipped, self.reading.notes, skip_bad=self.options.skip_bad
        )

    def newest(self, records: Iterable[_Record]) -> dict[str, HeldMessage]:
        """Return each message once, by its id; of copies the last that was edited."""
        found: dict[str, HeldMessage] = {}
        for held, replies in records:
            if held.message.id in found:
                self.reading.skipped.add("further copies of the same message")
                if not held.message.edited:
                    continue
            found[held.message.id] = held
            found.update((reply.message.id, reply) for reply in replies)
        return found
