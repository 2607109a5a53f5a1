"""The object in what a model said, whatever it put around it."""

import json
from typing import Any, TypeVar

from pydantic import ValidationError

from findback.model.record import Record

Given = TypeVar("Given", bound=Record)

LONGEST = 200_000
"""Characters of an answer that are looked at."""
MOST_STARTS = 50
"""Braces that are tried as the beginning of an object."""


def find_answer(text: str, answer: type[Given]) -> Given | None:
    """Return the first object in a text that is a valid answer; None where there is none.

    Fences, talk around the object, an object around it and keys nobody asked for do no harm.

    >>> from findback.model.bill import Estimate
    >>> find_answer("no object here", Estimate) is None
    True
    """
    decoder = json.JSONDecoder()
    text = text[:LONGEST]
    at = -1
    for _ in range(MOST_STARTS):
        at = text.find("{", at + 1)
        if at < 0:
            return None
        try:
            found, _end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if (value := _read(found, answer)) is not None:
            return value
    return None


def _read(found: Any, answer: type[Given]) -> Given | None:
    fields = answer.model_fields
    wanted = [name for name, field in fields.items() if field.is_required()] or list(fields)
    if not isinstance(found, dict) or not all(name in found for name in wanted):
        return None
    try:
        return answer.model_validate({name: value for name, value in found.items() if name in fields})
    except ValidationError:
        return None
