"""Verdicts on simulated systems."""

from collections.abc import Callable

import numpy as np
import pytest

from builders.comparisons import Floats, paired_scores, question, questions, reciprocal_ranks
from findback.measure.paired import compare_pair
from findback.model.question import Question
from findback.steps.compare_pairs import Terms, judge_pairs

FAST = Terms(margin=0.02, resamples=1_000)
"""A tenth of the sign patterns: twelve hundred sets are judged here, and p is only read where few cases differ."""


def kept_where_first_failed(seed: int, controls: int = 0) -> tuple[Floats, list[Question]]:
    """Two equally good systems on 60 cases on which the first failed, and on cases drawn from all that are left."""
    rng = np.random.default_rng(seed)
    ease = rng.beta(0.8, 1.2, 2_000)
    table = np.stack([reciprocal_ranks(ease, rng), reciprocal_ranks(ease, rng)], axis=1)
    failed = np.flatnonzero(table[:, 0] == 0)[:60]
    drawn = np.flatnonzero(table[:, 0] > 0)[:controls]
    asked = [question(at, stratum="failure", selected_on="A") for at in range(len(failed))]
    asked += [question(100 + at, stratum="control") for at in range(len(drawn))]
    return table[[*failed, *drawn]], asked


def test_better_on_its_past_failures_is_never_plainly_better() -> None:
    """Equally good systems, cases kept where one failed: over 200 seeds the other is never called better."""
    verdicts = []
    for seed in range(200):
        (pair,) = judge_pairs(paired_scores(*kept_where_first_failed(seed)), FAST)
        assert (pair.first, pair.second) == ("B", "A")
        verdicts.append(pair.verdict)
    assert "better" not in verdicts
    assert verdicts.count("better on its past failures") > 190


@pytest.mark.parametrize(("production", "plain"), [(None, False), ("A", False), ("elsewhere", True)])
def test_failures_of_nobody_known_count_as_the_production_systems(production: str | None, plain: bool) -> None:
    """Where cases do not say whose failures they are, the system people use has failed, and it may be either."""
    table, asked = kept_where_first_failed(3)
    unsaid = [one.model_copy(update={"selected_on": None}) for one in asked]
    (pair,) = judge_pairs(paired_scores(table, unsaid), FAST._replace(production=production))
    assert pair.verdict == ("better" if plain else "better on its past failures")


def test_control_cases_turn_selection_into_a_win_as_rarely_as_chance() -> None:
    """With 60 control cases beside them the other is called better in no more than 2.5 % of 80 sets, give or take."""
    said = [judge_pairs(paired_scores(*kept_where_first_failed(seed, 60)), FAST)[0] for seed in range(80)]
    plain = sum(pair.first == "B" and pair.verdict == "better" for pair in said)
    past = sum(pair.verdict == "better on its past failures" for pair in said)
    assert plain <= 4
    assert past >= 20


def test_a_real_advantage_shows_where_control_agrees() -> None:
    """A system better on failures and on everyday cases alike is plainly better, and the control cases say so."""
    rng = np.random.default_rng(4)
    asked = [question(at, stratum="failure" if at < 60 else "control", selected_on="A") for at in range(120)]
    table = np.stack([reciprocal_ranks(np.full(120, ease), rng) for ease in (0.25, 0.8)], axis=1)
    (pair,) = judge_pairs(paired_scores(table, asked), FAST)
    assert (pair.first, pair.verdict, pair.needed) == ("B", "better", None)
    assert [(part.stratum, part.cases, part.verdict) for part in pair.strata] == [
        ("failure", 60, "better"),
        ("control", 60, "better"),
    ]


def test_past_failures_alone_ask_for_control_cases() -> None:
    """Without control cases there is no number that would help; with few it is a number of control cases."""
    table, asked = kept_where_first_failed(1)
    (pair,) = judge_pairs(paired_scores(table, asked), FAST)
    assert pair.needed is not None
    assert (pair.needed.cases, pair.needed.reason) == (None, "control cases: the set has none")
    rng = np.random.default_rng(8)
    more = np.stack([reciprocal_ranks(np.full(20, ease), rng) for ease in (0.4, 0.6)], axis=1)
    both = [*asked, *(question(200 + at, stratum="control") for at in range(20))]
    (pair,) = judge_pairs(paired_scores(np.vstack([table, more]), both), FAST)
    assert pair.verdict == "better on its past failures"
    assert pair.needed is not None
    assert pair.needed.control
    assert pair.needed.cases is not None
    assert pair.needed.cases > 0


