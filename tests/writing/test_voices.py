"""Voices are drawn as their probabilities say, and each document's own."""

from pathlib import Path

import pytest

from findback.errors import DataError, MissingError
from findback.writing.voices import PRESETS, Option, Voices, VoiceShare, name_options, parse_voices, read_voices

GOOD = """
[who.new]
share = 0.25
text = "Somebody new."
[who.old]
share = 0.75
text = "Somebody  who
stayed."
""".replace('"Somebody  who\nstayed."', '"""Somebody  who\nstayed."""')


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_state_the_four_decisions(preset: str) -> None:
    """Every preset says who asks, for what need, how long and how careful, and its shares add up to 1."""
    voices = read_voices(preset)
    assert voices.name == preset
    assert {"who", "need", "length", "care"} <= set(voices.categories)
    for options in voices.categories.values():
        assert sum(option.share for option in options) == pytest.approx(1, abs=1e-6)
        assert all(option.text.endswith(".") for option in options)


def test_inventors_tell_a_friend() -> None:
    """Half of the patents' voices are the inventor telling a friend."""
    first = read_voices("patents").categories["who"][0]
    assert (first.name, first.share) == ("inventor", 0.5)
    assert "telling a friend" in first.text


def test_draws_follow_the_stated_shares() -> None:
    """Over 20,000 documents every share is within four standard errors of what is stated."""
    voices = read_voices("docs-portal")
    table = voices.tally(name_options(voices.draw(f"docs/{at}.md", 7)) for at in range(20_000))
    assert len(table) == sum(map(len, voices.categories.values()))
    for one in table:
        assert one.drawn == pytest.approx(one.stated, abs=4 * (one.stated * (1 - one.stated) / 20_000) ** 0.5)


def test_a_voice_is_the_document_s_own() -> None:
    """Seed, id and category decide: other documents, categories and draws change nothing, another seed does."""
    voices = read_voices("support")
    ids = [f"{at}.md" for at in range(50)]
    drawn = [voices.draw(name, 3) for name in ids]
    assert [voices.draw(name, 3) for name in reversed(ids)] == drawn[::-1]
    fewer = Voices("fewer", {key: voices.categories[key] for key in ("care", "who")})
    assert all(fewer.draw(name, 3).items() <= voice.items() for name, voice in zip(ids, drawn, strict=True))
    assert [voices.draw(name, 4) for name in ids] != drawn


def test_categories_are_drawn_apart() -> None:
    """Two categories with the same options do not always agree."""
    options = (Option("a", 0.5, "A."), Option("b", 0.5, "B."))
    voices = Voices("pair", {"one": options, "two": options})
    pairs = {tuple(name_options(voices.draw(str(at), 1)).values()) for at in range(40)}
    assert pairs == {("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")}


def test_an_option_without_probability_is_never_drawn() -> None:
    """A share of 0 switches an option off, also where rounding leaves something over."""
    voices = Voices("one", {"who": (Option("a", 1 - 1e-7, "A."), Option("never", 0.0, "N."))})
    assert {voices.draw(str(at), 1)["who"].name for at in range(2_000)} == {"a"}


def test_shares_are_told_beside_what_was_drawn() -> None:
    """Three of four draws are counted as .75; a category nobody drew from has no share."""
    voices = parse_voices(GOOD + '[care.neat]\nshare = 1\ntext = "Neat."\n', "mine", shown="mine.toml")
    assert voices.categories["who"][1].text == "Somebody who stayed."
    assert voices.tally([{"who": "new"}, *[{"who": "old"}] * 3]) == (
        VoiceShare("who", "new", 0.25, 0.25, 1),
        VoiceShare("who", "old", 0.75, 0.75, 3),
        VoiceShare("care", "neat", 1.0, None, 0),
    )


def test_a_file_of_one_s_own_is_read(tmp_path: Path) -> None:
    """A path is relative to the folder given; the voices are called like the file."""
    (tmp_path / "ours.toml").write_text(GOOD, encoding="utf-8")
    assert read_voices("ours.toml", base=tmp_path).name == "ours"
    assert read_voices(tmp_path / "ours.toml").categories == read_voices("ours.toml", base=tmp_path).categories


def test_what_is_not_there_names_the_presets(tmp_path: Path) -> None:
    """A typing error in a preset's name is answered with the known ones."""
    with pytest.raises(MissingError, match="docs-portl") as caught:
        read_voices("docs-portl", base=tmp_path)
    assert "docs-portal, patents" in (caught.value.hint or "")


def test_all_faults_come_at_once() -> None:
    """Sums, shares, texts, names and unknown keys are reported together, with file and the table's line."""
    text = """
[who.new]
share = 0.5
text = "New."
[who.old]
share = 0.4
text = "Old."
[need.a]
share = nan
text = ""
[need."A b"]
share = true
texts = "x"
[length]
short = 3
[care]
"""
    with pytest.raises(DataError) as caught:
        parse_voices(text, "bad", shown="bad.toml")
    assert [(fault.path, fault.line, fault.message) for fault in caught.value.faults] == [
        ("bad.toml", 2, "who: the shares add up to 0.9, not to 1"),
        ("bad.toml", 8, "need.a: share is a number from 0 to 1"),
        ("bad.toml", 8, "need.a: text has 1 to 500 characters"),
        ("bad.toml", None, "need.A b: a name is made of a-z, 0-9 and -, at most 40"),
        ("bad.toml", None, "need.A b: unknown texts"),
        ("bad.toml", None, "need.A b: share is a number from 0 to 1"),
        ("bad.toml", None, "need.A b: text has 1 to 500 characters"),
        ("bad.toml", None, "length.short: an option is a table with share and text"),
        ("bad.toml", 16, "care: a category is a table of 1 to 30 options"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[who.new]\nshare = = 1", 2, "Invalid value"),
        ("", None, "there are 0 categories"),
        ("format = 2\n" + GOOD, None, "format"),
        ("who = 1", None, "who: a category is a table"),
    ],
)
def test_other_faults_are_named(text: str, line: int | None, said: str) -> None:
    """What is not TOML has its line; an empty file and another format are told."""
    with pytest.raises(DataError) as caught:
        parse_voices(text, "bad", shown="bad.toml")
    assert caught.value.faults[0].line == line
    assert said in caught.value.faults[0].message


def test_sums_may_be_off_by_rounding() -> None:
    """Thirds written to seven digits are accepted, and to five are not."""
    for digits, accepted in ((7, True), (5, False)):
        text = "\n".join(f'[who.o{at}]\nshare = {1 / 3:.{digits}f}\ntext = "x"' for at in range(3))
        if accepted:
            assert len(parse_voices(text, "thirds", shown="t.toml").categories["who"]) == 3
        else:
            with pytest.raises(DataError, match="add up to"):
                parse_voices(text, "thirds", shown="t.toml")


def test_unreadable_files_are_faults(tmp_path: Path) -> None:
    """Another encoding, and a file beyond the bound, are told."""
    (tmp_path / "latin.toml").write_bytes(b"\xe4")
    (tmp_path / "big.toml").write_text("#" * 100_001, encoding="utf-8")
    for name in ("latin.toml", "big.toml"):
        with pytest.raises(DataError, match=name):
            read_voices(name, base=tmp_path)
