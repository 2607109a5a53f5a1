"""Means with the interval their clusters allow."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from findback.measure.bootstrap import resample_means
from findback.measure.clusters import average_clusters, code_clusters, join_by_gold, merge_units
from findback.measure.intervals import estimate_mean, estimate_means, exact_interval, t_quantile

HALF = [1.0] * 21 + [0.0] * 18


def test_a_proportion_of_single_cases_is_exact() -> None:
    """21 of 39 is .538 with the interval [.37, .70]."""
    figure = estimate_mean(HALF)
    assert figure.value == pytest.approx(21 / 39)
    assert (round(figure.low, 2), round(figure.high, 2)) == (0.37, 0.70)
    assert (figure.method, figure.n, figure.clusters, figure.left_out) == ("clopper-pearson", 39, 39, 0)


def test_paraphrases_count_by_root() -> None:
    """The same 39 cases as 13 roots of three give a wider interval, t on 13 means."""
    figure = estimate_mean(HALF, [case // 3 for case in range(39)])
    oracle = stats.ttest_1samp([1] * 7 + [0] * 6, 0).confidence_interval()
    assert (figure.low, figure.high) == pytest.approx((oracle.low, oracle.high))
    assert (figure.method, figure.n, figure.clusters) == ("t", 39, 13)
    assert figure.high - figure.low > 0.6


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_exact_interval_is_that_of_binomtest(drawn: tuple[int, int]) -> None:
    """Every proportion has scipy's exact interval."""
    hits, trials = drawn
    oracle = stats.binomtest(hits, trials).proportion_ci(method="exact")
    assert exact_interval(hits, trials) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


def test_no_proportion_of_nothing() -> None:
    """No trials, or more hits than trials, are refused."""
    with pytest.raises(ValueError, match="0 hits in 0 trials"):
        exact_interval(0, 0)
    with pytest.raises(ValueError, match="3 hits in 2 trials"):
        exact_interval(3, 2)


def test_t_below_fifty_clusters() -> None:
    """49 reciprocal ranks get scipy's t interval."""
    values = np.random.default_rng(1).random(49)
    figure = estimate_mean(values)
    oracle = stats.ttest_1samp(values, 0).confidence_interval()
    assert (figure.low, figure.high) == pytest.approx((oracle.low, oracle.high))
    assert figure.method == "t"
    assert figure.seed is None


def test_bootstrap_from_fifty_clusters() -> None:
    """50 reciprocal ranks get a bootstrap interval, its seed recorded, the same for the same seed."""
    values = np.random.default_rng(1).random(50)
    figure = estimate_mean(values, seed=11)
    assert (figure.method, figure.seed) == ("bca", 11)
    assert figure == estimate_mean(values, seed=11)
    assert figure.low != estimate_mean(values, seed=12).low


@pytest.mark.parametrize("values", [[1.0, 0.0] * 3 + [1.0], [0.5, 0.2] * 3 + [1.0]])
def test_seven_clusters_are_too_few(values: list[float]) -> None:
    """Below 8 clusters there is a value and no interval, and the reason says how many there were."""
    figure = estimate_mean(values)
    assert figure.value == pytest.approx(np.mean(values))
    assert (figure.low, figure.high, figure.method) == (None, None, "none")
    assert figure.reason == "too few: 7 clusters, 8 needed"


def test_eight_clusters_are_enough() -> None:
    """At 8 clusters the exact interval of 4 of 8 is given."""
    figure = estimate_mean([1, 0] * 4)
    assert (figure.low, figure.high) == pytest.approx((0.157, 0.843), abs=5e-4)


def test_many_paraphrases_do_not_make_clusters() -> None:
    """100 cases of 7 roots are too few."""
    assert estimate_mean(np.arange(100) % 2, np.arange(100) % 7).reason == "too few: 7 clusters, 8 needed"
    assert estimate_mean([1.0, 0.0], [0, 0]).reason == "too few: 1 cluster, 8 needed"


