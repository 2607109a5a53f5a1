"""What stands in the way of a release: where and by which rule, never the text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from findback.evalset.checks import PlacedCase, check_cases, strings_of
from findback.evalset.release import Release
from findback.model.case import Case
from findback.model.record import Record
from findback.privacy.release_check import Objection
from findback.steps.writtencases import NOT_FOR_DECISIONS

Check = Callable[[str], Sequence[Objection]]

FIXED = ("query", "origin", "stratum", "root", "split", "added_in")
"""What a released case keeps for life; the query as its asker wrote it before all."""


class Obstacle(Record):
    """One thing that stands in the way of a release."""

    case: str | None
    """Id of the case; None for the release itself and for a candidate that is no case yet."""
    candidate: str | None = None
    """Key of the candidate, where it comes from the workbench."""
    place: str
    """Where in it, such as `judged[0].anchor, character 12`."""
    rule: str
    """What is against it."""


def find_obstacles(
    cases: Sequence[Case],
    fresh: AbstractSet[str],
    parent: Release | None,
    check: Check,
    *,
    leak_limit: float,
    allow_toy_model: bool = False,
) -> list[Obstacle]:
    """Return everything against releasing a set.

    Args:
        cases: The whole set as it would be released.
        fresh: Ids of the cases that come from reviewed candidates.
        parent: The release before.
        check: Says what is against publishing a text.
        leak_limit: Most leak of a generated case.
        allow_toy_model: Whether the set may hold what a model wrote that is fit for trying things out only.
    """
    ordered = sorted(cases, key=lambda case: case.id)
    broken = check_cases([PlacedCase(line, case) for line, case in enumerate(ordered, 1)], leak_limit=leak_limit)
    return [
        *_compare(ordered, fresh, parent),
        *(Obstacle(case=ordered[fault.line - 1].id, place="case", rule=fault.message) for fault in broken),
        *([] if allow_toy_model else _find_toys(ordered)),
        *_check_strings(ordered, check),
    ]


def _find_toys(cases: Sequence[Case]) -> Iterator[Obstacle]:
    rule = "a model wrote it that is not for decisions: reject it, or release a set for trying out: --allow-toy-model"
    for case in cases:
        if NOT_FOR_DECISIONS in case.tags and case.status == "active":
            yield Obstacle(case=case.id, place="tags", rule=rule)


def check_text(text: str, place: str, check: Check) -> Iterator[Obstacle]:
    """Yield what is against publishing a text that belongs to no case."""
    for objection in check(text):
        yield Obstacle(case=None, place=_where(place, objection), rule=objection.reason)


def _check_strings(cases: Iterable[Case], check: Check) -> Iterator[Obstacle]:
    # Clusters, documents and wordings come again and again.
    checked = lru_cache(maxsize=None)(check)
    for case in cases:
        for place, text in strings_of(case):
            for objection in checked(text):
                yield Obstacle(case=case.id, place=_where(place, objection), rule=objection.reason)


def _where(place: str, objection: Objection) -> str:
    return place if objection.place is None else f"{place}, character {objection.place + 1}"


def _compare(cases: Sequence[Case], fresh: AbstractSet[str], parent: Release | None) -> Iterator[Obstacle]:
    released = {case.id: case for case in parent.content.cases} if parent is not None else {}
    for case in cases:
        before = released.get(case.id)
        if before is None:
            if case.id not in fresh:
                rule = "no release holds it, and no review stands behind it: label it as a candidate first"
                yield Obstacle(case=case.id, place="case", rule=rule)
            continue
        for field in FIXED if "withdrawn" not in (before.status, case.status) else ("added_in",):
            if getattr(case, field) != getattr(before, field):
                yield Obstacle(case=case.id, place=field, rule="a released case keeps it for life")
        if NOT_FOR_DECISIONS in before.tags and NOT_FOR_DECISIONS not in case.tags and case.status != "withdrawn":
            yield Obstacle(case=case.id, place="tags", rule=f"a released case keeps {NOT_FOR_DECISIONS} for life")
        if before.status == "withdrawn" and case.status != "withdrawn":
            yield Obstacle(case=case.id, place="status", rule="it was withdrawn, and does not come back")
    for id_ in sorted(released.keys() - {case.id for case in cases}):
        yield Obstacle(case=id_, place="case", rule="it is gone from the head: retire or withdraw it instead")
