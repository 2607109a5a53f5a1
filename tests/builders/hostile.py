"""Records with hostile or tell-tale text in every field that takes text."""

from types import UnionType
from typing import Any, Union, get_args, get_origin

from findback.model.record import Record

SCRIPT = "<script>alert(1)</script><img src=http://example.org/x onerror=alert(2)>"
HOSTILE = (
    f"{SCRIPT}\"' onload='x' \x1b[31mred\x1b]8;;http://example.org\x07link\x9b2J \u202egnp.exe\u2066 "
    "{{7*7}} {% raw %} {{ ''.__class__ }} | `tick` **bold** [a](http://example.org) ![i](http://example.org/i.png) "
    "@team www.example.org\n# head\r\n- item\x00 [bold red]markup[/] &amp; </style></svg></title>-->"
)


def _takes_text(annotation: Any) -> bool:
    """Return whether a field is free text: `str` or `str | None`; choices are not."""
    if annotation is str:
        return True
    return get_origin(annotation) in (Union, UnionType) and str in get_args(annotation)


def refilled(record: Any, text: Any, path: str = "", *, skip: frozenset[str] = frozenset()) -> Any:
    """Return a record whose every text field is replaced by `text(path)`.

    Args:
        record: A record, or a tuple, dictionary or value inside one.
        text: Called with the field's dotted path, returns what to put there.
        path: Where the record stands.
        skip: Paths left as they are.
    """
    if isinstance(record, Record):
        changed = {}
        for name, field in type(record).model_fields.items():
            value, where = getattr(record, name), f"{path}.{name}".lstrip(".")
            if where in skip:
                continue
            if isinstance(value, str):
                if _takes_text(field.annotation):
                    changed[name] = text(where)
            elif isinstance(value, tuple) and value and all(isinstance(item, str) for item in value):
                changed[name] = tuple(text(where) for _ in value)
            else:
                changed[name] = refilled(value, text, where, skip=skip)
        return record.model_copy(update=changed)
    if isinstance(record, tuple) and record and all(isinstance(item, Record) for item in record):
        return tuple(refilled(item, text, path, skip=skip) for item in record)
    if isinstance(record, dict):
        return {key: refilled(value, text, path, skip=skip) for key, value in record.items()}
    return record
