"""Questions about the same thing, and what they are called."""

import numpy as np
import pytest

from findback.writing.prompts import open_prompts
from findback.writing.themes import (
    MOST_QUESTIONS,
    SHOWN_QUESTIONS,
    Worded,
    ask_label,
    group_alike,
    name_by_words,
    tidy_label,
)


def vectors(*degrees: float) -> np.ndarray:
    radians = np.radians(degrees)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def test_groups_join_while_their_mean_cosine_is_high_enough() -> None:
    """By hand: cos 10° = .985; the mean of cos 30° and cos 20° is .903; cos 90° = 0."""
    found = vectors(0, 10, 30, 120)
    assert group_alike(found, alike=0.95) == [0, 0, 1, 2]
    assert group_alike(found, alike=0.9) == [0, 0, 0, 1]
    assert group_alike(found, alike=0.91) == [0, 0, 1, 2]


def test_one_question_and_none_are_no_problem() -> None:
    """There is nothing to compare."""
    assert group_alike(vectors(0), alike=0.5) == [0]
    assert group_alike(np.empty((0, 2), dtype=np.float32), alike=0.5) == []


def test_more_than_can_be_compared_are_refused() -> None:
    """Every pair is compared, so there is a limit, and it is said."""
    with pytest.raises(ValueError, match="at most 5000"):
        group_alike(np.zeros((MOST_QUESTIONS + 1, 1), dtype=np.float32), alike=0.5)


def test_a_theme_is_named_by_words_that_it_shares_and_others_lack() -> None:
    """By hand: "frostline" stands in both of one theme and nowhere else; "slow" in two themes of three counts less."""
    themes = [
        [Worded("frostline is slow", "en"), Worded("Frostline beeps, slow too", "en")],
        [Worded("slow crane", "en"), Worded("cranes are slow", "en"), Worded("crane slow", "en")],
        [Worded("badge lost", "en")],
    ]
    assert name_by_words(themes) == [("frostline", "slow"), ("crane", "slow"), ("badge", "lost")]


def test_a_word_of_one_question_names_no_theme_of_several() -> None:
    """Two questions that share no word have no words."""
    assert name_by_words([[Worded("stuck at customs", "en"), Worded("delivery blocked", "en")]]) == [()]


def test_the_model_sees_a_dozen_questions() -> None:
    """No more of them, each as data; the language is named where it is known."""
    ask = ask_label(
        open_prompts(), [f"question {n}" for n in range(40)], "de", state="unreviewed", item="slow, crane", attempt=2
    )
    assert ask.user.count("⟪questions") == SHOWN_QUESTIONS
    assert "question 11" in ask.user
    assert "question 12" not in ask.user
    assert "words in German" in ask.system
    assert (ask.state, ask.attempt) == ("unreviewed", 2)
    assert "crane" not in ask.system + ask.user


@pytest.mark.parametrize(
    ("answered", "label"),
    [
        ("“Parking permits.”", "Parking permits"),
        ("cold\nstorage  alarms", "cold storage alarms"),
        ("", None),
        ("...", None),
        ("w" * 61, None),
        ("permits of ⟦PERSON_1⟧", None),
        ("permits of ▒▒▒▒", None),
        ("Noor's permits", None),
        ("parking \x1b[31mpermits", None),
        ("<b>parking</b>", None),
        ("{{ label }}", None),
        ("**parking**", None),
        ("[parking](x)", None),
        ("C# and C++ clients", "C# and C++ clients"),
    ],
)
def test_a_label_is_tidied_or_turned_away(answered: str, label: str | None) -> None:
    """Placeholders, masks, sentences and what redaction takes away name no theme."""
    assert tidy_label(answered, lambda text: "Noor" not in text) == label
