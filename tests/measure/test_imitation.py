"""Hints that queries were written by a model or edited: numbers, never a verdict."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from findback.measure.imitation import describe_habits, find_hints


def test_model_written_questions_show_their_signs(data: Path) -> None:
    """472 questions written from their answers show six signs, each with its count."""
    queries = [
        row["question"] for row in csv.DictReader(StringIO((data / "chroma/questions.csv").read_text(encoding="utf-8")))
    ]
    hints = {hint.sign: hint for hint in find_hints(queries)}
    assert set(hints) == {
        "well-formed questions",
        "question-word openings",
        "no lower-case starts",
        "points at a text",
        "uniform length",
        "no typos",
    }
    assert hints["well-formed questions"].evidence == "472 of 472 queries end with a question mark"
    assert all(any(character.isdigit() for character in hint.evidence) for hint in hints.values())


def test_chat_questions_show_none(data: Path) -> None:
    """348 questions that people typed show no sign."""
    rows = [json.loads(line) for line in (data / "ubuntu/queries.jsonl").read_bytes().splitlines()]
    assert find_hints([row["query"] for row in rows]) == ()


def test_habits_by_hand() -> None:
    """Four queries, counted by hand."""
    habits = describe_habits(["What is it?", "wheres teh form", "According to the policy, who pays?", "返金は"], "en")
    assert habits is not None
    assert (habits.queries, habits.question_mark, habits.question_word) == (4, 0.5, 0.25)
    assert (habits.capital_start, habits.cased) == (pytest.approx(2 / 3), 3)
    assert (habits.pointing, habits.casual) == (0.25, 0.25)
    assert habits.mean_words == (3 + 3 + 6 + 2) / 4


def test_few_queries_give_no_hint() -> None:
    """Below twenty queries nothing is hinted, and nothing at all gives nothing."""
    assert find_hints(["What is a berth?"] * 19) == ()
    assert find_hints(["What is a berth?"] * 20) != ()
    assert describe_habits([]) is None
    assert describe_habits(["🙂", ""]) is None
