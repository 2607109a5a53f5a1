"""Asking how a question is worded."""

import pytest
from pydantic import ValidationError

from findback.writing.classify import Classified, ask_wording, match_wording
from findback.writing.prompts import open_prompts

WORDINGS = {"plain": "says it in the documents' words", "symptom-first": "tells what happens", "slang": "team jargon"}


def test_the_model_sees_the_question_and_the_definitions() -> None:
    """The team's own wording stands among the others with its definition; the question is data."""
    ask = ask_wording(open_prompts(), "it keeps beeping", WORDINGS, state="unreviewed", item="k1", attempt=3)
    assert "- slang: team jargon" in ask.system
    assert "⟪query⟫\nit keeps beeping\n⟪end of query⟫" in ask.user
    assert "about 0.33" in ask.system
    assert (ask.state, ask.item, ask.attempt, ask.answer) == ("unreviewed", "k1", 3, Classified)
    assert "k1" not in ask.system + ask.user


@pytest.mark.parametrize(
    ("answered", "meant"),
    [("slang", "slang"), ("Symptom First.", "symptom-first"), ("symptom_first", "symptom-first"), ("vague", None)],
)
def test_an_answer_means_a_wording_however_it_is_spelled(answered: str, meant: str | None) -> None:
    """Case, blanks and hyphens make no difference; anything else is none of the list."""
    assert match_wording(answered, WORDINGS) == meant


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_confidence_lies_between_0_and_1(confidence: float) -> None:
    """Anything else is no answer."""
    with pytest.raises(ValidationError):
        Classified(wording="plain", confidence=confidence)
