"""What pydantic found wrong, in words that never repeat the value."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

_PATTERNS = {
    "id": "must be 'c' and ten lower-case letters or digits",
    "root": "must be 'c' and ten lower-case letters or digits",
    "language": "must be a two- or three-letter language code in lower case",
    "seen_on": "must be a month, YYYY-MM",
}

_TYPES = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "string_unicode": "holds characters that are no valid Unicode",
}


def sentences(error: ValidationError) -> list[str]:
    """Return one sentence for each thing that is wrong with a record: the field and what is wrong.

    >>> from findback.model.case import Judgement
    >>> try:
    ...     Judgement.model_validate({"doc": "a.md", "grade": 7, "found_by": "reviewer", "colour": 1})
    ... except ValidationError as error:
    ...     sentences(error)
    ['`grade` must be at most 3', '`colour` is not a known key']
    """
    return [_sentence(entry) for entry in error.errors(include_url=False, include_input=False)]


def _sentence(entry: Mapping[str, Any]) -> str:
    where = _place(entry["loc"])
    kind = str(entry["type"])
    context = entry.get("ctx", {})
    if kind == "json_invalid":
        return f"no valid JSON: {context.get('error', 'it cannot be read')}"
    if kind == "model_type" and not entry["loc"]:
        return "must be a JSON object"
    return f"`{where}` {_trouble(kind, entry, context)}"


def _trouble(kind: str, entry: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    last = str(entry["loc"][-1]) if entry["loc"] else ""
    bounds = {
        "missing": "is missing",
        "extra_forbidden": "is not a known key",
        "literal_error": f"must be {context.get('expected', 'one of the known words')}",
        "string_too_short": "must not be empty",
        "string_too_long": f"has more than {context.get('max_length', 0):,} characters",
        "greater_than_equal": f"must be at least {context.get('ge')}",
        "less_than_equal": f"must be at most {context.get('le')}",
        "greater_than": f"must be more than {context.get('gt')}",
        "less_than": f"must be less than {context.get('lt')}",
        "string_pattern_mismatch": _PATTERNS.get(last, "does not have the form it must have"),
    }
    return bounds.get(kind) or _TYPES.get(kind) or f"is not as it must be ({kind.replace('_', ' ')})"


def _place(location: tuple[int | str, ...]) -> str:
    place = ""
    for step in location:
        if isinstance(step, int):
            place += f"[{step}]"
        else:
            key = "".join(c for c in step[:60] if c.isprintable())
            place += f".{key}" if place else key
    return place
