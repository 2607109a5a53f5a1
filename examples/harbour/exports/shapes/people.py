"""The people, programs and channels of the exports."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any


class People:
    """Everybody who is on a list of one of the exports."""

    def __init__(self, path: Path) -> None:
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
        self.staff: list[dict[str, Any]] = listed["person"]
        self.bots: list[dict[str, Any]] = listed["bot"]
        self.customers: list[dict[str, Any]] = listed["customer"]
        self.channels: list[dict[str, Any]] = listed["channel"]

    @cached_property
    def by_handle(self) -> Mapping[str, dict[str, Any]]:
        """Staff, customers and programs by handle."""
        return {entry["handle"]: entry for entry in (*self.staff, *self.customers, *self.bots)}

    def rosters(self) -> dict[str, frozenset[str]]:
        """Return the names on the list of people of each export that has one."""
        return {"slack": _names_of(self.staff), "zendesk": _names_of((*self.staff, *self.customers))}


def _names_of(people: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return full, first and last names and handles, in lower case."""
    found = set()
    for entry in people:
        name = entry["name"].lower()
        found |= {name, entry["handle"], *name.split()}
    return frozenset(found)


def mail_of(entry: Mapping[str, Any]) -> str:
    """Return somebody's mail address."""
    return str(entry.get("mail") or f"{entry['handle']}@example.org")
