"""What a set would score at another set's overlap."""

import numpy as np
import pytest

from findback.measure.buckets import NAMES
from findback.measure.reweighting import Queries, reweight

MIDDLE = {"0": 0.0, "0-.25": 0.2, ".25-.5": 0.4, ".5-.75": 0.6, ".75-1": 0.9}


def queries(*groups: tuple[str, int, int], **more) -> Queries:
    """Queries by bucket: how many, and how many of them are found."""
    values, overlaps = [], []
    for bucket, count, found in groups:
        values += [1.0] * found + [0.0] * (count - found)
        overlaps += [MIDDLE[bucket]] * count
    return Queries(np.array(values)[:, None], overlaps, **more)


def test_buckets_keep_their_scores_and_change_their_weight() -> None:
    """Half of 20 easy and a tenth of 40 hard queries, at real shares of 1:3, give .9/4 + .1·3/4 = .3."""
    generated = queries((".75-1", 20, 18), ("0-.25", 40, 4))
    real = queries((".75-1", 5, 5), ("0-.25", 15, 1))
    found = reweight(generated, real)
    (system,) = found.systems
    assert system.raw.value == pytest.approx(22 / 60)
    assert system.reweighted.value == pytest.approx(0.3)
    assert system.real.value == pytest.approx(6 / 20)
    assert system.reweighted.low < 0.3 < system.reweighted.high
    assert (system.reweighted.n, system.reweighted.clusters) == (60, 80)
    by_name = {mass.bucket: mass for mass in found.buckets}
    assert [by_name[name].queries for name in NAMES] == [0, 40, 0, 0, 20]
    assert (by_name["0-.25"].real, by_name["0-.25"].generated) == (0.75, pytest.approx(2 / 3))
    # Weights .75·60/40 = 9/8 forty times and .25·60/20 = 3/4 twenty times: 60² / (40·81/64 + 20·9/16).
    assert found.effective == pytest.approx(3600 / (40 * 81 / 64 + 20 * 9 / 16))
    assert (found.support, found.refusal, found.unmeasurable) == (1.0, None, (0, 0))


def test_a_thin_bucket_is_refused() -> None:
    """Nine generated queries in a bucket of 6 % of the real ones are too few; of 5 % they are not asked for."""
    generated = queries(("0-.25", 9, 3), (".25-.5", 60, 30))
    refused = reweight(generated, queries(("0-.25", 6, 1), (".25-.5", 94, 50)))
    assert refused.refusal == "too few queries to weight in overlap 0-.25 (9 for 6% of those aimed at); 10 needed"
    (system,) = refused.systems
    assert (system.reweighted.value, system.reweighted.reason) == (None, refused.refusal)
    assert (system.better, system.why) == ("real queries", "it alone has an interval")
    assert reweight(generated, queries(("0-.25", 5, 1), (".25-.5", 95, 50))).refusal is None


def test_ten_paraphrases_are_one_query() -> None:
    """A bucket filled by paraphrases of one root is thin."""
    generated = queries(("0-.25", 12, 3), (".25-.5", 60, 30), clusters=[0] * 12 + list(range(1, 61)))
    found = reweight(generated, queries(("0-.25", 10, 1), (".25-.5", 10, 5)))
    assert found.refusal == "too few queries to weight in overlap 0-.25 (1 for 50% of those aimed at); 10 needed"


def test_a_light_empty_bucket_is_left_out() -> None:
    """One real query in 40 has an overlap no generated one has: support is 39/40, the rest is weighted up."""
    generated = queries((".25-.5", 20, 10), (".5-.75", 20, 20))
    found = reweight(generated, queries(("0", 1, 0), (".25-.5", 13, 5), (".5-.75", 26, 20)))
    assert found.support == pytest.approx(39 / 40)
    assert found.systems[0].reweighted.value == pytest.approx((13 * 0.5 + 26 * 1.0) / 39)


def test_paraphrases_share_a_weight() -> None:
    """A root with one paraphrase in each of two buckets counts half in both, on either side."""
    generated = Queries(
        np.array([[1.0], [0.0]] * 20), [0.2, 0.4] * 20, clusters=[root for root in range(20) for _ in (1, 2)]
    )
    real = Queries(np.ones((6, 1)), [0.2, 0.4, 0.4, 0.4, 0.4, 0.4], clusters=["a", "a", "a", "a", "b", "c"])
    found = reweight(generated, real)
    masses = {mass.bucket: (mass.real, mass.generated) for mass in found.buckets}
    assert masses["0-.25"] == (pytest.approx(0.25 / 3), 0.5)
    assert found.systems[0].reweighted.value == pytest.approx(0.25 / 3)


