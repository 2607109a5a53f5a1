"""A stretch of a Slack channel, through the reader of exports."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from findback.model.thread import Thread
from findback.sources.archive import Archive
from findback.sources.chat.slack_entries import TS, Entry
from findback.sources.chat.slack_index import Channel
from findback.sources.chat.slack_message import seconds
from findback.sources.chat.slack_reader import SlackReader
from findback.sources.chat.slack_record import make_records
from findback.sources.connectors.slack_slice import Slice
from findback.sources.faults import Faults
from findback.sources.format import Reading, SourceOptions


class SliceReader(SlackReader):
    """Reads one stretch; conversations without news are left out."""

    def __init__(
        self, archive: Archive, options: SourceOptions, reading: Reading, taken: Slice, *, known: set[str]
    ) -> None:
        # What is new was chosen already; whole conversations are read, so that a late reply meets its question.
        super().__init__(archive, replace(options, since=None), reading, Faults())
        self.known = known
        self._taken = taken

    def threads(self, channel: Channel) -> Iterator[Thread]:
        """Yield the conversations as threads.

        Raises:
            DataError: At the end, if messages were broken and nobody asked to skip them.
        """
        entries = self.new_entries(channel)
        file = entries.add_file(f"{self.archive.path} {channel.id}")
        for message in self._taken.messages.values():
            # A message is found again by its second; there is no file it would have a place in.
            entries.add_messages(file, make_records([message]), int(seconds(message["ts"])))
        # Threads without news count too when it is told whether people answer in threads here.
        entries.answered += self._taken.quiet
        yield from self.build(channel, self.join(entries), entries.files)
        self.settle()

    def refuse(self, bots: AbstractSet[str], group: list[Entry]) -> str | None:
        """Return why messages that belong together are not wanted, or None if they are."""
        if not any(entry[TS] in self._taken.fresh for entry in group):
            return "conversations of earlier runs, without news"
        return super().refuse(bots, group)