def smooth(rng: np.random.Generator, size: float) -> Floats:
    """A hundred pairs of even scores around a shared base, the first ahead by `size` on average."""
    base = rng.uniform(0.3, 0.6, 100)[:, None]
    return base + np.array([size / 2, -size / 2]) + rng.uniform(-0.1, 0.1, (100, 2))


def lumpy(rng: np.random.Generator, size: float) -> Floats:
    """A hundred pairs that mostly score alike, and otherwise a step or two apart."""
    weights = np.array([0.1, 0.15, 0.5, 0.15, 0.1]) + np.array([-size, 0, 0, 0, size])
    gaps = rng.choice([-0.5, -1 / 6, 0.0, 1 / 6, 0.5], p=weights, size=100)
    return np.stack([0.5 + gaps, np.full(100, 0.5)], axis=1)


@pytest.mark.parametrize("draw", [smooth, lumpy])
def test_the_detectable_difference_is_found_in_8_of_10(draw: Callable[[np.random.Generator, float], Floats]) -> None:
    """A planted difference equal to the printed detectable one (the middle of 21) is found in 72 to 88 % of 400."""
    printed = []
    for seed in range(21):
        (pilot,) = judge_pairs(paired_scores(draw(np.random.default_rng(10_000 + seed), 0.0)), FAST)
        assert pilot.detectable is not None
        printed.append(pilot.detectable)
    verdicts = []
    for seed in range(400):
        table = draw(np.random.default_rng(seed), float(np.median(printed)))
        (pair,) = judge_pairs(paired_scores(table), FAST)
        verdicts.append((pair.first, pair.verdict))
    assert 0.72 <= verdicts.count(("A", "better")) / 400 <= 0.88


