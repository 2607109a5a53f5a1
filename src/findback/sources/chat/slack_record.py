"""Messages as Slack writes them, of each only what is read, and of that most not before it is needed."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import orjson

_LATER: Final[Any] = None


class Record(msgspec.Struct, gc=False):
    """One message. None stands for a field that is not there.

    The types say what the quick way of reading lets through. A record made by `make_record` may hold anything.
    """

    ts: str | None = None
    text: str | None = None
    user: str | None = None
    thread_ts: str | None = None
    subtype: str | None = None
    bot_id: str | None = None
    username: str | None = None
    hidden: bool | None = None
    deleted_ts: str | None = None
    # The rest stays as it is written until `open_value` takes it apart.
    message: msgspec.Raw = _LATER
    comment: msgspec.Raw = _LATER
    file: msgspec.Raw = _LATER
    files: msgspec.Raw = _LATER
    attachments: msgspec.Raw = _LATER
    reactions: msgspec.Raw = _LATER
    edited: msgspec.Raw = _LATER
    blocks: msgspec.Raw = _LATER
    user_profile: msgspec.Raw = _LATER


_FIELDS = frozenset(Record.__struct_fields__)
_DECODER = msgspec.json.Decoder(list[Record])


def read_day(raw: bytes) -> Any:
    """Return the JSON value of a day file, its messages as records.

    Raises:
        JSONDecodeError: If it is not JSON.
    """
    try:
        # What the decoder skips it does not look at closely enough to see that it is not UTF-8.
        if raw.isascii() or raw.decode():
            return _DECODER.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Not as Slack writes it, in one message or in all of them.
        pass
    return make_records(orjson.loads(raw))


def make_records(day: Any) -> Any:
    """Return the value of a day file with records in place of its messages; what is no message stays as it is."""
    if type(day) is dict and type(day.get("messages")) is list:
        day = day["messages"]
    if type(day) is list:
        return [make_record(message) if type(message) is dict else message for message in day]
    return day


def make_record(message: Mapping[str, Any]) -> Record:
    """Return a message that is already taken apart as a record, whatever its fields hold."""
    return Record(**{field: message[field] for field in _FIELDS & message.keys()})


def open_value(value: Any) -> Any:
    """Return what a field holds.

    Raises:
        JSONDecodeError: If it is a number too large for any parser, or nested deeper than may be.
    """
    return orjson.loads(memoryview(value)) if type(value) is msgspec.Raw else value


def keep_rest(message: Record, *, blocks: bool) -> Record:
    """Return a record as it is kept, without the file it lies in: taken apart, with or without its blocks.

    Raises:
        JSONDecodeError: If a value cannot be taken apart.
    """
    return Record(
        subtype=message.subtype,
        bot_id=message.bot_id,
        username=message.username,
        files=open_value(message.files),
        file=open_value(message.file),
        attachments=open_value(message.attachments),
        reactions=open_value(message.reactions),
        edited=open_value(message.edited),
        blocks=(open_value(message.blocks) or None) if blocks else None,
    )
