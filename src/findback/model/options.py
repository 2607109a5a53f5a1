"""Records put together from what a caller named by hand, and what is wrong with that."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from findback.errors import UsageError
from findback.model.record import Record

Made = TypeVar("Made", bound=Record)


def make_record(
    kind: type[Made], values: Mapping[str, Any], *, spell: Callable[[str], str] = str, hint: str | None = None
) -> Made:
    """Return a record of these values.

    Args:
        kind: Which one.
        values: By the names of its fields.
        spell: How the caller writes an option of that name.
        hint: What the caller can do about a fault.

    Raises:
        UsageError: If a value is unknown, missing or makes no sense; every one at once, without the values.
    """
    try:
        return kind(**values)
    except ValidationError as error:
        raise UsageError("; ".join(list_option_faults(error, spell)), hint=hint) from None


def list_option_faults(error: ValidationError, spell: Callable[[str], str] = str) -> list[str]:
    """Return what is wrong with each option, without the values."""
    said = {"extra_forbidden": "there is no such option", "missing": "is needed"}
    return [
        f"{spell('.'.join(map(str, fault['loc'])))}:"
        f" {said.get(fault['type']) or _explain_pattern(fault) or fault['msg'].removeprefix('Value error, ').lower()}"
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    ]


def _explain_pattern(fault: Mapping[str, Any]) -> str | None:
    """Return what a pattern says in words; None for other faults."""
    if fault["type"] == "string_pattern_mismatch" and fault["loc"][-1:] == ("language",):
        return "must be a two- or three-letter language code in lower case"
    return None
