"""Mappings: where a ticket system's fields stand in its exports."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from findback.errors import SettingsError

SHIPPED = ("freshdesk", "intercom", "servicenow")
"""Mappings that come with findback."""
_SECTIONS: dict[str, frozenset[str]] = {
    "ticket": frozenset(
        (
            *("id", "title", "asker", "created", "container", "tags", "status", "closed", "closed_at", "closed_by"),
            *("reopened", "layouts", "spam", "duplicate_of"),
        )
    ),
    "opening": frozenset(("html", "text", "author", "id", "redacted", "or_title", "author_kind")),
    "closing": frozenset(("text", "html")),
    "messages": frozenset(
        (
            *("at", "ticket", "id", "author", "created", "html", "text", "internal", "public", "by_asker", "files"),
            *("kind", "internal_kinds", "closing_kinds", "reopening_kinds", "author_kind", "assistant", "redacted"),
        )
    ),
}
_TRUE = frozenset(("true", "1", "yes", "wahr", "ja", "oui", "vrai"))


@cache
def load_mapping(name: str) -> Mapping[str, Any]:
    """Return a mapping that comes with findback."""
    text = files("findback.sources").joinpath(f"mappings/{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def build_mapping(given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return a user's own mapping from dotted names such as `ticket.id = "Ticket ID"`.

    Several places for one field, the first that is there counts, stand apart by ` | `.

    Raises:
        SettingsError: If a name is unknown, or the ticket's id or first text has no place.
    """
    built: dict[str, Any] = {"what": "the mapping given", "arrays": ["tickets", "records", "rows", "data"]}
    unknown = []
    for dotted, place in given.items():
        section, _, name = dotted.partition(".")
        if name not in _SECTIONS.get(section, frozenset()):
            unknown.append(dotted)
            continue
        holder = built.setdefault(section, [{}] if section == "messages" else {})
        (holder[0] if isinstance(holder, list) else holder)[name] = [part.strip() for part in place.split(" | ")]
    if unknown:
        known = sorted(f"{section}.{name}" for section, names in _SECTIONS.items() for name in names)
        raise SettingsError(
            f"the mapping names fields that no ticket has: {', '.join(sorted(unknown))}",
            hint=f"known: {', '.join(known)}",
        )
    if "id" not in built.get("ticket", {}) or not ({"html", "text"} & set(built.get("opening", {}))):
        raise SettingsError(
            "the mapping does not say where a ticket's id and first text stand",
            hint='give at least "ticket.id" and "opening.text" or "opening.html"',
        )
    return built


def matches(values: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether a record has the fields by which a mapping is recognised."""
    every, some = wanted.get("all", ()), wanted.get("any", ())
    return all(is_there(_walk(values, name)) for name in every) and (
        not some or any(is_there(_walk(values, name)) for name in some)
    )


_ABSENT: Any = object()


def find(values: Any, paths: Any) -> Any:
    """Return what stands at the first path that is there; a name with dots in it comes before the path it spells."""
    for path in paths or ():
        value = _walk(values, path)
        if value is not _ABSENT and value is not None and value != "":
            return value
    return _ABSENT


def is_there(value: Any) -> bool:
    """Return whether `find` found something."""
    return value is not _ABSENT


def _walk(values: Any, path: str) -> Any:
    if not isinstance(values, Mapping):
        return _ABSENT
    if path in values:
        return values[path]
    node: Any = values
    for name in path.split("."):
        if not isinstance(node, Mapping) or name not in node:
            return _ABSENT
        node = node[name]
    return node


def listed(value: Any) -> Iterator[Any]:
    """Yield the items of a list, or a single value, or nothing."""
    if isinstance(value, list):
        yield from value
    elif is_there(value) and value is not None:
        yield value


_JOURNAL = re.compile(
    r"^(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|\d\d[./-]\d\d[./-]\d{4} \d\d:\d\d:\d\d)"
    r" - ([^()\r\n]{1,200}?) \(([^()\r\n]{1,80})\)[ \t]*\r?$",
    re.MULTILINE,
)


def split_journal(text: str) -> Iterator[tuple[str, str, str, str]]:
    r"""Yield time, author, kind and text of each note of a journal field, oldest first.

    >>> list(split_journal("2024-05-03 10:00:00 - Bo Baker (Work notes)\nsee KB0000001\n\n"))
    [('2024-05-03 10:00:00', 'Bo Baker', 'Work notes', 'see KB0000001')]
    """
    heads = list(_JOURNAL.finditer(text))
    for index in range(len(heads) - 1, -1, -1):
        head = heads[index]
        end = heads[index + 1].start() if index + 1 < len(heads) else len(text)
        yield head[1], head[2], head[3], text[head.end() : end].strip("\r\n")


def plain(value: Any) -> str | None:
    """Return a value as text, the shown one of ServiceNow's pairs; None for what is none."""
    if isinstance(value, Mapping):
        value = value["display_value"] if "display_value" in value else value.get("value")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float | datetime) else None


def flag(value: Any) -> bool:
    """Return whether a value says yes."""
    return (plain(value) or "").strip().casefold() in _TRUE if is_there(value) else False


def named(item: Any) -> str | None:
    """Return the name of a tag or file, which may be an object."""
    return plain(item.get("name") or item.get("file_name")) if isinstance(item, Mapping) else plain(item)


def unwrap(values: Mapping[str, Any], mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record without the single key some exports wrap it in."""
    for name in mapping.get("unwrap", ()):
        inner = values.get(name)
        if isinstance(inner, dict):
            return inner
    return values