def test_the_number_of_cases_settles_it() -> None:
    """With as many more cases as were said, and a difference as it seemed, 8 of 10 sets call it better."""
    rng = np.random.default_rng(3)
    (open_,) = judge_pairs(paired_scores(smooth(rng, 0.016)), FAST)
    assert open_.verdict == "cannot tell"
    assert open_.needed is not None
    assert open_.needed.outcome == "better"
    assert open_.needed.cases is not None
    assert open_.difference.value is not None
    more = -(-open_.needed.cases // 100)
    found = 0
    for _ in range(100):
        table = np.vstack([smooth(rng, open_.difference.value) for _ in range(1 + more)])
        found += judge_pairs(paired_scores(table[: 100 + open_.needed.cases]), FAST)[0].verdict == "better"
    assert 66 <= found <= 94


def test_holm_against_a_baseline() -> None:
    """Against a baseline each p is the pair's own sign-flip p, adjusted by Holm; pairs are system minus baseline."""
    rng = np.random.default_rng(6)
    table = np.clip(rng.random((60, 4)) + np.array([0, 0.02, 0.16, 0.25]), 0, 1)
    pairs = judge_pairs(paired_scores(table), Terms(margin=0.02, baseline=0))
    assert [(pair.first, pair.second) for pair in pairs] == [("D", "A"), ("C", "A"), ("B", "A")]
    raw = [compare_pair(table[:, at], table[:, 0], seed=1).p for at in (3, 2, 1)]
    assert raw == sorted(raw)
    by_hand = [3 * raw[0], max(3 * raw[0], 2 * raw[1]), max(3 * raw[0], 2 * raw[1], raw[2])]
    assert by_hand[1] < 1
    assert [pair.p for pair in pairs] == pytest.approx([min(1.0, p) for p in by_hand])


def test_a_failed_search_leaves_bounds() -> None:
    """With one failed search the difference runs from all misses to all hits; only what both ends say is a verdict."""
    table = np.tile([1.0, 0.2], (40, 1)) + np.random.default_rng(2).uniform(-0.1, 0.0, (40, 2))
    whole = table.copy()
    table[7, 0] = np.nan
    (sure,) = judge_pairs(paired_scores(table), FAST)
    assert (sure.verdict, sure.why) == ("better", "whatever 1 failed search would have found")
    assert (sure.difference.value, sure.difference.reason) == (None, "1 query failed: bounds only")
    others = np.delete(whole, 7, axis=0)
    rest = (others[:, 0] - others[:, 1]).sum()
    assert sure.lowest is not None
    assert sure.highest is not None
    assert sure.lowest.value == pytest.approx((rest + 0 - whole[7, 1]) / 40)
    assert sure.highest.value == pytest.approx((rest + 1 - whole[7, 1]) / 40)
    assert sure.wins + sure.ties + sure.losses == 39


def test_a_failed_search_that_could_turn_it_leaves_no_verdict() -> None:
    """Where the two ends disagree nothing is said, and searching again comes before more cases."""
    rng = np.random.default_rng(5)
    table = 0.5 + rng.uniform(-0.1, 0.1, (40, 2)) + np.array([0.05, 0.0])
    table[3:6, 0] = np.nan
    (pair,) = judge_pairs(paired_scores(table), FAST)
    assert pair.verdict == "cannot tell"
    assert pair.why == "3 failed searches could turn it either way"
    assert pair.needed is not None
    assert (pair.needed.cases, pair.needed.reason) == (None, "failed searches first: ask again")
    assert pair.low is not None
    assert pair.high is not None
    assert pair.low < 0 < pair.high


def test_failures_of_both_systems_pull_apart() -> None:
    """At its least the first one's failures miss and the second's are perfect, at its most the other way round."""
    table = np.full((20, 2), 0.5)
    table[:4, 0] = np.nan
    table[4:6, 1] = np.nan
    (pair,) = judge_pairs(paired_scores(table), FAST)
    assert pair.lowest is not None
    assert pair.highest is not None
    ends = {"A": ((-4 * 0.5 - 2 * 0.5) / 20, (4 * 0.5 + 2 * 0.5) / 20)}
    assert (pair.lowest.value, pair.highest.value) == pytest.approx(ends["A"])
    assert (pair.p, pair.verdict) == (1.0, "cannot tell")


def test_an_error_touches_its_own_pairs_alone() -> None:
    """A system without failures keeps values and verdicts against others without."""
    rng = np.random.default_rng(9)
    table = np.clip(rng.random((50, 3)) * 0.3 + np.array([0.0, 0.3, 0.6]), 0, 1)
    table[0, 2] = np.nan
    pairs = {(one.first, one.second): one for one in judge_pairs(paired_scores(table), FAST)}
    clean = pairs["B", "A"]
    assert clean.difference.value == pytest.approx((table[:, 1] - table[:, 0]).mean())
    assert (clean.lowest, clean.verdict) == (None, "better")
    assert pairs["C", "A"].lowest is not None


def test_fewer_than_eight_clusters_are_too_few() -> None:
    """Forty cases in seven clusters: a difference and a p, no interval, no verdict, no number of cases."""
    rng = np.random.default_rng(1)
    asked = [question(at, cluster=f"k{at % 7}") for at in range(40)]
    (pair,) = judge_pairs(paired_scores(rng.random((40, 2)), asked), FAST)
    assert (pair.verdict, pair.low, pair.high, pair.detectable) == ("too few", None, None, None)
    assert pair.needed is not None
    assert pair.needed.reason == "too few: 7 clusters, 8 needed"


def test_paraphrases_count_as_one() -> None:
    """Five paraphrases of each of 12 roots give the interval and the p of 12 differences."""
    rng = np.random.default_rng(2)
    roots = np.clip(rng.random((12, 2)) * 0.5 + np.array([0.2, 0.0]), 0, 1)
    asked = [question(at, cluster=f"k{at // 5}") for at in range(60)]
    (many,) = judge_pairs(paired_scores(np.repeat(roots, 5, axis=0), asked), FAST)
    (few,) = judge_pairs(paired_scores(roots, questions(12)), FAST)
    assert (many.low, many.high, many.p, many.verdict) == pytest.approx((few.low, few.high, few.p, few.verdict))
    assert many.difference.n == 60
