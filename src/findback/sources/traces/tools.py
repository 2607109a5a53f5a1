"""Which calls count as retrieval: what a trace itself marks, and what the user names."""

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

ToolMark = Literal["retriever", "datastore", "none"]
"""What the trace says the tool is: a retriever, a tool over a data store, or nothing of the kind."""

HOSTED = frozenset({"file_search", "file_search_call"})
"""Search tools that a model's provider runs, whose name means one thing."""

_SEARCHES = ("search", "retriev")
_SHOWN = 8


class RetrievalTools:
    """The user's allow-list over a safe default.

    A retriever by the trace's own type, `file_search`, and a tool marked as one over a data store whose name
    says search or retrieve count by themselves. Nothing else does, whatever its name: code navigation and web
    search are no document search. A pattern adds tools (`docs_*`); one with `!` takes tools away (`!memory*`).
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self._added = tuple(pattern.casefold() for pattern in patterns if not pattern.startswith("!"))
        self._barred = tuple(pattern[1:].casefold() for pattern in patterns if pattern.startswith("!"))
        self.counted: Counter[str] = Counter()
        """Calls that count, by tool."""
        self.passed: Counter[str] = Counter()
        """Calls that do not, by tool."""

    def count(self, name: str, mark: ToolMark = "none") -> bool:
        """Say whether a call of this tool is a search, and count it."""
        counts = self._counts(name.casefold(), mark)
        (self.counted if counts else self.passed)[name] += 1
        return counts

    def describe(self) -> str | None:
        """Return which tools were called and not counted, or None."""
        if not self.passed:
            return None
        shown = ", ".join(f"{name} {count:,}" for name, count in self.passed.most_common(_SHOWN))
        more = len(self.passed) - _SHOWN
        rest = f" and {more} more" if more > 0 else ""
        return f"tool calls not counted as search (name those that are): {shown}{rest}"

    def _counts(self, name: str, mark: ToolMark) -> bool:
        if any(fnmatchcase(name, pattern) for pattern in self._barred):
            return False
        if any(fnmatchcase(name, pattern) for pattern in self._added):
            return True
        if mark == "retriever" or name in HOSTED:
            return True
        return mark == "datastore" and any(word in name for word in _SEARCHES)
