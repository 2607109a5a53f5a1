"""Scripts and languages: told where plain, None where not."""

from itertools import pairwise

import pytest

from findback.text.frequency import list_frequent_words, list_function_words, list_known_words
from findback.text.languages import guess_language
from findback.text.scripts import find_dominant_script, find_script, is_written_as_bigrams, load_ranges
from findback.text.stems import stem, stem_all


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wo finde ich das Formular für die Rückgabe?", "de"),
        ("Où est la page pour changer le mot de passe", "fr"),
        ("¿Dónde está el formulario para la devolución?", "es"),
        ("Dove si trova il modulo per il rimborso", "it"),
        ("Não consigo encontrar o formulário da devolução, onde ele está", "pt"),
        ("Waar is het formulier voor de terugbetaling", "nl"),
        ("why does the job keep hammering the API", "en"),
        ("Где найти форму возврата, если вы потеряли чек", "ru"),
        ("Де знайти форму повернення її коштів", "uk"),
        ("환불은 언제 되나요", "ko"),
        ("返金はいつですか", "ja"),
        ("退款申请需要在付款之后的十四天之内提交，审核通过之后款项会原路退回到您的账户", "zh"),
        ("คืนเงินเมื่อไหร่", "th"),
        ("経費精算", None),
        ("vpn timeout laptop", None),
        ("die in will", None),
        ("http://wiki.example.com http://help.example.com/a", None),
        ("ᚠᚢᚦᚨᚱᚲ", None),
        ("", None),
    ],
)
def test_language_is_guessed_only_from_plain_evidence(text: str, language: str | None) -> None:
    """A language is named where its script or function words show it, and only there."""
    assert guess_language(text) == language


def test_unknown_letters_are_no_known_script() -> None:
    """Runes and emoji are in no script findback can cut into words."""
    assert find_dominant_script("ᚠᚢᚦᚨᚱᚲ abc") is None
    assert find_dominant_script("🙂") is None
    assert find_script("ᚠ") is None


def test_ranges_do_not_overlap() -> None:
    """The table of scripts gives every character at most one script."""
    ranges = load_ranges()
    assert all(left.last < right.first for left, right in pairwise(ranges))


def test_frequent_words_exist_only_for_languages_counted_in_words() -> None:
    """Three thousand words or nearly (folding joins some) where there is a list; None where units differ."""
    english = list_frequent_words("en")
    assert english is not None
    assert 2900 <= len(english) <= 3000
    assert "the" in english
    assert "backoff" not in english
    assert [list_frequent_words(language) for language in ("ja", "ko", "zh-Hant", "th", "xx", None)] == [None] * 6
    assert list_frequent_words("pt-BR") == list_frequent_words("pt")


def test_function_words_come_from_the_shipped_list_or_the_most_frequent() -> None:
    """Seven languages have their own list, others the hundred most frequent words, unknown ones nothing."""
    assert "warum" in list_function_words("de")
    assert 90 <= len(list_function_words("sv")) <= 100
    assert list_function_words(None) == frozenset()
    assert list_known_words("ja") is None


def test_stems_follow_the_language() -> None:
    """Each language has its own stems; without a stemmer the word stays."""
    assert stem("formulare", "de") == stem("formular", "de")
    assert stem("policies", "en-GB") == "polici"
    assert [stem("policies", "ja"), stem("policies", None), stem("policies", "xx")] == ["policies"] * 3
    assert stem_all(["policies", "x" * 200], "en") == ["polici", "x" * 200]
    assert stem_all(["policies"], None) == ["policies"]


def test_bigram_languages() -> None:
    """Languages written without spaces are counted in pairs."""
    assert [is_written_as_bigrams(language) for language in ("ja", "ko-KR", "th", "en", None)] == [
        True,
        True,
        True,
        False,
        False,
    ]
