"""Where a trace keeps what findback needs: shipped mapping files, and what the user says instead."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from findback.errors import UsageError
from findback.sources.traces.values import look_up

FIELDS = (
    "id", "conversation", "turn", "user", "project", "system", "audience", "text", "answer", "at", "ended", "outcome",
    "feedback", "gold", "tool", "query", "arguments", "results", "n_results", "documents", "offset", "batch", "failed",
    "calls", "messages", "marker", "namespace", "order", "multi_part",
)  # fmt: skip
"""Every field a mapping may place."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """Paths by field, and fixed values."""

    paths: Mapping[str, str]
    fixed: Mapping[str, str]

    def find(self, record: Any, field: str) -> Any:
        """Return a field's value in a record, its fixed value, or None."""
        path = self.paths.get(field)
        found = look_up(record, path) if path else None
        return self.fixed.get(field) if found is None else found


def load_mapping(name: str, own: Mapping[str, str] | None = None) -> Mapped:
    """Return a shipped mapping with the user's own paths over it; `=value` fixes a value.

    Raises:
        UsageError: If the user names a field that no trace has.
    """
    paths, fixed = _shipped(name)
    if not own:
        return Mapped(paths, fixed)
    unknown = sorted(set(own) - set(FIELDS))
    if unknown:
        raise UsageError(f"no trace has a field named {', '.join(unknown)[:200]}", hint=f"fields: {', '.join(FIELDS)}")
    set_to = {field: path[1:] for field, path in own.items() if path.startswith("=")}
    placed = {field: path for field, path in own.items() if not path.startswith("=")}
    return Mapped({**{k: v for k, v in paths.items() if k not in set_to}, **placed}, {**fixed, **set_to})


@lru_cache(maxsize=8)
def _shipped(name: str) -> tuple[dict[str, str], dict[str, str]]:
    text = (files("findback.sources") / "mappings" / f"{name}.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return {**table.get("paths", {})}, {**table.get("fixed", {})}
