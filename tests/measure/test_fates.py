"""What became of a gold document follows from where its text and quote stand."""

import pytest

from findback.measure.fates import Fate, Holder, Standing, judge_changed, judge_removed
from findback.text.reattach import Attached

EXACT, GONE = Attached("exact", 1.0), Attached("gone", 0.0)


def holder(
    name: str,
    standing: Standing = "new",
    text: float | None = None,
    fill: float | None = None,
    anchor: Attached | None = None,
) -> Holder:
    return Holder(name, standing, text, fill, anchor)


def test_the_same_text_under_one_new_id_moved_for_certain() -> None:
    """One document of the same text is where it is; of two, the one a redirect leads to; else nobody can tell."""
    assert judge_removed(["b"], None, [], together=None) == Fate("moved", ("b",), 1.0, certain=True)
    assert judge_removed(["b", "c"], holder("c"), [], together=None) == Fate("moved", ("c",), 1.0, certain=True)
    assert judge_removed(["b", "c"], None, [], together=None) == Fate("moved", ("b", "c"), 1.0, certain=False)


def test_a_redirect_against_the_text_is_not_certain() -> None:
    """Where the text went to one place and the redirect to another, somebody has to look."""
    assert judge_removed(["b"], holder("home", text=0.0), [], together=None) == Fate("moved", ("b",), 1.0)


def test_a_redirect_alone_is_not_certain() -> None:
    """Without old text or quote nothing says that the answer went where the redirect leads."""
    assert judge_removed([], holder("b"), [], together=None) == Fate("moved", ("b",))


@pytest.mark.parametrize(
    ("text", "fill", "standing", "kind", "certain"),
    [
        (0.9, 0.9, "new", "moved", True),
        (0.7, 0.9, "new", "moved", False),
        (0.9, 0.3, "new", "merged", False),
        (0.9, 0.9, "changed", "merged", False),
    ],
)
def test_a_redirect_to_changed_text(text: float, fill: float, standing: Standing, kind: str, certain: bool) -> None:
    """Most of the text in a new page moved; in a page of other things, or one that was there, it merged."""
    found = judge_removed([], holder("b", standing, text, fill), [], together=text)
    assert (found.kind, found.targets, found.certain) == (kind, ("b",), certain)


def test_a_redirect_to_a_page_without_the_text_says_nothing() -> None:
    """Deleted pages are often sent to the front page: the text is nowhere, and that is what is said."""
    assert judge_removed([], holder("home", "unchanged", 0.01, 0.01, GONE), [], together=0.01).kind == "gone"


def test_a_twin_that_was_there_before_has_not_taken_the_text_in() -> None:
    """A near-duplicate that did not change holds the text as it did: what is new is where the text went."""
    twin = holder("twin", "unchanged", 0.85, 0.85)
    pieces = [holder("a", text=0.55, fill=0.95), holder("b", text=0.45, fill=0.95)]
    assert judge_removed([], None, [twin], together=0.0) == Fate("superseded", ("twin",), 0.85)
    assert judge_removed([], None, [twin, *pieces], together=1.0) == Fate("split", ("a", "b"), 1.0)


def test_pieces_that_leave_out_too_much_are_no_split() -> None:
    """Two pages with a fifth of the text each hold too little of it together: little is left."""
    pieces = [holder("a", text=0.25, fill=0.5), holder("b", text=0.2, fill=0.5)]
    assert judge_removed([], None, pieces, together=0.45) == Fate("weak", ("a",), 0.25)


def test_the_piece_with_the_quote_comes_first() -> None:
    """Of the pages a text was split into the one that answers is named first, though another one is fuller."""
    pieces = [holder("a", text=0.6 - 0.01, fill=1, anchor=GONE), holder("b", text=0.4, fill=1, anchor=EXACT)]
    assert judge_removed([], None, pieces, together=0.99).targets == ("b", "a")


def test_a_quote_alone_tells_where_the_answer_went() -> None:
    """Where the old text is not remembered, the quote in a page that changed is a merge."""
    assert judge_removed([], None, [holder("b", "changed", anchor=EXACT)], together=None).kind == "merged"
    assert judge_removed([], None, [holder("b", "unknown", anchor=EXACT)], together=None).kind == "moved"


def test_a_changed_page_that_holds_its_quote_is_fine() -> None:
    """Exact and edited quotes hold, whatever else of the page changed; so does most of a page without a quote."""
    assert judge_changed(holder("a", "changed", 0.1, 0.1, EXACT), [], together=None).kind == "exact"
    edited = Attached("edited", 0.7)
    assert judge_changed(holder("a", "changed", 0.1, 0.1, edited), [], together=None) == Fate("edited", share=0.7)
    assert judge_changed(holder("a", "changed", 0.6, 0.1), [], together=None) == Fate("edited", share=0.6)


def test_a_quote_that_left_its_page() -> None:
    """In a new page: split, where the old one keeps the rest; in one that was there: superseded; nowhere: gone."""
    here = holder("a", "changed", 0.5, 0.9, GONE)
    assert judge_changed(here, [holder("b", anchor=EXACT)], together=None) == Fate("split", ("b",), 1.0)
    assert judge_changed(here, [holder("b", "unchanged", anchor=EXACT)], together=None).kind == "superseded"
    assert judge_changed(here, [], together=None) == Fate("gone", share=0.0)
    emptied = holder("a", "changed", 0.0, 0.0, GONE)
    assert judge_changed(emptied, [holder("b", "new", 0.9, 0.9, EXACT)], together=None).kind == "moved"


def test_what_cannot_be_told_is_said() -> None:
    """A changed page without quote and without what was remembered: that it changed, and no figure."""
    assert judge_changed(holder("a", "unknown"), [], together=None) == Fate("edited", share=None)
