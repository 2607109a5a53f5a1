"""Questions with the words of documents added."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.text.expansion import Expander, is_plain


def expand(text: str, *rules: tuple[str, str], **options: object) -> str:
    return Expander(rules, **{"language": "en", **options}).expand(text).text


def test_the_question_stays_and_words_are_added_once() -> None:
    """Two rules that add the same, and a question that says its word twice, add it one time."""
    assert expand("wifi and WIFI", ("wifi", "wireless"), ("wifi", "Wireless")) == "wifi and WIFI wireless"


def test_rules_work_one_way() -> None:
    """Who asks for the added word is not searched for the other."""
    assert expand("wireless is slow", ("wifi", "wireless")) == "wireless is slow"


def test_other_inflections_fit_unless_stems_are_off() -> None:
    """Stems compare in the language given."""
    assert expand("it hammers us", ("hammering", "retry")) == "it hammers us retry"
    assert expand("it hammers us", ("hammering", "retry"), stems=False) == "it hammers us"


def test_several_words_fit_side_by_side_only() -> None:
    """In order, with nothing but blanks or a hyphen between them."""
    rule = ("usb stick", "flash drive")
    assert expand("my USB-stick died", rule) == "my USB-stick died flash drive"
    for other in ("a stick for usb", "usb port stick", "usb. Stick it", "usb ⟦HOST_1⟧ stick"):
        assert expand(other, rule) == other


def test_what_the_question_holds_is_not_added() -> None:
    """Also in another inflection; a part of it is not enough."""
    assert expand("wifi for flash drives", ("wifi", "flash drive")) == "wifi for flash drives"
    assert expand("wifi flash", ("wifi", "flash drive")) == "wifi flash flash drive"


def test_rules_with_signs_fit_literally() -> None:
    """`c#` is neither the letter c nor `c++`."""
    rules = [("c#", "dotnet"), ("c++", "gcc"), (".net", "clr")]
    assert expand("is C# slow?", *rules) == "is C# slow? dotnet"
    assert expand("c++: how", *rules) == "c++: how gcc"
    assert expand("vitamin c", *rules) == "vitamin c"
    assert expand("asp.net", *rules) == "asp.net"
    assert expand("on .NET", *rules) == "on .NET clr"


def test_weight_repeats_the_question() -> None:
    """Only where something is added."""
    assert expand("slow wifi", ("wifi", "wireless"), weight=2) == "slow wifi slow wifi wireless"
    assert expand("slow lan", ("wifi", "wireless"), weight=2) == "slow lan"


def test_it_is_said_which_rules_added() -> None:
    """The second of two equal rules added nothing."""
    found = Expander([("wifi", "wireless"), ("slow wifi", "wireless"), ("slow", "latency")]).expand("slow wifi")
    assert (found.added, found.rules) == (("wireless", "latency"), (0, 2))


@pytest.mark.parametrize("text", ["ไทย", "返金額", "naïve", "wi-fi card", "don't", "x_y"])
def test_words_of_any_script_are_plain(text: str) -> None:
    """Blanks and hyphens stand between words; marks belong to their letters."""
    assert is_plain(text)
    assert Expander([(text, "found")]).expand(f"{text}").added == ("found",)


@given(st.text(max_size=40), st.text(min_size=1, max_size=10), st.text(min_size=1, max_size=10))
def test_a_question_is_never_shortened(text: str, when: str, add: str) -> None:
    """Whatever the rule, what is searched begins with the question."""
    assert Expander([(when, add)]).expand(text).text.startswith(text)
