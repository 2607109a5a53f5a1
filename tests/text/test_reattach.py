"""Anchors find their words again in a text that changed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from findback.text.reattach import attach_anchor
from findback.text.sentences import find_sentences
from findback.text.words import locate_words, words

ANCHOR = "Retries stop after five tries and the job is parked"
"""Ten words, eight runs of three."""


def quoted(anchor: str, text: str) -> list[str]:
    return [text[start:end] for start, end in attach_anchor(anchor, text).spans]


def test_exact_words_are_found_whatever_stands_between_them() -> None:
    """Case, punctuation and line ends make no difference; the span covers the words as the text has them."""
    text = "Note. RETRIES stop,\nafter *five* tries; and the job is parked! More."
    found = attach_anchor(ANCHOR, text)
    assert (found.fit, found.share) == ("exact", 1.0)
    assert quoted(ANCHOR, text) == ["RETRIES stop,\nafter *five* tries; and the job is parked"]


def test_an_edit_in_the_middle_leaves_most_runs() -> None:
    """One word changed of ten takes three of eight runs: 5/8 are left in one place, which is enough."""
    text = "Before. Retries stop after five attempts and the job is parked. After."
    assert attach_anchor(ANCHOR, text) == ("edited", 5 / 8, ((8, 62),))
    assert quoted(ANCHOR, text) == ["Retries stop after five attempts and the job is parked"]


def test_two_words_changed_are_too_many() -> None:
    """Of eight runs two are left: that is weak, and does not hold."""
    found = attach_anchor(ANCHOR, "Retries stop after six tries and the task is parked.")
    assert (found.fit, found.share, found.holds) == ("weak", 2 / 8, False)


def test_words_in_two_places_are_split() -> None:
    """Six of eight runs, three in either half of a long text: both places are named, the first of equals first."""
    filler = "Nothing of this has to do with it at all. " * 12
    text = f"Retries stop after five tries. {filler}Tries and the job is parked."
    found = attach_anchor(ANCHOR, text)
    assert (found.fit, found.share) == ("split", 7 / 8)
    assert sorted(quoted(ANCHOR, text)) == ["Retries stop after five tries", "Tries and the job is parked"]


def test_other_words_are_gone() -> None:
    """A text about something else, one without words, and an anchor without words hold nothing."""
    for anchor, text in ((ANCHOR, "The lanes open at dawn."), (ANCHOR, "…"), ("…", "The lanes open at dawn.")):
        assert attach_anchor(anchor, text) == ("gone", 0.0, ())


def test_short_anchors_need_all_their_words() -> None:
    """Two words in a row are one run: there or not."""
    assert attach_anchor("code RC", "Send the code RC.").fit == "exact"
    assert attach_anchor("code RC", "Send RC, the code.").fit == "gone"


def test_scripts_without_spaces_are_told_by_pairs_of_characters() -> None:
    """A Japanese sentence is found in a longer text; the span is the sentence."""
    text = "お知らせ。返金は五日以内に行われます。以上。"
    assert attach_anchor("返金は五日以内に行われます", text).fit == "exact"
    assert quoted("返金は五日以内に行われます", text) == ["返金は五日以内に行われます"]


def test_a_hostile_text_takes_no_more_than_its_length() -> None:
    """Of an anchor of two words, repeated, one of two runs is everywhere in a long text: each is looked at once."""
    assert attach_anchor("a b " * 2_000, "a b a " * 20_000) == ("weak", 0.5, ((0, 5),))


class Sentence(NamedTuple):
    """A sentence of an earlier wording, with what counting by brute force says of it."""

    text: str
    today: str
    stands: bool
    nowhere: bool


@pytest.fixture(scope="module")
def sentences(data: Path) -> list[Sentence]:
    return list(read_sentences(data / "ubuntu" / "corpus.jsonl"))


def read_sentences(file: Path) -> Iterator[Sentence]:
    """Yield the sentences of five words or more of every earlier wording, judged by comparing everything."""
    documents = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    today = [triples(one["text"]) for one in documents]
    for number, document in enumerate(documents):
        earlier = document["versions"][1] if len(document["versions"]) > 1 else ""
        for start, end in find_sentences(earlier):
            sentence = earlier[start:end]
            wanted = triples(sentence)
            if len(words(sentence)) < 5:
                continue
            own = len(wanted & today[number]) / len(wanted)
            anywhere = max(len(wanted & one) / len(wanted) for one in today)
            exact = f" {' '.join(words(sentence))} " in f" {' '.join(words(document['text']))} "
            yield Sentence(sentence, document["text"], exact or own >= 0.6, anywhere < 0.2)


def triples(text: str) -> frozenset[tuple[str, ...]]:
    tokens = words(text)
    return frozenset(tuple(tokens[at : at + 3]) for at in range(len(tokens) - 2))


def find_fullest(anchor: str, text: str) -> tuple[int, int]:
    """Return the characters of the shortest stretch that holds most of an anchor's triples, by trying them all."""
    located, wanted = locate_words(text), triples(anchor)
    longest = 2 * len(words(anchor)) + 6
    tried = [
        (len(wanted & triples(text[located[first].start : located[last].end])), first - last, first, last)
        for first in range(len(located))
        for last in range(first, min(first + longest, len(located)))
    ]
    _, _, first, last = max(tried, key=lambda one: one[:2])
    return located[first].start, located[last].end


def test_sentences_that_still_stand_are_found_again(sentences: list[Sentence]) -> None:
    """Of real sentences whose words, or 60 % of whose word triples, stand in today's text 95 % attach, there.

    There: at least half of the fullest stretch that trying them all finds lies within what was found.
    """
    standing = [one for one in sentences if one.stands]
    right = 0
    for one in standing:
        found = attach_anchor(one.text, one.today)
        if found.holds:
            start, end = find_fullest(one.text, one.today)
            right += sum(max(0, min(end, to) - max(start, at)) for at, to in found.spans) * 2 >= end - start
    assert len(standing) == 144
    assert right >= 0.95 * len(standing)


def test_sentences_that_are_gone_are_not_found(sentences: list[Sentence]) -> None:
    """Of real sentences of which under 20 % stands anywhere today at most 2 % attach to their document."""
    gone = [one for one in sentences if one.nowhere]
    assert len(gone) == 67
    assert sum(attach_anchor(one.text, one.today).holds for one in gone) <= 0.02 * len(gone)
