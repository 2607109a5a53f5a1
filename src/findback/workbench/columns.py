"""Column types that give back exactly what was put in, on every database."""

import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Integer, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")

Number = BigInteger().with_variant(Integer, "sqlite")
"""A row number: SQLite counts rows by itself only in an INTEGER column."""


def escape_text(text: str) -> str:
    r"""Return a text that UTF-8 and PostgreSQL can hold: no NUL, no lone surrogate.

    >>> escape_text("tab stays \t")
    'tab stays \t'
    """
    return _UNSTORABLE.sub(lambda match: f"\x1a{ord(match[0]):04x}", text)


def unescape_text(text: str) -> str:
    """Return the text that `escape_text` was given."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


class ExactText(TypeDecorator[str]):
    """Any Python text, byte for byte, NUL and lone surrogates included."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Return what the database is given."""
        return None if value is None else escape_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Return what the database was given."""
        return None if value is None else unescape_text(value)


class UtcTime(TypeDecorator[datetime]):
    """A moment, UTC on both ways; one without a zone is taken for UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Return what the database is given: SQLite keeps no zone."""
        if value is None:
            return None
        moment = as_utc(value)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Return the moment in UTC."""
        return None if value is None else as_utc(value)


def as_utc(moment: datetime) -> datetime:
    """Return the moment in UTC; one without a zone is taken for UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
