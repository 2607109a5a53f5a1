"""The yardstick: one window, a floor by the same operation, and agreement with the plain functions."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.measure.article import measure_article_figures
from findback.measure.coded import CodedTexts
from findback.measure.leak import measure_leak
from findback.measure.overlap import measure_overlap
from findback.measure.rarity import DocumentFrequencies
from findback.measure.ruler import code_pool
from findback.measure.windows import Hits, find_best_windows
from findback.measure.wordings import Wording
from findback.measure.yardstick import choose_window, correct_for_chance, find_copied, measure_articles, measure_set
from findback.model.hits import Span
from findback.text.words import words

DATA = Path(__file__).parent.parent / "data"
VOCABULARY = [
    f"{first}{second}{third}x" for first in "bdgk" for second in ("ar", "el", "om") for third in ("ant", "ist", "ul")
]


def make_documents(count: int, length: int, seed: int = 0) -> list[str]:
    chance = Random(seed)
    return [" ".join(chance.choices(VOCABULARY, k=length)) for _ in range(count)]


@given(st.data())
def test_best_window_equals_trying_all(data: st.DataObject) -> None:
    """The quick search finds as many terms, and as many rare ones among equals, as trying every window."""
    texts = data.draw(st.lists(st.lists(st.integers(-1, 130), max_size=15), min_size=1, max_size=4))
    width = data.draw(st.integers(1, 6))
    rare = data.draw(st.sets(st.integers(0, 130)))
    masks = np.zeros((len(texts), 3), dtype=np.uint64)
    for term in rare:
        masks[:, term // 64] |= np.uint64(1) << np.uint64(term % 64)
    flat = [(at, text, term) for text, terms in enumerate(texts) for at, term in enumerate(terms)]
    starts = np.cumsum([0] + [len(terms) for terms in texts])
    kept = [(starts[text] + at, text, term) for at, text, term in flat if term >= 0]
    place, text, term = (
        np.array(column, dtype=np.int64) for column in (zip(*kept, strict=True) if kept else ((), (), ()))
    )
    hits = Hits(place, text, term, np.full(len(place), width), starts[text + 1], masks[text])
    best = find_best_windows(hits)
    found = {int(t): (int(n), int(r)) for t, n, r in zip(best.text, best.terms, best.rare, strict=True)}
    for number, terms in enumerate(texts):
        windows = [{x for x in terms[at : at + width] if x >= 0} for at in range(len(terms))]
        tried = max(((len(window), len(window & rare)) for window in windows), default=(0, 0))
        assert found.get(number, (0, 0)) == tried


@pytest.mark.parametrize("language", ["ko", "ja"])
def test_korean_and_japanese_pairs_on_the_yardstick(language: str) -> None:
    """Against the other twenty-nine texts, copied wording stays at .5 or more after chance, own wording below."""
    pairs = [json.loads(line) for line in (DATA / f"wording_{language}.jsonl").read_text(encoding="utf-8").splitlines()]
    golds = [pair["gold"] for pair in pairs]
    pool = code_pool(golds)
    for kind, leaking in (("copied", True), ("own", False)):
        wordings = [Wording(pair[kind], pair["gold"], at) for at, pair in enumerate(pairs)]
        for row in measure_set(wordings, pool, window=60, seed=1).rows:
            for figure in (row.overlap, row.leak):
                assert figure.corrected is not None
                assert (figure.corrected >= 0.5) == leaking
                assert figure.floor is not None
                assert figure.floor < 0.3


def test_rows_equal_the_plain_functions_when_the_window_holds_all(data: Path) -> None:
    """On 348 real pairs every ratio, count, spelling and weight equals what leak and overlap give alone."""
    documents = [json.loads(line) for line in (data / "ubuntu/corpus.jsonl").read_bytes().splitlines()]
    places = {document["id"]: at for at, document in enumerate(documents)}
    texts = [document["text"] for document in documents]
    rows = [json.loads(line) for line in (data / "ubuntu/queries.jsonl").read_bytes().splitlines()]
    pool = code_pool(texts)
    counted = pool.coded.count_documents()
    wordings = [Wording(row["query"], texts[places[row["gold"]]], places[row["gold"]]) for row in rows]
    measured = measure_set(wordings, pool, window=100_000, seed=1, frequencies=counted)
    assert measured.corpus_decides
    compared = 0
    for wording, row in zip(wordings, measured.rows, strict=True):
        known = {"language": row.language, "gold_language": row.language, "frequencies": counted}
        for figure, plain in (
            (row.overlap, measure_overlap(wording.query, wording.gold, **known)),
            (row.leak, measure_leak(wording.query, wording.gold, **known)),
        ):
            if row.overlap.unmeasurable != "different-languages":
                compared += 1
                assert (figure.value, figure.verbatim, figure.weighted, figure.terms, figure.found) == (
                    plain.ratio,
                    plain.verbatim,
                    plain.weighted,
                    plain.terms,
                    plain.found,
                )
    for wording, row, both in zip(wordings, measured.rows, measure_articles(wordings, measured.rows), strict=True):
        assert both.whole == measure_article_figures([wording.query], [wording.gold])[0]
        if row.overlap.unmeasurable is None:
            assert both.window == both.whole
    assert compared > 650


def test_mixed_languages_equal_the_plain_functions() -> None:
    """Queries in four languages and none, in mixed order, give each the ratio it has alone."""
    pairs = [
        ("where is the refund form", "the form for your refund is here"),
        ("wo ist das Formular", "das Formular ist hier und nicht dort"),
        ("返金フォーム", "返金のフォームはここにあります"),
        ("vendor endpoint throttling", "the endpoint of the vendor is not throttled"),
        ("zzqx brmpf", "zzqx plugh"),
        ("die Formulare der Ämter", "das Formular ist hier und nicht dort"),
    ]
    texts = [gold for _, gold in pairs]
    pool = code_pool(texts)
    rows = measure_set([Wording(*pair, at) for at, pair in enumerate(pairs)], pool, window=1000, seed=1).rows
    for (query, gold), row in zip(pairs, rows, strict=True):
        known = {"language": row.language, "gold_language": row.language, "frequencies": pool.coded.count_documents()}
        for figure, plain in (
            (row.overlap, measure_overlap(query, gold, **known)),
            (row.leak, measure_leak(query, gold, **known)),
        ):
            assert (figure.value, figure.verbatim, figure.weighted) == (plain.ratio, plain.verbatim, plain.weighted)
            assert (figure.terms, figure.found) == (plain.terms, plain.found)
    assert {row.language for row in rows} >= {"en", "de", "ja"}
    assert rows[0].overlap.value == rows[3].overlap.value == 1.0


def test_document_frequencies_equal_counting_one_by_one() -> None:
    """Counting coded texts gives what adding each document gives, per language."""
    texts = ["the policies of policies", "a policy", "die Formulare der Ämter", "返金 返金"]
    languages = ["en", "en", "de", "ja"]
    quick, plain = CodedTexts(texts, languages).count_documents(), DocumentFrequencies()
    for text, language in zip(texts, languages, strict=True):
        plain.add(text, language)
    for language in ("en", "de", "ja", "fr"):
        assert quick.documents(language) == plain.documents(language)
        for stemmed in ("polici", "formular", "返金", "the"):
            assert quick.count(stemmed, language) == plain.count(stemmed, language)
    assert quick.count("polici", "en") == 2


def test_window_is_the_smaller_median_capped() -> None:
    """The smaller side's median decides, 1,000 at most; over twofold apart only corrected figures compare."""
    assert choose_window([100, 200, 300], [390]) == (200, 200.0, 390.0, False)
    assert choose_window([100, 200, 300], [410]).corrected_only
    assert choose_window([12_000], []).window == 1000
    assert choose_window([], []) == (None, None, None, False)
    assert choose_window([0], [5]).window == 1


