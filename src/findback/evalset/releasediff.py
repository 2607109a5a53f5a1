"""What changed from one state of a set to another."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, get_args

from findback.model.case import Case
from findback.model.record import Record

Change = Literal["added", "retired", "relabelled", "withdrawn", "reinstated", "changed", "missing"]
CHANGES: tuple[Change, ...] = get_args(Change)
DIFF_AXES = ("wording", "answer", "origin", "stratum")

LABEL = ("judged", "no_answer_reason")
"""Fields that are the label; another value of one of them makes a case relabelled."""
_STATUS = ("status", "retired_because", "added_in", "split")


class ChangeCount(Record):
    """How many cases of one type changed in which way."""

    axis: str
    """wording, answer, origin or stratum."""
    value: str
    counts: dict[Change, int]


class SetDiff(Record):
    """The cases that differ between two states of a set."""

    added: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    relabelled: tuple[str, ...] = ()
    """Other judgements, or another reason for having none."""
    withdrawn: tuple[str, ...] = ()
    reinstated: tuple[str, ...] = ()
    """Retired before, active now."""
    changed: tuple[str, ...] = ()
    """Same label; wording class, cluster, context or tags differ."""
    missing: tuple[str, ...] = ()
    """There before and not there now, which no release may have."""
    same: int = 0
    """Cases without any difference."""
    by: tuple[ChangeCount, ...] = ()
    """The same by type and stratum; a withdrawn case counts as what it was."""

    def __bool__(self) -> bool:
        """Return whether anything differs."""
        return any(getattr(self, change) for change in CHANGES)


def compare_cases(before: Iterable[Case], after: Iterable[Case]) -> SetDiff:
    """Return what changed between two states of a set; ids in their order."""
    old = {case.id: case for case in before}
    new = {case.id: case for case in after}
    found: dict[Change, list[str]] = {change: [] for change in CHANGES}
    counted: dict[tuple[str, str], Counter[Change]] = {}
    same = 0
    for id_ in sorted(old.keys() | new.keys()):
        change = _tell(old.get(id_), new.get(id_))
        if change is None:
            same += 1
            continue
        found[change].append(id_)
        case = old[id_] if change in ("withdrawn", "missing") else new[id_]
        for axis in DIFF_AXES:
            counted.setdefault((axis, str(getattr(case, axis))), Counter())[change] += 1
    rows = [
        ChangeCount(axis=axis, value=value, counts={change: counts[change] for change in CHANGES if counts[change]})
        for (axis, value), counts in sorted(counted.items(), key=lambda item: (DIFF_AXES.index(item[0][0]), item[0][1]))
    ]
    return SetDiff(**{change: tuple(ids) for change, ids in found.items()}, same=same, by=tuple(rows))


def _tell(old: Case | None, new: Case | None) -> Change | None:
    if new is None:
        return "missing"
    if old is None:
        return "added"
    if old.status != new.status:
        return {"active": "reinstated", "retired": "retired", "withdrawn": "withdrawn"}[new.status]  # type: ignore[return-value]
    if any(getattr(old, field) != getattr(new, field) for field in LABEL):
        return "relabelled"
    rest = set(Case.model_fields) - {*LABEL, *_STATUS}
    return "changed" if any(getattr(old, field) != getattr(new, field) for field in rest) else None
