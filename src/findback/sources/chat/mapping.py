"""Mappings of messages: which field of a program's export is which, shipped and changed by a user."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from typing import Any

from findback.errors import SettingsError
from findback.model.thread import Audience

SHIPPED = ("discord", "mattermost", "zulip")


@dataclass(frozen=True, slots=True)
class MessageMapping:
    """Which field is which."""

    what: str
    files: str
    arrays: frozenset[str]
    contains: tuple[str, ...]
    beside: tuple[str, ...]
    message: Mapping[str, str]
    people: Mapping[str, str]
    containers: Mapping[str, str]
    direct: Mapping[str, str]
    audiences: Mapping[str, Audience]


@lru_cache
def load_mapping(name: str) -> MessageMapping:
    """Return a shipped mapping of messages.

    Raises:
        SettingsError: If there is none of that name.
    """
    path = files("findback.sources") / "mappings" / f"{name}.toml"
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"no mapping named {name!r}", hint=f"shipped: {', '.join(SHIPPED)}") from None
    return _mapping_of(listed)


def _mapping_of(listed: Mapping[str, Any]) -> MessageMapping:
    recognised = listed.get("recognise", {})
    return MessageMapping(
        what=listed.get("what", "messages"),
        files=listed.get("files", "*"),
        arrays=frozenset(listed.get("arrays", ())),
        contains=tuple(recognised.get("contains", ())),
        beside=tuple(recognised.get("beside", ())),
        message=listed.get("message", {}),
        people=listed.get("people", {}),
        containers=listed.get("containers", {}),
        direct=listed.get("direct", {}),
        audiences=listed.get("audiences", {}),
    )


def change_mapping(mapping: MessageMapping, given: Mapping[str, str] | None) -> MessageMapping:
    """Return a mapping with a user's own paths in the place of some of its own.

    Args:
        mapping: The one to start from.
        given: `text = "body.plain"` for a message's fields, `people.id = "…"`, `containers.name = "…"` and
            `audiences.open = "public"` for the rest, `files` and `arrays` (separated by commas).

    Raises:
        SettingsError: If a key is none of these.
    """
    if not given:
        return mapping
    parts: dict[str, dict[str, Any]] = {
        "message": dict(mapping.message),
        "people": dict(mapping.people),
        "containers": dict(mapping.containers),
        "direct": dict(mapping.direct),
        "audiences": dict(mapping.audiences),
    }
    names, arrays = mapping.files, mapping.arrays
    for key, value in given.items():
        part, dot, rest = key.partition(".")
        if key == "files":
            names = value
        elif key == "arrays":
            arrays = frozenset(name.strip() for name in value.split(","))
        elif dot and part in parts:
            parts[part][rest] = value
        elif not dot:
            parts["message"][key] = value
        else:
            raise SettingsError(f"a mapping of messages has no {key!r}", hint=f"parts: {', '.join(parts)}")
    strange = [
        value for value in parts["audiences"].values() if value not in ("public", "internal", "private", "direct")
    ]
    if strange:
        raise SettingsError(f"{strange[0]!r} is no audience", hint="public, internal, private or direct")
    return MessageMapping(mapping.what, names, arrays, mapping.contains, mapping.beside, **parts)


def is_file(name: str, globs: str) -> bool:
    """Return whether a member's own name fits one of some patterns, separated by commas."""
    return any(fnmatchcase(name.rpartition("/")[2], glob.strip()) for glob in globs.split(","))