def test_window_is_the_best_matching_one() -> None:
    """In a long text the stretch with most of the query's words is measured, and its words are marked."""
    filler = " ".join(VOCABULARY[:30])
    gold = f"{filler} throttled backoff of the endpoint {filler}"
    wording = Wording("backoff endpoint throttling", gold, language="en", gold_language="en")
    row = measure_set([wording], code_pool([]), window=40, seed=1).rows[0]
    assert (row.overlap.value, row.leak.value, row.leak.floor, row.leak.corrected) == (1.0, 1.0, None, None)
    marks = find_copied(wording, row)
    assert [gold[start:end] for start, end in marks.gold] == ["throttled", "backoff", "endpoint"]
    assert [wording.query[start:end] for start, end in marks.query] == ["backoff", "endpoint", "throttling"]
    assert marks.window.start <= gold.index("throttled")
    assert marks.window.end - marks.window.start < 80


def test_anchor_fixes_the_window() -> None:
    """With an anchor the window stays around it, even where another stretch matches better."""
    filler = " ".join(VOCABULARY[:30])
    gold = f"backoff endpoint throttled {filler} see the anchor {filler}"
    anchor = Span(gold.index("see"), gold.index("see") + len("see the anchor"))
    wording = Wording("backoff endpoint throttling", gold, anchor=anchor, language="en", gold_language="en")
    row = measure_set([wording], code_pool([]), window=40, seed=1).rows[0]
    assert row.overlap.value == 0.0
    assert "anchor" in words(gold)[row.window.start : row.window.end]


