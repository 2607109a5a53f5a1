"""Reviewed candidates, held in memory or in a file that outlives a killed process."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from builders.portal import PAGES, write_portal
from builders.sets import case
from findback.model.case import Case
from findback.privacy.finding import Finding
from findback.steps.ready import ReadyCase
from findback.workbench.doubles import Opinions
from findback.workspace import Workspace, open_workspace

DOCUMENTS = tuple(PAGES)
WORDS = ("badge", "tunnel", "leave", "train", "backoff", "canary", "device", "calendar", "flight", "vendor", "desk")


def asked(number: int) -> str:
    """A question unlike every other: three words of eleven, and the number in letters."""
    spelled = "".join("abcdefghij"[int(digit)] * 3 for digit in str(number))
    return f"{WORDS[number % 11]} {spelled} {WORDS[number // 11 % 11]} {spelled[::-1]} {WORDS[number // 121 % 11]}"


def reviewed(number: int, **changes: object) -> Case:
    """A case as review hands it over: sound, in no release yet, about a page of the portal."""
    gold = DOCUMENTS[number % len(DOCUMENTS)]
    values = {"query": asked(number), "judged": [{"doc": gold, "grade": 3, "found_by": "resolver"}]}
    return case(number, **(values | changes))


class Ready:
    """Ready candidates; what is released is no longer ready."""

    def __init__(self, *cases: Case, blocked: Mapping[str, Sequence[str]] | None = None) -> None:
        self.cases = {f"key-{one.id}": one for one in cases}
        self.blocked = dict(blocked or {})
        self.given_back: set[str] = set()
        self.released: dict[str, Case] = {}

    def forget(self, cases: Collection[str], reason: str) -> int:
        gone = [key for key, case in self.cases.items() if case.id in cases]
        for key in gone:
            del self.cases[key]
        return len(gone)

    def newest_number(self) -> int:
        return max((one.added_in or 0 for one in self.released.values()), default=0)

    def opinions(self, cases: Collection[str]) -> list[Opinions]:
        return []

    def is_false_positive(self, finding: Finding, value: str) -> bool:
        return value in self.given_back

    def collect(self) -> list[ReadyCase]:
        waiting = [ReadyCase(key, one) for key, one in self.cases.items() if key not in self.released]
        return waiting + [ReadyCase(key, None, tuple(why)) for key, why in self.blocked.items()]

    def mark_released(self, cases: Mapping[str, Case]) -> None:
        assert not cases.keys() & self.released.keys(), "released twice"
        self.released.update(cases)


class StoredReady(Ready):
    """The same, with what is released kept in a file."""

    def __init__(self, file: Path, *cases: Case) -> None:
        super().__init__(*cases)
        self.file = file
        if file.exists():
            self.released = {key: case(**values) for key, values in json.loads(file.read_text()).items()}

    def mark_released(self, cases: Mapping[str, Case]) -> None:
        super().mark_released(cases)
        temporary = self.file.with_suffix(".new")
        temporary.write_text(json.dumps({key: one.model_dump(mode="json") for key, one in self.released.items()}))
        temporary.replace(self.file)


def portal(folder: Path, settings: str = "") -> Workspace:
    """A workspace with a corpus of six pages, and its private folder beside it."""
    root = write_portal(folder / "portal", settings)
    return open_workspace(root, environment={"XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)})
