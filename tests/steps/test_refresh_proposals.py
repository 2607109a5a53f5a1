"""What is proposed for a case, by what is left of each part."""

import pytest

from builders.sets import case
from findback.measure.fates import Fate
from findback.steps.refresh_golds import Label, Sighted
from findback.steps.refresh_proposals import propose

EXACT, GONE = Fate("exact"), Fate("gone", share=0.0)
TO_B, INTO_B = Fate("moved", ("b",), 1.0, certain=True), Fate("merged", ("b",), 0.9)


def proposals(*golds: tuple[str, int, Fate, bool]) -> list[tuple[str, bool]]:
    """Return what is proposed for one case's golds: document, part, fate, and whether it is there."""
    judged = [{"doc": doc, "grade": 3, "part": part, "found_by": "resolver"} for doc, part, _, _ in golds]
    asked = case(1, judged=judged)
    found = propose(
        Sighted(Label(asked, judgement), fate, there)
        for judgement, (_, _, fate, there) in zip(asked.judged, golds, strict=True)
    )
    return [(one.proposal, one.certain) for one in found]


@pytest.mark.parametrize(
    ("golds", "wanted"),
    [
        ([("a", 1, TO_B, False)], [("move", True)]),
        ([("a", 1, INTO_B, False)], [("move", False)]),
        ([("a", 1, TO_B, False), ("b", 1, EXACT, True)], [("drop", False)]),
        ([("a", 1, TO_B, False), ("b", 2, EXACT, True)], [("look", False)]),
        ([("a", 1, INTO_B, False), ("c", 1, INTO_B, False)], [("move", False), ("drop", False)]),
        ([("a", 1, INTO_B, False), ("c", 2, INTO_B, False)], [("move", False), ("look", False)]),
        ([("a", 1, GONE, False), ("c", 1, EXACT, True)], [("drop", False)]),
        ([("a", 1, GONE, False), ("c", 2, EXACT, True)], [("relabel", False)]),
        ([("a", 1, GONE, False), ("c", 1, INTO_B, False)], [("drop", False), ("move", False)]),
        ([("a", 1, GONE, False), ("c", 2, GONE, False)], [("retire", False), ("retire", False)]),
        ([("a", 1, GONE, True)], [("look", False)]),
        ([("a", 1, Fate("weak", ("b",), 0.3), False)], [("relabel", False)]),
        ([("a", 1, Fate("edited", share=0.7), True)], [("none", False)]),
        ([("a", 1, EXACT, True)], []),
    ],
)
def test_what_is_left_decides(golds: list[tuple[str, int, Fate, bool]], wanted: list[tuple[str, bool]]) -> None:
    """An alternative that stays: drop. A part left empty: relabel. Nothing left: retire. No document twice a case."""
    assert proposals(*golds) == wanted
