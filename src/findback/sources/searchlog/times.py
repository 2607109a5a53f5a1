"""Times as logs write them: ISO 8601 in its variants, epochs in four units, access-log style."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - UTC without zone is what the table holds
_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_UNITS = (("ns", 10**16, 10**19), ("us", 10**13, 10**16), ("ms", 10**11, 10**13), ("s", 0, 10**11))


def read_time(value: object, *, unit: str | None = None, layout: str | None = None) -> datetime | None:
    """Return a time in UTC without zone; None for nothing or for what is no time.

    A text without zone is taken as UTC. A number's unit is told by its size unless given: seconds reach to
    the year 5138, milliseconds from 1973, microseconds from 1970-04-26.

    Args:
        value: Text, number or datetime.
        unit: s, ms, us or ns, for numbers.
        layout: strptime format of a text that is not ISO 8601.

    >>> read_time("2025-01-24T07:31:55.649+0000") == read_time(1737703915649) == read_time("2025-01-24 07:31:55,649")
    True
    >>> read_time("2024-12-10T01:01:29+01:00"), read_time(""), read_time("soon")
    (datetime.datetime(2024, 12, 10, 0, 1, 29), None, None)
    """
    if isinstance(value, datetime):
        return _naive(value)
    if isinstance(value, str):
        return _from_text(value.strip(), unit, layout)
    return _from_epoch(value, unit) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _from_text(text: str, unit: str | None, layout: str | None) -> datetime | None:
    try:
        if layout is not None:
            return _naive(datetime.strptime(text, layout))  # noqa: DTZ007 - a time without zone is UTC
        if text.replace(".", "", 1).isdigit():
            return _from_epoch(float(text) if "." in text else int(text), unit)
        # A comma before the fraction is what log4j writes.
        return _naive(datetime.fromisoformat(text.replace(",", ".").removesuffix(" UTC")))
    except (ValueError, OverflowError):
        return None


def _from_epoch(value: float, unit: str | None) -> datetime | None:
    size = abs(value)
    unit = unit or next((name for name, low, high in _UNITS if low <= size < high), None)
    try:
        if unit == "ns":
            return _EPOCH + timedelta(microseconds=int(value) // 1000)
        if unit in _MICROSECONDS:
            return _EPOCH + timedelta(microseconds=round(value * _MICROSECONDS[unit]))
    except (OverflowError, ValueError):
        return None
    return None


def _naive(time: datetime) -> datetime:
    return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
