"""Sentence alignment tells copies translated there and back from what people say themselves."""

import json
import tomllib
from pathlib import Path

import pytest

from findback.text.words import words
from findback.writing.alignment import FEWEST_WORDS, FOLLOWED, follows_sentences, share_in_order

ROWS = [
    (language, row)
    for language, rows in tomllib.loads(
        (Path(__file__).parent.parent / "data" / "written_copies.toml").read_text(encoding="utf-8")
    ).items()
    for row in rows
]


@pytest.mark.parametrize(("language", "row"), ROWS)
def test_a_copy_translated_there_and_back_is_flagged(language: str, row: dict[str, str]) -> None:
    """In English, German and Japanese the copy follows its document, with room to the threshold; own words do not."""
    assert follows_sentences(row["copy"], row["document"], language)
    assert share_in_order(row["copy"], row["document"], language) > FOLLOWED + 0.1
    assert share_in_order(row["own"], row["document"], language) < FOLLOWED - 0.2


def test_no_real_question_is_flagged(data: Path) -> None:
    """Of 348 real questions, each beside the text its asker was sent, none is flagged; the highest share is .34."""
    documents = {
        row["id"]: row["text"]
        for row in map(json.loads, (data / "ubuntu" / "corpus.jsonl").read_text(encoding="utf-8").splitlines())
    }
    rows = [json.loads(line) for line in (data / "ubuntu" / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    assert not any(follows_sentences(row["query"], documents[row["gold"]], "en") for row in rows)
    long = [row for row in rows if len(words(row["query"])) >= FEWEST_WORDS]
    assert len(long) == 264
    assert max(share_in_order(row["query"], documents[row["gold"]], "en") for row in long) < 0.34


def test_the_share_is_counted_by_hand() -> None:
    """Two sentences laid beside the two they follow: four of four and a half words, and two of three."""
    text = "Close the blue valve. Wait two minutes."
    document = "Close the red blue valve. Wait for two hours."
    # close the blue valve (4) over (4 + 5) / 2; wait two (2) over (3 + 4) / 2; weighted by 4 and 3 words.
    assert share_in_order(text, document, "en") == pytest.approx((4 * 4 / 4.5 + 3 * 2 / 3.5) / 7)


def test_sentences_in_another_order_do_not_follow() -> None:
    """What starts from the document's end and goes to its beginning is laid beside one of the two only."""
    document = "Close the red blue valve. Wait for two whole hours."
    turned = "Wait for two whole hours. Close the red blue valve."
    assert share_in_order(document, document, "en") == 1.0
    assert share_in_order(turned, document, "en") == pytest.approx(0.5)


def test_nothing_follows_nothing() -> None:
    """Texts without words and very short ones are never flagged."""
    assert share_in_order("…", "Close the valve.", "en") == 0.0
    assert share_in_order("Close the valve.", "…", "en") == 0.0
    assert not follows_sentences("Close the valve.", "Close the valve.", "en")
