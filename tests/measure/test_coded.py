"""Texts read in bulk: the same languages and scripts as one by one."""

from hypothesis import given
from hypothesis import strategies as st

from findback.measure.coded import CodedTexts
from findback.measure.comparable import read

WORDS = ["the", "is", "not", "wo", "ist", "das", "la", "est", "vpn", "12", "don't", "api_key", "é", "返金", "..."]


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(WORDS), max_size=150).map(" ".join), st.sampled_from([None, "en", "de-AT"])),
        max_size=6,
    )
)
def test_bulk_readings_equal_those_of_one(texts: list[tuple[str, str | None]]) -> None:
    """Every text reads as it does alone, however long, in whatever company, with or without a known language."""
    coded = CodedTexts([text for text, _ in texts], [language for _, language in texts])
    assert coded.readings == [read(text, language) for text, language in texts]


@given(st.integers(385, 401), st.sampled_from(["the is", "is'", "is's", "is_", "is_x", "l'is", "iss"]))
def test_a_word_cut_off_is_no_evidence(start: int, end: str) -> None:
    """Words are evidence when they end within the first 400 characters, in bulk as one by one."""
    text = "the " + "v" * (start - 5) + " " + end + " is"
    assert CodedTexts([text, text]).readings[0] == read(text)


def test_cut_off_words_are_left_out() -> None:
    """`the is` makes 40 words plainly English; with `is` cut out of `issue` at the 400th character it is missing."""
    assert read("the " + "x" * 393 + " is").language == "en"
    assert read("the " + "x" * 393 + " issue").language is None
    assert read("the " + "x" * 394 + " is").language == read("the " + "x" * 394 + " it is").language is None
