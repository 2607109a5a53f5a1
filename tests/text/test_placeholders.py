"""Placeholders: their grammar, and the promise that redaction changed nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.model.hits import Span
from findback.text.placeholders import (
    TYPES,
    find_placeholders,
    is_only_redacted,
    list_faults,
    strip_placeholders,
    write_placeholder,
)


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_is_found_again(kind: str) -> None:
    """What is written as a placeholder is found with its type, number and place."""
    (found,) = find_placeholders(f"a {write_placeholder(kind, 12)} b")
    assert (found.type, found.number, found.span.start) == (kind, 12, 2)


@pytest.mark.parametrize(
    "text", ["⟦USER_0⟧", "⟦USER_01⟧", "⟦NAME_1⟧", "⟦USER⟧", "⟦USER_1", "USER_1⟧", "⟦⟦USER_1⟧", "⟦USER_٣⟧"]
)
def test_malformed_placeholders_are_faults(text: str) -> None:
    """Brackets around anything but a type and a number are reported."""
    assert list_faults(text)


def test_a_sound_text_has_no_faults() -> None:
    """Placeholders side by side and ordinary brackets are fine."""
    assert list_faults("⟦USER_1⟧⟦EMAIL_2⟧ [x] <USER>") == []


@pytest.mark.parametrize(("kind", "number"), [("NAME", 1), ("USER", 0), ("USER", 1_000_000), ("USER", -1)])
def test_no_placeholder_of_unknown_kind(kind: str, number: int) -> None:
    """Only known types and numbers from 1 to 999,999 are written."""
    with pytest.raises(ValueError, match="no placeholder"):
        write_placeholder(kind, number)


@given(
    st.lists(st.tuples(st.text(st.characters(exclude_characters="⟦⟧")), st.text(min_size=1)), max_size=4),
    st.text(st.characters(exclude_characters="⟦⟧")),
)
def test_redaction_that_changes_nothing_else_passes(pieces: list[tuple[str, str]], rest: str) -> None:
    """Whatever is redacted, raw minus spans equals redacted minus placeholders; one changed character breaks it."""
    raw, redacted, spans = "", "", []
    for kept, removed in pieces:
        raw += kept
        spans.append(Span(len(raw), len(raw) + len(removed)))
        raw += removed
        redacted += kept + write_placeholder("OTHER", len(spans))
    raw += rest
    redacted += rest
    assert is_only_redacted(raw, spans, redacted)
    assert not is_only_redacted(raw, spans, redacted + "x")
    assert strip_placeholders(redacted) == "".join(kept for kept, _ in pieces) + rest


def test_moved_text_between_placeholders_is_noticed() -> None:
    """Text that slides from one side of a placeholder to the other is a change, though the sums agree."""
    assert not is_only_redacted("a bo b", [Span(2, 4)], "⟦USER_1⟧a  b")
    assert not is_only_redacted("abc", [Span(1, 3), Span(0, 1)], "⟦USER_1⟧⟦USER_2⟧")
    assert not is_only_redacted("abc", [Span(1, 9)], "a⟦USER_1⟧")
