"""A text that repeats a case, a candidate or another text is no new case."""

import json
from pathlib import Path

import pytest

from findback.writing.novelty import Novelty

KNOWN = [
    "Three letters to our biggest customer bounced last night and nobody knows where they ended up.",
    "Gestern Abend kamen drei Briefe an unseren besten Kunden zurück, und niemand weiß, wo sie liegen.",
    "大事なお客さんあての手紙がきのう三通も戻ってきて、今どこにあるのか誰も知りません。",
]


@pytest.mark.parametrize(
    "text",
    [
        "three letters to our biggest customer bounced last night, and nobody knows where they ended up",
        "Gestern Abend kamen drei Briefe an unseren besten Kunden zurück und niemand weiß, wo sie liegen!",
        "大事なお客さんあての手紙がきのう三通も戻ってきて、いまどこにあるのか誰も知りません",
    ],
)
def test_a_near_duplicate_of_a_known_text_is_turned_away(text: str) -> None:
    """Case, punctuation and single characters make no case new, in English, German and Japanese."""
    rejection = Novelty(KNOWN).reject(text)
    assert rejection is not None
    assert (rejection.by, rejection.reason) == ("novelty", "repeats another text")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Last night nobody knows where letters ended up: the biggest customer, three bounced!", "en"),
        ("Niemand weiß, wo die drei Briefe an den besten Kunden liegen, die gestern Abend zurück kamen.", "de"),
    ],
)
def test_the_same_words_in_another_order_are_nothing_new(text: str, language: str) -> None:
    """A text made of a known one's words is turned away for that."""
    rejection = Novelty(KNOWN).reject(text, language)
    assert rejection is not None
    assert rejection.reason == "same words as another text"


def test_a_known_text_inside_a_longer_one_is_found() -> None:
    """Whichever of the two is the longer, the shorter one says nothing the other does not."""
    novelty = Novelty(["The badge opens no door since the battery change."])
    longer = (
        "Since Monday's battery change my badge opens no door at all, and the guard at the desk only shrugged at me."
    )
    rejection = novelty.reject(longer, "en")
    assert rejection is not None
    assert rejection.reason == "same words as another text"


def test_a_new_text_passes_and_is_known_from_then_on() -> None:
    """What was accepted in the run counts from then on, and only then."""
    novelty = Novelty(KNOWN)
    text = "The lift stops between floors and the alarm button stays dark."
    assert novelty.reject(text, "en") is None
    assert novelty.reject(text, "en") is None
    novelty.add(text, "en")
    assert novelty.reject(text, "en") is not None


def test_short_texts_with_a_common_word_are_different() -> None:
    """Two words in common say nothing: 'gate light' does not repeat 'gate light red again today'."""
    assert Novelty(["gate light red again this morning"]).reject("gate light", "en") is None
    assert Novelty(["…"]).reject("…", "en") is None


def test_real_questions_are_new_but_for_those_asked_twice(data: Path) -> None:
    """Among 348 real questions, taken one after the other, four repeat an earlier one word for word or nearly."""
    novelty, repeated = Novelty([]), []
    for line in (data / "ubuntu" / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)["query"]
        rejection = novelty.reject(query, "en")
        repeated += [] if rejection is None else [rejection.reason]
        novelty.add(query, "en")
    assert repeated == ["repeats another text"] * 4
