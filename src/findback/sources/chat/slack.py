"""Slack: a workspace export as zip or folder, or JSON Lines of messages."""

import re
from collections.abc import Iterator
from pathlib import Path

import orjson

from findback.errors import DataError, FindbackError
from findback.model.thread import Thread
from findback.sources.chat.slack_index import LISTS, PEOPLE, find_days, read_index
from findback.sources.chat.slack_parts import is_large, scan_in_parts
from findback.sources.chat.slack_reader import SOURCE, ExportReader, LinesReader, messages_of
from findback.sources.faults import Faults
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.opening import open_archive

name = SOURCE
family: Family = "chat"
rules = ("link-thanks", "link", "help-thread", "cue", "no-answer")

_TS = re.compile(r"\d{9,11}\.\d{1,6}")
_PEEKED = 20


def recognise(path: Path) -> str | None:
    """Return why a path is a Slack export, or None."""
    try:
        with open_archive(path) as archive:
            days = find_days(archive.names)
            files = {name.rpartition("/")[2] for name in archive.names}
            lists = sorted(files & {*LISTS, *PEOPLE})
            if days and lists:
                return f"{', '.join(lists)} beside folders of day files"
            if len(archive.names) == 1 and _looks_like_lines(archive.peek(archive.names[0])):
                return "messages with Slack's ts, one a line"
    except FindbackError:
        return None
    return None


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading a Slack export, channel by channel.

    People are complete before the first thread, but for those only messages name, who come with their channel.

    Raises:
        DataError: If it cannot be opened, or, at the end of reading, if records in it are broken.
        RefusedError: If it is larger than may be read.
    """
    archive = open_archive(path)
    reading, faults = Reading(), Faults()
    for reason, count in archive.left_out.items():
        reading.skipped.add(reason, count)
    if len(archive.names) == 1 and not find_days(archive.names):
        reading.threads = LinesReader(archive, options, reading, faults).threads()
        return reading
    index = read_index(archive, faults)
    if not index.channels:
        archive.close()
        raise DataError(
            f"{path} holds no day of a Slack channel", hint="expected folders of files named YYYY-MM-DD.json"
        )
    reading.threads = _scan(ExportReader(archive, index, options, reading, faults))
    return reading


def _scan(reader: ExportReader) -> Iterator[Thread]:
    with reader.archive:
        channels = reader.choose()
        if reader.options.processes > 1 and reader.index.people_listed and is_large(reader, channels):
            yield from scan_in_parts(reader, channels)
        else:
            for channel in channels:
                yield from reader.scan(channel)
        reader.settle()


def _looks_like_lines(start: bytes) -> bool:
    for line in start.split(b"\n", _PEEKED)[:_PEEKED]:
        if not line.strip():
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            return False
        first = value[0] if isinstance(value, list) and value else value
        if not isinstance(first, dict):
            return False
        inner = messages_of(first)
        message = inner[0] if inner else None
        return (
            isinstance(message, dict)
            and _TS.fullmatch(str(message.get("ts"))) is not None
            and ("user" in message or "bot_id" in message or message.get("type") == "message")
        )
    return False