def test_queries_that_cannot_be_measured_are_left_out() -> None:
    """Without overlap a query has no bucket; it stays in the raw score and is counted."""
    generated = queries((".25-.5", 20, 10))
    mixed = Queries(np.vstack([generated.values, np.ones((5, 1))]), [*generated.overlaps, *[None] * 5])
    found = reweight(mixed, Queries(np.ones((3, 1)), [0.4, 0.4, None]))
    (system,) = found.systems
    assert (system.raw.value, system.reweighted.value) == (pytest.approx(15 / 25), 0.5)
    assert (system.reweighted.n, system.reweighted.left_out, found.unmeasurable) == (20, 5, (5, 1))
    nothing = reweight(generated, Queries(np.ones((3, 1)), [None] * 3))
    assert (nothing.refusal, nothing.support) == ("no overlap to aim at can be measured", None)


def test_a_failed_search_leaves_its_bucket_to_others() -> None:
    """An undefined score takes no part: of 20 queries ten without one leave the mean of the other ten."""
    values = np.array([[1.0]] * 10 + [[np.nan]] * 10 + [[0.0]] * 10)
    found = reweight(Queries(values, [0.4] * 20 + [0.9] * 10), Queries(np.ones((2, 1)), [0.4, 0.9]))
    assert found.systems[0].reweighted.value == pytest.approx(0.5)
    assert found.systems[0].reweighted.left_out == 10


def test_the_narrower_interval_is_believed() -> None:
    """200 real queries are better than 60 weighted ones; 12 are not, unless the two contradict each other."""
    generated = queries((".25-.5", 100, 50), (".5-.75", 100, 80))
    many = reweight(generated, queries((".25-.5", 300, 160), (".5-.75", 100, 80))).systems[0]
    assert (many.better, many.why) == ("real queries", "its interval is no wider, and it assumes nothing")
    few = reweight(generated, queries((".25-.5", 9, 5), (".5-.75", 3, 2))).systems[0]
    assert few.better == "reweighted"
    apart = reweight(generated, queries((".25-.5", 30, 2), (".5-.75", 10, 1))).systems[0]
    assert (apart.better, apart.why) == (
        "real queries",
        "the two differ by more than chance, so overlap is not all that differs",
    )


def test_seven_real_queries_give_no_interval() -> None:
    """Below eight clusters on a side there is a value, and a reason for no interval."""
    found = reweight(queries((".25-.5", 40, 20)), queries((".25-.5", 7, 3))).systems[0]
    assert (found.reweighted.value, found.reweighted.low) == (0.5, None)
    assert found.reweighted.reason == "too few: 7 clusters on one side, 8 needed"
    assert found.better is None


def test_shared_golds_widen() -> None:
    """Generated queries that come in fours about one document, found or missed together, are a quarter as many."""
    rng = np.random.default_rng(1)
    values = np.repeat((rng.random(30) < 0.5).astype(float), 4)[:, None]
    overlaps = np.repeat(np.where(np.arange(30) % 2, 0.4, 0.6), 4).tolist()
    real = queries((".25-.5", 60, 30), (".5-.75", 60, 30))
    widths = []
    for golds in (None, np.repeat(np.arange(30), 4).tolist()):
        found = reweight(Queries(values, overlaps, golds=golds), real).systems[0].reweighted
        widths.append(found.high - found.low)
    assert widths[1] > 1.6 * widths[0]
    assert found.method == "gold-clustered"


@pytest.mark.parametrize(("sizes", "method"), [((150, 40), "t"), ((150, 80), "bca")])
def test_intervals_hold_the_truth(sizes: tuple[int, int], method: str) -> None:
    """Where overlap is all that differs, about 5 % of intervals miss: at most 11 of 100."""
    names = [".25-.5", ".5-.75", ".75-1"]
    mixes, chances = {"generated": [0.2, 0.4, 0.4], "real": [0.6, 0.3, 0.1]}, np.array([0.3, 0.6, 0.85])
    rng = np.random.default_rng(2)

    def sample(kind: str, size: int) -> Queries:
        bucket = rng.choice(3, size, p=mixes[kind])
        return Queries((rng.random((size, 1)) < chances[bucket][:, None]) * 1.0, [MIDDLE[names[b]] for b in bucket])

    truth = float(np.dot(mixes["real"], chances))
    missed = 0
    for _ in range(100):
        found = reweight(sample("generated", sizes[0]), sample("real", sizes[1])).systems[0].reweighted
        assert found.method == method
        missed += not found.low <= truth <= found.high
    assert missed <= 11


def test_lengths_must_agree() -> None:
    """Overlaps of other queries are refused."""
    with pytest.raises(ValueError, match="2 overlaps were given for 1 queries"):
        reweight(Queries(np.ones((1, 1)), [0.1, 0.2]), Queries(np.ones((1, 1)), [0.1]))
