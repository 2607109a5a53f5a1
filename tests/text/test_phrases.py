"""Phrases: a few words in a row that carry content."""

from hypothesis import given
from hypothesis import strategies as st

from findback.text.phrases import find_phrases, list_phrases, list_runs


def test_phrases_begin_and_end_with_content() -> None:
    """Function words and single letters stand inside a phrase, never at its ends."""
    found = find_phrases("out of memory on the b tree", "en")
    assert set(found) == {"memori", "tree"}
    assert set(find_phrases("point of sale", "en")) == {"point", "point of sale", "sale"}


def test_phrases_have_at_most_three_words() -> None:
    """Four words in a row give no phrase of four."""
    found = find_phrases("printer driver crash dump", "en")
    assert max(len(phrase.split()) for phrase in found) == 3
    assert "printer driver crash" in found


def test_nothing_crosses_a_placeholder_or_the_end_of_a_sentence() -> None:
    """What stands between two words of a phrase is blanks or a hyphen."""
    found = find_phrases("restart ⟦HOST_1⟧ gateway. Timeout, proxy\nlogin time-stamp", "en")
    assert "time stamp" in found
    for crossing in ("restart gateway", "gateway timeout", "timeout proxi", "proxi login"):
        assert crossing not in found


def test_phrases_are_written_as_they_stand() -> None:
    """Stems compare, words are shown: in lower case, with their own letters."""
    assert find_phrases("Straßen sperren", "de")["strass sperr"] == "straßen sperren"
    assert find_phrases("Wi-Fi", None) == {"wi": "wi", "wi fi": "wi-fi", "fi": "fi"}


def test_error_codes_are_phrases_and_small_numbers_are_not() -> None:
    """504 may be a symptom; 8 and 10 alone mean nothing."""
    assert {"504", "error 504", "version 8"} <= set(find_phrases("error 504 version 8", "en"))
    assert "8" not in find_phrases("error 504 version 8", "en")


def test_scripts_without_spaces_have_phrases_too() -> None:
    """Neighbouring pairs of characters make a phrase, written without gaps."""
    assert find_phrases("返金額", "ja") == {"返金": "返金", "返金 金額": "返金額", "金額": "金額"}


def test_repeats_are_listed() -> None:
    """Each place of a phrase is one."""
    assert [one.stems for one in list_phrases("queue, queues", "en")] == ["queue", "queue"]


@given(st.text(max_size=60))
def test_runs_hold_every_word_once(text: str) -> None:
    """Whatever the text, its runs laid end to end are its words."""
    from findback.text.words import words

    assert [one.word for run in list_runs(text) for one in run] == words(text)
