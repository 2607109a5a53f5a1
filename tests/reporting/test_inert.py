"""Text made harmless."""

import shutil
import subprocess

import pytest

from findback.model.hits import Span
from findback.reporting.bars import interval_bar
from findback.reporting.figures import Reach
from findback.reporting.inert import COMMAND_LIMIT, inert, judge_command, pieces, shell_word


def test_controls_and_reordering_are_replaced_one_for_one() -> None:
    """Escape, C1, bidi and line breaks become one harmless character each."""
    text = "a\x1bb\x9bc\u202ed\u2066e\u200bf\ng\u2028h\x85i"
    safe = inert(text)
    assert safe == "a�b�c�d�e�f g h i"
    assert len(safe) == len(text)


def test_long_text_is_clipped() -> None:
    """A megabyte becomes its limit."""
    assert len(inert("x" * 1_000_000, limit=600)) == 600


def test_marks_survive_overlap_and_nonsense() -> None:
    """Overlapping, reversed and outside marks still give every character once."""
    cut = pieces("abcdef", [Span(1, 4), Span(2, 5), Span(4, 2), Span(9, 99), Span(-3, 1)], limit=100)
    assert "".join(piece.text for piece in cut) == "abcdef"
    assert [piece.text for piece in cut if piece.marked] == ["a", "bcd", "e"]


def test_a_long_extract_is_shown_around_its_first_mark() -> None:
    """Copied words far inside a text are not clipped away."""
    text = "x" * 5_000 + "needle" + "y" * 5_000
    cut = pieces(text, [Span(5_000, 5_006)], limit=200)
    assert [piece.text for piece in cut if piece.marked] == ["needle"]
    assert sum(len(piece.text) for piece in cut) <= 202


@pytest.mark.skipif(shutil.which("bash") is None, reason="shell-missing: bash")
@pytest.mark.parametrize("word", ["a b", "it's", "$(touch x)", "`x`", "a\nb", "é\u202eb", "\\", "漢字", "!$&*", ""])
def test_a_copied_command_means_the_same_id(word: str) -> None:
    """A shell reads the quoted id back unchanged, and runs nothing."""
    shown = subprocess.run(
        ["bash", "-c", f"LC_ALL=C.UTF-8; printf %s {shell_word(word)}"], capture_output=True, check=True
    )
    assert shown.stdout.decode() == word
    assert "\u202e" not in shell_word(word)


def test_ids_that_look_like_options_stay_ids() -> None:
    """An id that begins with a dash does not become an option."""
    assert judge_command("-q", "--doc", 0) == "findback label judge --doc=--doc --grade 0 -- -q"


def test_an_id_too_long_to_show_has_no_command() -> None:
    """A clipped command would name another document, so there is none."""
    assert judge_command("c1", "x" * (COMMAND_LIMIT + 1), 3) is None


def test_a_bar_is_drawn_where_its_numbers_are() -> None:
    """On eleven characters .2, .5 and .8 are the third, sixth and ninth."""
    assert interval_bar(Reach(0.2, 0.5, 0.5, 0.8), width=11, ascii_only=True) == "..|--o--|.."
    assert interval_bar(Reach(-0.5, 0.0, 0.0, 2.0), axis=(-1.0, 1.0), width=5) == "·├●─┤"
    assert interval_bar(None) == ""
