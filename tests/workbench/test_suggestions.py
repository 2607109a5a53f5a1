"""Drafts of judgements in the workbench: one each, gone with their candidate."""

from builders.candidates import NOON, candidate, digest
from findback.model.assisted import SuggestedGrade, Suggestion
from findback.workbench.store import Workbench


def draft(grade: int, document: str = "docs/ü\ud800.md") -> Suggestion:
    grades = (SuggestedGrade(document=document, grade=grade, quote="a sentence of it"),)
    return Suggestion(model="scripted:x", prompt="suggest@1", at=NOON, grades=grades)


def test_a_draft_comes_back_as_it_was_kept(workbench: Workbench) -> None:
    """The newest one; the same again is not new, and one for a candidate that is gone is not kept."""
    workbench.put([candidate("a"), candidate("b")], now=NOON)
    assert workbench.put_suggestions({digest("a"): draft(1), digest("gone"): draft(2)}, now=NOON) == 1
    assert workbench.put_suggestions({digest("a"): draft(1)}, now=NOON) == 0
    assert workbench.put_suggestions({digest("a"): draft(3), digest("b"): draft(0)}, now=NOON) == 2
    assert workbench.suggestions() == {digest("a"): draft(3), digest("b"): draft(0)}
    assert workbench.suggestions([digest("b")]) == {digest("b"): draft(0)}
    assert workbench.suggestions([]) == {}


def test_a_draft_goes_with_its_candidate(workbench: Workbench) -> None:
    """Whoever asked is erased with what a model thought of their question."""
    workbench.put([candidate("a", asker_hmac=digest("ana")), candidate("b", "bo", asker_hmac=digest("bo"))], now=NOON)
    workbench.put_suggestions({digest("a"): draft(1), digest("b"): draft(2)}, now=NOON)
    workbench.purge(now=NOON, person_hmac=digest("ana"))
    assert list(workbench.suggestions()) == [digest("b")]
