"""Text made safe to show: nothing steers a terminal or forms markup."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.text.safe import clip, escape_markdown, escape_terminal


@given(st.text(), st.booleans())
def test_no_control_or_override_survives(text: str, multiline: bool) -> None:
    """What is printed holds no control, surrogate or direction override, and can be encoded."""
    shown = escape_terminal(text, multiline=multiline)
    allowed = "\n\t" if multiline else ""
    assert not [
        character for character in shown if unicodedata.category(character) in ("Cc", "Cs") and character not in allowed
    ]
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown)
    shown.encode()


def test_escapes_stay_visible() -> None:
    """An escape shows as its picture, an override and a tag as a replacement character."""
    assert escape_terminal("\x1b]0;x\x07\u202eabc\U000e0041\x9b\x7f\r\nz") == "␛]0;x␇\ufffdabc\ufffd\ufffd␡ z"
    assert escape_terminal("a\r\n\tb\x00", multiline=True) == "a\n\tb␀"


@given(st.text())
def test_plain_letters_are_left_alone(text: str) -> None:
    """Letters, digits and emoji pass unchanged."""
    kept = "".join(character for character in text if character.isalnum())
    assert escape_terminal(kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        "<script>",
        "[x](http://e.example)",
        "a|b",
        "# h",
        "`c`",
        "@team",
        "www.example.org",
        "1. x",
        "- x",
        "![i](y)",
        "http://example.org",
        "&lt;",
    ],
)
def test_markdown_forms_nothing(text: str) -> None:
    """No unescaped sign that could start markup is left."""
    shown = escape_markdown(f"{text}\nnext")
    assert "\n" not in shown
    bare = re.sub(r"\\.|&amp;|&lt;|<!-- -->", "", shown)
    assert not re.search(r"[<>\[\]|#`*_!]", bare)
    assert not re.search(r"://|www\\?\.|(?<!-->)@", shown)


def test_clipping_keeps_whole_characters() -> None:
    """A cut text is as long as asked at most, ends in an ellipsis, and splits no character."""
    assert clip("abcdef", 4) == "abc…"
    assert clip("ae\u0301x", 3) == "a…"
    assert clip("abc", 0) == ""
    assert clip("e\u0301\u0301\u0301", 2) == "…"