def test_undefined_values_are_left_out_and_counted() -> None:
    """None and NaN are neither 0 nor forgotten."""
    figure = estimate_mean([1.0, None, float("nan"), 0.0])
    assert (figure.value, figure.n, figure.clusters, figure.left_out) == (0.5, 2, 2, 2)


def test_nothing_defined_is_no_zero() -> None:
    """Without a defined value the figure is None with a reason."""
    for values in ([None, None], []):
        figure = estimate_mean(values)
        assert (figure.value, figure.n, figure.left_out) == (None, 0, len(values))
        assert figure.reason == "no case has a value"


def test_all_hits_in_clusters_are_not_certainty() -> None:
    """60 clusters of two hits each: the lower end is that of 60 of 60, not 1."""
    figure = estimate_mean([1.0] * 120, np.arange(120) // 2)
    assert figure.low == pytest.approx(0.025 ** (1 / 60))
    assert (figure.high, figure.method) == (1.0, "clopper-pearson")


def test_equal_values_inside_the_range_have_no_interval() -> None:
    """Ten reciprocal ranks of .5 show no spread, so none is claimed."""
    figure = estimate_mean([0.5] * 10)
    assert (figure.value, figure.low) == (0.5, None)
    assert figure.reason == "all 10 clusters have the same value"


def test_interval_is_cut_to_the_range() -> None:
    """Nine zeros and a one: t would reach below 0; without limits it does."""
    values = [0.0] * 9 + [0.999]
    assert estimate_mean(values).low == 0.0
    assert estimate_mean(values, bounds=None).low < 0


def test_values_out_of_range_are_refused() -> None:
    """Seconds given as a metric are refused by a message that names the way out."""
    with pytest.raises(ValueError, match="bounds=None"):
        estimate_mean([0.1, 12.0])
    with pytest.raises(ValueError, match="confidence level"):
        estimate_mean([0.1], level=95)


def test_zero_or_one_without_a_range_is_no_proportion() -> None:
    """Differences that happen to be 0 or 1 are not counted as hits."""
    assert estimate_mean([1.0, 0.0] * 10, bounds=(-1.0, 1.0)).method == "t"


def test_shared_golds_widen_the_interval() -> None:
    """20 documents asked for twice with the same outcome: the variance doubles and gold groups are shown."""
    outcome = np.repeat([1.0, 0.0, 0.0, 1.0] * 5, 2)
    figure = estimate_mean(outcome, golds=np.repeat(np.arange(20), 2).tolist())
    oracle = stats.ttest_1samp([1, 0, 0, 1] * 5, 0).confidence_interval()
    assert (figure.low, figure.high) == pytest.approx((oracle.low, oracle.high))
    assert (figure.method, figure.golds, figure.clusters) == ("gold-clustered", 20, 40)
    assert figure.design_effect == pytest.approx(2 * 39 / 38)


def test_unrelated_outcomes_of_a_gold_change_nothing() -> None:
    """Where cases of a document do not go together the interval stays by cluster, the effect shown."""
    figure = estimate_mean([1.0, 0.0] * 20, golds=[case // 2 for case in range(40)])
    assert (figure.method, figure.golds) == ("clopper-pearson", 20)
    assert figure.design_effect == pytest.approx(0.0, abs=1e-12)


def test_few_documents_are_too_few() -> None:
    """40 cases of 4 documents that answer alike are four observations, so there is no interval."""
    figure = estimate_mean(np.repeat([1.0, 0.0, 1.0, 0.0], 10), golds=np.repeat(np.arange(4), 10).tolist())
    assert figure.reason == "too few: 4 gold groups, 8 needed"


def test_distinct_golds_have_no_design_effect() -> None:
    """One gold a case gives exactly 1."""
    assert estimate_mean([0.1, 0.7, 0.3] * 5, golds=list(range(15))).design_effect == pytest.approx(1.0)


def test_columns_equal_single_figures() -> None:
    """Several figures at once, undefined at different cases, equal each one alone."""
    table = np.random.default_rng(4).random((120, 3))
    table[:40, 1] = np.nan
    table[:, 2] = table[:, 2] > 0.5
    clusters = np.arange(120) // 2
    golds = [case % 70 for case in range(120)]
    together = estimate_means(table, clusters, golds)
    for column, figure in enumerate(together):
        alone = estimate_mean(table[:, column], clusters, golds)
        assert figure.low == pytest.approx(alone.low)
        assert figure.model_copy(update={"low": None, "high": None, "value": None, "design_effect": None}) == (
            alone.model_copy(update={"low": None, "high": None, "value": None, "design_effect": None})
        )


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=70),
    st.integers(1, 5),
    st.integers(1, 40),
)
def test_every_figure_is_whole(values: list[float | None], cluster: int, documents: int) -> None:
    """Whatever comes in: the value lies in its interval and in [0, 1], or a reason says why not."""
    size = len(values)
    figure = estimate_mean(values, [case // cluster for case in range(size)], [c % documents for c in range(size)])
    assert figure.n + figure.left_out == size
    if figure.low is None:
        assert figure.reason
        assert figure.method == "none"
    else:
        assert 0 <= figure.low <= figure.value + 1e-9
        assert figure.value - 1e-9 <= figure.high <= 1


def test_t_quantile_is_scipys() -> None:
    """The half-width of a 90 % interval on 12 degrees of freedom."""
    assert t_quantile(0.9, 12) == pytest.approx(stats.t.ppf(0.95, 12))


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _reciprocal_ranks(folder: Path) -> tuple[np.ndarray, list[str]]:
    bm25s = pytest.importorskip("bm25s")
    stemmer = pytest.importorskip("Stemmer").Stemmer("english")
    corpus = _read(folder / "corpus.jsonl")
    queries = _read(folder / "queries.jsonl")
    words = {"stopwords": "en", "stemmer": stemmer, "show_progress": False}
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(bm25s.tokenize([document["text"] for document in corpus], **words), show_progress=False)
    texts = bm25s.tokenize([query["query"] for query in queries], **words)
    rows, scores = index.retrieve(texts, k=10, show_progress=False)
    found = np.array([[document["id"] for document in corpus]])[0][rows]
    golds = [query["gold"] for query in queries]
    hit = (found == np.array(golds)[:, None]) & (scores > 0)
    return np.where(hit.any(axis=1), 1 / (1 + hit.argmax(axis=1)), 0.0), golds


def test_real_questions_share_documents(data: Path) -> None:
    """348 real questions about 118 documents: RR@10 .255, by question [.215, .295], by document wider."""
    ranks, golds = _reciprocal_ranks(data / "ubuntu")
    reciprocal, recall = estimate_means(np.stack([ranks, ranks > 0], axis=1), golds=golds)
    assert (reciprocal.n, reciprocal.golds) == (348, 118)
    assert reciprocal.value == pytest.approx(0.255, abs=0.001)
    assert recall.value == pytest.approx(0.431, abs=0.001)
    assert 2 < reciprocal.design_effect < 3
    assert 1.5 < recall.design_effect < 2
    assert reciprocal.method == recall.method == "gold-clustered"

    by_question = estimate_mean(ranks)
    assert (by_question.low, by_question.high) == pytest.approx((0.215, 0.295), abs=0.002)
    assert reciprocal.low < by_question.low
    assert reciprocal.high > by_question.high

    codes = code_clusters(None, 348)
    units = merge_units(average_clusters(ranks[:, None], codes), join_by_gold(codes, golds))
    percentiles = np.quantile(resample_means(units, seed=1)[:, 0], [0.025, 0.975])
    assert percentiles == pytest.approx([0.196, 0.319], abs=0.003)
    oracle = stats.bootstrap(
        (units.sums[:, 0], units.counts[:, 0]),
        lambda sums, counts, axis: sums.sum(axis) / counts.sum(axis),
        paired=True,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval
    assert (reciprocal.low, reciprocal.high) == pytest.approx((oracle.low, oracle.high), abs=0.004)
