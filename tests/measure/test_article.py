"""The articles' figures, exactly."""

import csv
import json
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.measure.article import (
    article_leak,
    article_overlap,
    as_printed_by_article,
    load_article_common_words,
    load_article_stop_words,
    measure_article_figures,
)


def summarise(queries: Sequence[str], golds: Sequence[str]) -> tuple[int, float, float, float]:
    """Return n, the median, the percentage at .5 or more and at 0, rounded as the reference table is."""
    figures = as_printed_by_article(figure.overlap for figure in measure_article_figures(queries, golds))
    half = 100 * sum(figure >= 0.5 for figure in figures) / len(figures)
    zero = 100 * sum(figure == 0 for figure in figures) / len(figures)
    return len(figures), round(median(figures), 3), round(half, 1), round(zero, 1)


def test_ubuntu_reference_figures(data: Path) -> None:
    """Real questions against the whole help text: n 348, median .125, 9.2 % at half or more, 31.6 % zero."""
    texts = {
        row["id"]: row["text"] for row in map(json.loads, (data / "ubuntu/corpus.jsonl").read_bytes().splitlines())
    }
    rows = [json.loads(line) for line in (data / "ubuntu/queries.jsonl").read_bytes().splitlines()]
    assert summarise([row["query"] for row in rows], [texts[row["gold"]] for row in rows]) == (348, 0.125, 9.2, 31.6)


@pytest.mark.parametrize(("margin", "expected"), [(0, (472, 0.5, 55.1, 2.3)), (400, (472, 0.667, 78.4, 0.6))])
def test_chroma_reference_figures(data: Path, margin: int, expected: tuple[int, float, float, float]) -> None:
    """Model-written questions against all their reference spans, put together: exact, and ± 400 characters."""
    folder = data / "chroma/corpora"
    corpora = {path.stem: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    rows = list(csv.DictReader(StringIO((data / "chroma/questions.csv").read_text(encoding="utf-8"))))
    golds = [
        "\n".join(
            corpora[row["corpus_id"]][max(span["start_index"] - margin, 0) : span["end_index"] + margin]
            for span in json.loads(row["references"])
        )
        for row in rows
    ]
    assert summarise([row["question"] for row in rows], golds) == expected


TEXT = st.text(alphabet="abcdefgh ÀéKİ'_9.\n返⟦⟧\ud800", max_size=60)


@given(TEXT, TEXT)
def test_batch_form_equals_the_formulas(query: str, gold: str) -> None:
    """The quick form gives what the formulas give, on letters that fold into ASCII too."""
    (figures,) = measure_article_figures([query], [gold])
    assert (figures.leak, figures.overlap) == (article_leak(query, gold), article_overlap(query, gold))


@given(TEXT, TEXT)
def test_formulas_equal_the_articles_code(query: str, gold: str) -> None:
    """Written as the articles print them, the formulas give the same, with 0 for undefined."""

    def tokens(text: str) -> set[str]:
        found = re.findall(r"[a-z0-9_]+", text.lower())
        return {token for token in found if token not in load_article_stop_words() and len(token) > 2}

    def rare(text: str) -> set[str]:
        return {word for word in re.findall(r"[a-z]{5,}", text.lower()) if word not in load_article_common_words()}

    asked, lifted = tokens(query), rare(query)
    overlap = len(asked & tokens(gold)) / len(asked) if asked else 0.0
    leak = len(lifted & rare(gold)) / max(len(lifted), 1)
    assert as_printed_by_article([article_overlap(query, gold), article_leak(query, gold)]) == [overlap, leak]


def test_the_articles_own_example() -> None:
    """The chunk holds all of the model's tokens, and of the engineer's job, keep, hammering, api one."""
    chunk = (
        "The ingest worker applies an exponential backoff policy on HTTP 429 responses from the vendor API, "
        "starting at 2s and capping at 5 minutes. Retries are disabled when VENDOR_STRICT_MODE is set."
    )
    asked = "What is the exponential backoff policy for HTTP 429 responses in the ingest worker?"
    assert article_overlap(asked, chunk) == 1.0
    assert article_overlap("why does the job keep hammering the API", chunk) == 0.25
    assert article_leak("why does the job keep hammering the API", chunk) == 0.0


def test_stop_list_has_the_articles_32_words() -> None:
    """The second article lists 32 words."""
    assert len(load_article_stop_words()) == 32


def test_undefined_is_none() -> None:
    """A query without rare words or tokens has no figure; the article's 0 is only printed."""
    assert measure_article_figures(["is it"], ["it is"]) == [(None, None)]
    with pytest.raises(ValueError, match="zip"):
        measure_article_figures(["one"], [])