def test_floor_is_what_chance_gives() -> None:
    """A query of random words overlaps its own gold as it overlaps any other: corrected figures centre on 0."""
    documents = make_documents(300, 60)
    chance = Random(7)
    wordings = [
        Wording(" ".join(chance.sample(VOCABULARY, 6)), documents[at], at, language="en", gold_language="en")
        for at in range(300)
    ]
    rows = measure_set(wordings, code_pool(documents, ["en"] * 300), window=200, seed=3).rows
    corrected = [row.overlap.corrected for row in rows if row.overlap.corrected is not None]
    assert len(corrected) == 300
    assert abs(float(np.mean(corrected))) < 0.1
    floors = [row.overlap.floor for row in rows if row.overlap.floor is not None]
    values = [row.overlap.value for row in rows if row.overlap.value is not None]
    assert abs(float(np.mean(floors)) - float(np.mean(values))) < 0.03


def test_near_duplicates_are_left_out_of_the_floor() -> None:
    """Copies of the gold would raise the floor; grouped with it they are never drawn."""
    gold = "throttled backoff endpoint " + " ".join(VOCABULARY[:20])
    others = ["plain words only here " + " ".join(VOCABULARY[:20])] * 3
    texts = [gold, gold + " again", *others]
    wording = Wording("backoff endpoint throttling", gold, 0, language="en", gold_language="en")
    apart = code_pool(texts, ["en"] * 5)
    grouped = code_pool(texts, ["en"] * 5, [0, 0, 1, 2, 3])
    alone = code_pool(texts, ["en"] * 5, [0] * 5)
    floors = [
        measure_set([wording], pool, window=500, seed=5).rows[0].overlap.floor for pool in (apart, grouped, alone)
    ]
    assert floors[0] is not None
    assert floors[0] > 0
    assert floors[1:] == [0.0, None]


def test_floor_draws_from_the_same_language() -> None:
    """Documents in another script or language are no chance a question had."""
    pairs = [json.loads(line) for line in (DATA / "wording_ja.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = [pairs[0]["gold"], *make_documents(50, 40)]
    row = measure_set([Wording(pairs[0]["copied"], texts[0], 0)], code_pool(texts), window=60, seed=1).rows[0]
    assert row.overlap.value is not None
    assert row.overlap.floor is None


def test_same_seed_same_floors() -> None:
    """A run can be repeated to the last digit; another seed draws others."""
    documents = make_documents(60, 50)
    wordings = [Wording(" ".join(VOCABULARY[at : at + 5]), documents[at], at) for at in range(30)]
    pool = code_pool(documents, ["en"] * 60)
    assert measure_set(wordings, pool, window=100, seed=1) == measure_set(wordings, pool, window=100, seed=1)
    assert measure_set(wordings, pool, window=100, seed=1) != measure_set(wordings, pool, window=100, seed=2)


def test_unmeasurable_rows_stay_in_place() -> None:
    """Rows come in the order asked, with a reason where nothing can be told."""
    documents = make_documents(30, 40)
    wordings = [
        Wording("🙂", documents[0], 0),
        Wording(" ".join(VOCABULARY[:4]), documents[1], 1),
        Wording("返金はいつですか", documents[2], 2),
        Wording("x", "", None),
    ]
    rows = measure_set(wordings, code_pool(documents, ["en"] * 30), window=100, seed=1).rows
    reasons = [row.overlap.unmeasurable for row in rows]
    assert reasons == ["no-words", None, "different-languages", "no-words"]
    assert all(row.overlap.value is None for row, reason in zip(rows, reasons, strict=True) if reason)


def test_correction_has_its_fixed_points() -> None:
    """Chance is 0, everything is 1, below chance is negative, a floor of 1 leaves nothing to say."""
    assert [correct_for_chance(value, 0.25) for value in (0.25, 1.0, 0.0)] == [0.0, 1.0, pytest.approx(-1 / 3)]
    assert correct_for_chance(None, 0.1) is None
    assert correct_for_chance(1.0, 1.0) is None


def test_long_query_with_many_terms() -> None:
    """A pasted message of two hundred distinct words is counted in full."""
    spelled = [f"word{number}x" for number in range(200)]
    wording = Wording(" ".join(spelled), " ".join(spelled[:150]), language="en", gold_language="en")
    row = measure_set([wording], code_pool([]), window=5000, seed=1).rows[0]
    assert (row.overlap.terms, row.overlap.found, row.leak.found) == (200, 150, 150)


@pytest.mark.parametrize("text", ["x" * 1_000_000, "a\x00" * 200_000, "\u202eשלום " * 50_000, "\ud800 b" * 100_000, ""])
def test_hostile_golds_are_measured(text: str) -> None:
    """A megabyte of anything as gold gives a row with a share or a reason."""
    row = measure_set([Wording("backoff endpoint throttling", text)], code_pool([text, text]), window=500, seed=1).rows[
        0
    ]
    assert (row.overlap.value is None) == (row.overlap.unmeasurable is not None)
