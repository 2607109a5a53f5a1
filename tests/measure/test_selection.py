"""Whose failures the cases are."""

import pytest

from findback.measure.selection import Chosen, count_selected, qualify
from findback.model.compared import Verdict

CASES: list[Chosen] = [
    ("failure", "old"),
    ("failure", "old"),
    ("failure", "portal search"),
    ("failure", None),
    ("control", "old"),
    (None, None),
]


def test_cases_count_against_the_system_they_name() -> None:
    """A failure case counts against the system it names; what names no compared one counts against production."""
    assert count_selected(CASES, ["old", "new"], production="new") == {"old": 2, "new": 2}
    assert count_selected(CASES, ["old", "new"], production="old") == {"old": 4, "new": 0}


def test_unknown_production_may_be_any_of_them() -> None:
    """Where nobody says which system people use, unknown failures count against every one."""
    assert count_selected(CASES, ["old", "new"]) == {"old": 4, "new": 2}


def test_known_strangers_count_against_nobody() -> None:
    """A failure of another retriever of the workspace, or of a production system elsewhere, is nobody's here."""
    assert count_selected(CASES, ["old", "new"], known={"portal search"}) == {"old": 3, "new": 1}
    assert count_selected(CASES, ["old", "new"], production="elsewhere") == {"old": 2, "new": 0}


@pytest.mark.parametrize(
    ("verdict", "selected", "control", "said"),
    [
        ("better", (0, 3), None, "better on its past failures"),
        ("better", (0, 3), "cannot tell", "better on its past failures"),
        ("better", (0, 3), "worse", "better on its past failures"),
        ("better", (0, 3), "better", "better"),
        ("better", (3, 0), None, "better"),
        ("worse", (3, 0), None, "worse on its past failures"),
        ("worse", (3, 0), "worse", "worse"),
        ("worse", (0, 3), None, "worse"),
        ("tied", (3, 3), None, "tied"),
        ("cannot tell", (3, 3), None, "cannot tell"),
    ],
)
def test_the_loser_may_have_been_at_a_disadvantage(
    verdict: Verdict, selected: tuple[int, int], control: Verdict | None, said: Verdict
) -> None:
    """A verdict against a system the cases were selected on is plain only where the control cases agree."""
    assert qualify(verdict, selected, control) == said
