"""Chunkers and sentences: cover the text, cut at good places, never inside a character."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.errors import UsageError
from findback.model.hits import Span
from findback.text.boundaries import is_boundary
from findback.text.chunking import by_heading, by_size, whole
from findback.text.sentences import find_sentence_at, find_sentences

TEXTS = st.text(alphabet="ab. \n#`é返。\u0301\u200d👩🏽\ud83d\ude00\r", max_size=80)


@given(TEXTS, st.integers(1, 12), st.integers(0, 6))
def test_spans_cover_the_text_and_cut_no_character(text: str, size: int, overlap: int) -> None:
    """Every character is in a span, spans advance, and both ends are boundaries."""
    for spans in (
        by_size(text, size, min(overlap, size // 2)),
        by_heading(text, size, min(overlap, size // 2)),
    ):
        if not text:
            assert spans == []
            continue
        assert (spans[0].start, spans[-1].end) == (0, len(text))
        assert all(left.start < right.start <= left.end < right.end for left, right in pairwise(spans))
        assert all(is_boundary(text, place) for span in spans for place in span)


@given(st.text(alphabet="abc .\n", max_size=200), st.integers(4, 40))
def test_spans_keep_to_the_size(text: str, size: int) -> None:
    """Without characters of several code points no span is longer than asked."""
    assert all(end - start <= size for start, end in by_size(text, size, size // 3))


def test_best_border_wins() -> None:
    """A paragraph's end is taken before a sentence's, that before a word's."""
    text = "aaa bbb. ccc\n\nddd eee fff ggg"
    assert by_size(text, 16)[0] == Span(0, 14)
    assert by_size("aaa bbb. ccc ddd", 12)[0] == Span(0, 9)
    assert by_size("aaaaaa bbbb", 8)[0] == Span(0, 7)


def test_overlap_repeats_the_end() -> None:
    """A span begins at a word about as far back as the overlap says."""
    text = "one two three four five six"
    spans = by_size(text, 14, 6)
    assert [text[start:end] for start, end in spans] == ["one two three ", "three four ", "four five six"]


def test_headings_open_sections_outside_code() -> None:
    """A hash in fenced code is no heading; a bare heading stays with what follows."""
    text = "intro\n# A\n## B\ntext\n```\n# no\n```\n# C\nend\n"
    assert [text[start:end] for start, end in by_heading(text, 1000)] == [
        "intro\n",
        "# A\n## B\ntext\n```\n# no\n```\n",
        "# C\nend\n",
    ]


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 6), (10, -1)])
def test_impossible_sizes_are_refused(size: int, overlap: int) -> None:
    """A size below one or an overlap over half says what would work."""
    with pytest.raises(UsageError) as refused:
        by_size("text", size, overlap)
    assert refused.value.hint


@pytest.mark.parametrize(
    "text",
    ["e" + "\u0301" * 200_000, ". " * 300_000, "." * 600_000, "\n" * 500_000, "#\n" * 200_000, " " * 500_000],
)
def test_hostile_text_is_cut_in_linear_time(text: str) -> None:
    """Half a megabyte of borders, marks or nothing else takes seconds."""
    started = time.process_time()
    for spans in (by_size(text, 1000, 100), by_heading(text, 1000), find_sentences(text), whole(text)):
        assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert time.process_time() - started < 15


def test_sentences_of_two_writing_systems() -> None:
    """Latin and CJK end marks both end sentences; list items and headings start new ones."""
    text = "See v2.5 first. “Then wait.” Done!\n- item one\n- item two\n\n返金です。次へ！"
    assert [text[start:end] for start, end in find_sentences(text)] == [
        "See v2.5 first.",
        "“Then wait.”",
        "Done!",
        "- item one",
        "- item two",
        "返金です。",
        "次へ！",
    ]
    assert find_sentence_at(text, 5) == Span(0, 15)
    assert find_sentence_at(text, 15) is None
