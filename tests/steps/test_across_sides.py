"""What --across names."""

from pathlib import Path

import pytest

from builders.comparisons import question, question_set
from findback.errors import UsageError
from findback.steps.across_sides import name_sides, part_set


def test_two_releases_two_files_or_two_parts(tmp_path: Path) -> None:
    """Numbers are releases, what exists is a file, anything else a value of a set."""
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "b").mkdir()
    assert [side.name for side in name_sides("3, 4")] == ["release 3", "release 4"]
    files = name_sides(f"{tmp_path / 'a.jsonl'},{tmp_path / 'b'}")
    assert [(side.name, side.is_set) for side in files] == [("a.jsonl", True), ("b", True)]
    assert [side.is_set for side in name_sides("failure,control")] == [False, False]


@pytest.mark.parametrize("across", ["generated", "a,b,c", "mined,mined", ",mined", "generated,", "3,mined"])
def test_other_sides_are_refused(across: str) -> None:
    """Two different sides of one kind are needed, and the hint says which there are."""
    with pytest.raises(UsageError) as caught:
        name_sides(across)
    assert caught.value.hint


def test_parts_come_from_the_first_axis_that_has_both() -> None:
    """Origin comes before stratum; cases of neither value are on no side."""
    asked = [
        question(0, origin="mined", stratum="failure"),
        question(1, origin="generated", stratum="control"),
        question(2, origin="imported", stratum="failure"),
    ]
    mined, generated = part_set(question_set(asked), ["mined", "generated"])
    assert [one.id for one in mined.questions] == ["q0"]
    assert [one.id for one in generated.questions] == ["q1"]
    failure, control = part_set(question_set(asked), ["failure", "control"])
    assert [len(part) for part in (failure, control)] == [2, 1]
    assert mined.heading == question_set(asked).heading


def test_parts_that_are_not_there_name_what_is() -> None:
    """The hint lists the values of every axis that has any."""
    asked = [question(0, origin="mined", wording="vague"), question(1, origin="mined", wording="plain")]
    with pytest.raises(UsageError, match="no two parts mined and plain") as caught:
        part_set(question_set(asked), ["mined", "plain"])
    assert caught.value.hint == "it has origin: mined (2); wording: plain (1), vague (1); answer: one (2)"
