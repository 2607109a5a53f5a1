"""Records as JSON: exact values, keys in the record's order, None as null."""

import re

from findback.model.record import Record

_UNSAFE = re.compile(
    "[\\x7f-\\x9f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\U000e0000-\\U000e007f]"
)


def render_json(record: Record) -> str:
    """Return a record as JSON that a terminal shows without being commanded; NaN cannot occur in a record.

    What is escaped stands only inside JSON strings, so the text reads back unchanged.
    """
    return _UNSAFE.sub(_escaped, record.model_dump_json(indent=2)) + "\n"


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
