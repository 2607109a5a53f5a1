"""Messages as Slack writes them, of each only what is read, and of that most not before it is needed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

if TYPE_CHECKING:
    Later = Any
else:
    # What `open_value` takes apart; until then it stays as it is written.
    Later = msgspec.Raw


class Record(msgspec.Struct, gc=False):
    """One message; None stands for a field that is not there.

    Only `read_day` holds fields to their types: where a message of a file does not fit, fields may be anything.
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
    message: Later = None
    comment: Later = None
    file: Later = None
    files: Later = None
    attachments: Later = None
    reactions: Later = None
    edited: Later = None
    blocks: Later = None
    user_profile: Later = None


NOTHING = Record()
_FIELDS = frozenset(Record.__struct_fields__)
_DECODER = msgspec.json.Decoder(list[Record])


def read_day(raw: bytes) -> Any:
    """Return the JSON value of a day file, with records in place of its messages.

    Fields that are not read are skipped, which is most of the work of parsing. A file that does not fit in any
    message is parsed as a whole instead.

    Raises:
        JSONDecodeError: If it is not JSON.
    """
    try:
        if not raw.isascii():
            # What the decoder skips need not even be UTF-8.
            raw.decode()
        return _DECODER.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        day = orjson.loads(raw)
    if type(day) is dict and type(day.get("messages")) is list:
        day = day["messages"]
    return make_records(day) if type(day) is list else day


def make_records(messages: list[Any]) -> list[Any]:
    """Return parsed messages as records; what is no object stays as it is."""
    return [make_record(message) if type(message) is dict else message for message in messages]


def make_record(message: Mapping[str, Any]) -> Record:
    """Return a parsed message as a record, whatever its fields hold."""
    return Record(**{field: message[field] for field in _FIELDS & message.keys()})


def keep_rest(message: Record, *, blocks: bool) -> Record:
    """Return what a message has beside its text, with or without its blocks, and no longer as it was written.

    Raises:
        JSONDecodeError: If a value cannot be taken apart.
    """
    return Record(
        subtype=message.subtype,
        bot_id=message.bot_id,
        username=message.username,
        hidden=message.hidden,
        file=open_value(message.file),
        files=open_value(message.files),
        attachments=open_value(message.attachments),
        reactions=open_value(message.reactions),
        edited=open_value(message.edited),
        blocks=(open_value(message.blocks) or None) if blocks else None,
    )


def open_value(value: Any) -> Any:
    """Return what a field holds.

    Raises:
        JSONDecodeError: If it holds numbers too large or lists too deep for the parser.
    """
    return orjson.loads(memoryview(value)) if type(value) is msgspec.Raw else value
