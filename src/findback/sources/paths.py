"""Fields named by paths: `author.id`, `replies[].text`, `a|b` for either, `a&b` for both joined, `/x` from the top."""

from collections.abc import Iterator, Mapping
from typing import Any

_FALSE = frozenset(("", "false", "no", "0", "none", "null", "f"))


def follow(path: str, value: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Any]:
    """Yield everything a single path leads to; nothing where it leads nowhere.

    >>> list(follow("replies[].text", {"replies": [{"text": "a"}, {"text": "b"}]}, {}))
    ['a', 'b']
    """
    held: list[Any] = [root if path.startswith("/") else value]
    for step in path.lstrip("/").split("."):
        name, listed = step.removesuffix("[]"), step.endswith("[]")
        found = [inner[name] for inner in held if isinstance(inner, Mapping) and inner.get(name) is not None]
        held = [item for inner in found if isinstance(inner, list) for item in inner] if listed else found
    yield from held


class Row:
    """A record whose fields are found by path."""

    def __init__(self, value: Mapping[str, Any], root: Mapping[str, Any]) -> None:
        self.value = value
        self.root = root

    def all(self, paths: str | None) -> Iterator[Any]:
        """Yield what each of the alternatives leads to, in order."""
        for path in paths.split("|") if paths else ():
            yield from follow(path, self.value, self.root)

    def first(self, paths: str | None) -> Any:
        """Return the first thing that is there and not empty, or None."""
        return next((found for found in self.all(paths) if found not in ("", [], {})), None)

    def text(self, paths: str | None) -> str | None:
        """Return the first text or number as text; parts of a path joined by `&` are joined by `/`.

        >>> Row({"team": "a", "name": "b", "n": 7}, {}).text("team&name"), Row({"n": 7}, {}).text("m|n")
        ('a/b', '7')
        """
        for path in paths.split("|") if paths else ():
            parts = [_as_text(next(follow(part, self.value, self.root), None)) for part in path.split("&")]
            if all(part is not None for part in parts):
                return "/".join(part for part in parts if part is not None)
        return None

    def texts(self, paths: str | None) -> tuple[str, ...]:
        """Return every text the alternatives lead to that is not blank, each once."""
        found = (_as_text(value) for value in self.all(paths))
        return tuple(dict.fromkeys(text for text in found if text is not None and text.strip()))

    def flag(self, paths: str | None) -> bool:
        """Return whether a field says yes; `!` before its path turns it round, and what is not there says no.

        >>> row = Row({"active": False, "deleted_at": 0}, {})
        >>> row.flag("!active"), row.flag("deleted_at"), row.flag("bot")
        (True, False, False)
        """
        if not paths:
            return False
        value = self.first(paths.removeprefix("!"))
        if value is None:
            return False
        said = str(value).strip().casefold() not in _FALSE
        return said != paths.startswith("!")

    def meets(self, condition: str | None) -> bool:
        """Return whether a field has one of the values of `path=value,value`; without a condition always."""
        if not condition:
            return True
        path, _, values = condition.partition("=")
        found = self.text(path)
        return found is not None and found in values.split(",")


def _as_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).casefold()
    return str(value) if isinstance(value, (int, float)) else None
