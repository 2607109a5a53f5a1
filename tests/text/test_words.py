"""Words: what a token is, and where it stands."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.text.words import _SYMBOLS, fold, is_bigram, locate_words, words

HOSTILE = {
    "one long word": "a" * 1_000_000,
    "apostrophes": "'" * 1_000_000,
    "underscores": "_" * 1_000_000,
    "quoted": "it's_'x'" * 125_000,
    "opened placeholders": "⟦" * 1_000_000,
    "combining marks": "e" + "\u0301" * 300_000,
    "han": "返" * 300_000,
    "NUL": "a\x00" * 500_000,
    "right to left": "\u202eשלום " * 150_000,
    "lone surrogates": "\ud800x" * 300_000,
    "jamo": "\u1100\u1161\u11a8" * 100_000,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don’t panic", ["don't", "panic"]),
        ("l’erreur dell'acqua qu'il", ["l", "erreur", "dell", "acqua", "qu", "il"]),
        ("__init__ and 'quoted' VENDOR_STRICT_MODE", ["init", "and", "quoted", "vendor_strict_mode"]),
        ("HTTP/2 429s, 2.5 kB", ["http", "2", "429s", "2", "5", "kb"]),
        ("ÜBERGRÖSSE ﬁle", ["übergrösse", "file"]),
        ("Straße", ["strasse"]),
        ("об'єкт Пам'ять", ["об'єкт", "пам'ять"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("환불은 결제", ["환불", "불은", "결제"]),
        ("東京タワーへ", ["東京", "京タ", "タワ", "ワー", "ーへ"]),
        ("ｶﾞｽ", ["ガス"]),
        ("ราคา", ["รา", "าค", "คา"]),
        ("API設定v2を", ["api", "設定", "v2", "を"]),
        ("a⟦USER_1⟧b ⟦anything⟧", ["a", "b"]),
        ("…—🙂 !?", []),
        ("", []),
    ],
)
def test_words_are_cut_as_documented(text: str, expected: list[str]) -> None:
    """Each kind of text gives the words counted by hand."""
    assert words(text) == expected


@given(st.text())
def test_places_and_words_agree(text: str) -> None:
    """Locating words gives the same words, inside the text and in order."""
    located = locate_words(text)
    assert [word.word for word in located] == words(text)
    assert all(0 <= word.start < word.end <= len(text) for word in located)
    assert [word.start for word in located] == sorted(word.start for word in located)


@given(st.text(alphabet="aé'_ ⟦⟧ﬁ返か가ㅏ\u0301\u3099ｶﾞİẞ\n\ud800", max_size=30))
def test_places_agree_on_awkward_text(text: str) -> None:
    """Ligatures, marks, jamo, brackets and surrogates do not move a place."""
    assert [word.word for word in locate_words(text)] == words(text)


def test_place_covers_the_original_spelling() -> None:
    """A word's place cuts its original spelling out of the text, whatever folding did to it."""
    text = "die Straße, e\u0301cole ⟦USER_1⟧ ﬁn"
    assert [text[word.start : word.end] for word in locate_words(text)] == [
        "die",
        "Straße",
        "e\u0301cole",
        "ﬁn",
    ]


@given(st.text(), st.text())
def test_placeholders_never_count(before: str, after: str) -> None:
    """A placeholder adds no word to what stands around it."""
    text = f"{before} ⟦CUSTOMER_ID_12⟧ {after}"
    if "⟦" not in before + after and "⟧" not in before + after:
        assert words(text) == words(f"{before} {after}")


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    """A folded text is folded."""
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_time(name: str) -> None:
    """A megabyte of anything is cut in seconds, by both functions."""
    started = time.process_time()
    found = words(HOSTILE[name])
    assert len(locate_words(HOSTILE[name])) == len(found)
    assert time.process_time() - started < 15


def test_bigrams_are_told_from_words() -> None:
    """Pairs of characters are known by their script."""
    assert [is_bigram(word) for word in ("返金", "환", "refund", "429", "año")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_symbols_left_out_early_are_no_words() -> None:
    """What the quick way takes for a separator is no letter, digit or mark."""
    symbols = [chr(code) for code in range(0x10000) if _SYMBOLS.fullmatch(chr(code))]
    assert len(symbols) > 1000
    assert [symbol for symbol in symbols if words(f"a{symbol}ж") != ["a", "ж"] and fold(symbol) == symbol] == []
    assert words("don’t – “quoted”…") == ["don't", "quoted"]
