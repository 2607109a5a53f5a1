"""Whether a retriever knows when it has no answer."""

import numpy as np
import pytest
from scipy import stats

from findback.measure.abstention import Abstention, choose_threshold, measure_abstention

KINDS = [True] * 12 + [False] * 12


def _measure(scores: list[float | None], **options: object) -> Abstention:
    returned = [score is not None for score in scores]
    return measure_abstention(scores, KINDS, returned, **options)


def test_auroc_counts_pairs_with_ties_half() -> None:
    """On scores with ties AUROC is Mann and Whitney's U over the number of pairs."""
    yes = [5, 5, 4, 4, 4, 3, 3, 6, 7, 8, 2, 1]
    no = [1, 1, 2, 2, 3, 3, 3, 4, 0, 0, 5, 1]
    found = _measure([*yes, *no])
    assert found.auroc.value == pytest.approx(stats.mannwhitneyu(yes, no).statistic / 144)
    assert (found.answerable, found.no_answer) == (12, 12)


def test_direction_of_scores_is_respected() -> None:
    """Distances, where lower is better, give the same figures as their negatives."""
    scores = [float(case * 7 % 24) for case in range(24)]
    similar = _measure(scores)
    distant = _measure([-score for score in scores], higher_is_better=False)
    assert distant.auroc == similar.auroc
    assert distant.false_answer == similar.false_answer
    assert distant.threshold == -similar.threshold


def test_nothing_returned_ranks_below_every_score() -> None:
    """Twelve no-answer cases without result lie below the worst score, level with other empty ones."""
    assert _measure([-1e308] * 12 + [None] * 12).auroc.value == 1.0
    assert _measure([None] * 24).auroc.value == pytest.approx(0.5)


def test_an_explicit_abstention_outranks_its_score() -> None:
    """A case that abstained counts as nothing returned, whatever score came along."""
    found = measure_abstention([1.0] * 12 + [9.0] * 12, KINDS, KINDS)
    assert found.auroc.value == 1.0
    assert (found.own_false_answer.value, found.own_false_abstain.value) == (0.0, 0.0)


def test_separated_scores_make_no_false_decision() -> None:
    """With a gap between the kinds every fold's threshold lies in it and no case is decided wrongly."""
    found = _measure([10.0] * 12 + [0.0] * 12)
    assert found.threshold == 5.0
    assert (found.false_answer.value, found.false_abstain.value) == (0.0, 0.0)
    assert found.false_answer.high == pytest.approx(1 - 0.025 ** (1 / 12))


def test_useless_scores_are_not_flattered_by_their_own_threshold() -> None:
    """Over 40 sets of random scores the cross-fitted rates add up to 1, where in-sample ones stay below."""
    rng = np.random.default_rng(1)
    crossed, fitted = [], []
    for _ in range(40):
        scores = rng.random(24)
        found = _measure(list(scores))
        crossed.append(found.false_answer.value + found.false_abstain.value)
        answered = scores >= choose_threshold(scores, np.array(KINDS))
        fitted.append(answered[12:].mean() + (~answered[:12]).mean())
    assert np.mean(crossed) == pytest.approx(1, abs=0.1)
    assert np.mean(fitted) < 0.8


def test_folds_keep_clusters_whole() -> None:
    """Pairs of paraphrases with scores of their own never choose the threshold they are judged by."""
    scores = [float(case // 2) for case in range(48)]
    kinds = [case // 2 % 2 == 0 for case in range(48)]
    found = measure_abstention(scores, kinds, [True] * 48, [case // 2 for case in range(48)])
    assert found.false_answer.clusters == 12
    assert found.false_answer.n == 24
    # A cluster is answered or not as a whole, so its mean is 0 or 1.
    assert (found.false_answer.value * 12) == pytest.approx(round(found.false_answer.value * 12))


def test_threshold_by_hand() -> None:
    """The middle of the gap; answering everything or nothing at the ends; no use of empty results."""
    yes_no = np.array([True, False])
    assert choose_threshold(np.array([2.0, 1.0]), yes_no) == 1.5
    assert choose_threshold(np.array([1.0, 2.0]), yes_no) == -np.inf
    assert choose_threshold(np.array([3.0, -np.inf]), yes_no) == 3.0


def test_risk_and_area_by_hand() -> None:
    """Best first right, right, wrong, right, … : risks 0, 0, 1/3, 1/4 and their mean."""
    kinds = [True, True, False, True] + [True] * 8 + [False] * 9
    scores = [9.0, 8.0, 7.0, 6.0] + [None] * 17
    returned = [score is not None for score in scores]
    found = measure_abstention(scores, kinds, returned)
    coverages, risks = zip(*found.curve, strict=True)
    assert coverages == pytest.approx((1 / 21, 2 / 21, 3 / 21, 4 / 21))
    assert risks == pytest.approx((0, 0, 1 / 3, 1 / 4))
    assert found.risk_area.value == pytest.approx((1 / 3 + 1 / 4) / 4)
    assert (found.risk_area.n, found.risk_area.left_out) == (4, 17)


def test_tied_scores_have_expected_risk() -> None:
    """All scores equal: at every coverage the expected risk is the share of wrong ones."""
    found = _measure([1.0] * 24)
    assert found.curve == ((1.0, 0.5),)
    assert found.risk_area.value == pytest.approx(0.5)


def test_wrong_answers_are_risk_too() -> None:
    """An answerable case with a wrong first result is a fault, a right no-answer flag does not help."""
    found = _measure([1.0] * 24, correct=[True] * 6 + [False] * 6 + [True] * 12)
    assert found.risk_area.value == pytest.approx(18 / 24)


def test_area_interval_holds_the_value_and_repeats() -> None:
    """The area has a bootstrap interval around it, the same for the same seed."""
    scores = list(np.random.default_rng(3).random(24) + np.array(KINDS) * 0.5)
    found = _measure(scores, seed=4)
    assert found.risk_area.low < found.risk_area.value < found.risk_area.high
    assert found == _measure(scores, seed=4)


@pytest.mark.parametrize(
    ("scores", "options", "reason"),
    [
        (None, {}, "the retriever gives no scores"),
        ([0.5] * 24, {"fused": True}, "fused ranks are no scores"),
        ([0.5] * 24, {"clusters": [0, 0, 0, *range(1, 22)]}, None),
        ([0.5] * 24, {"clusters": [0, 0, 0, 0, *range(1, 21)]}, "too few: 9 answerable clusters, 10 needed"),
    ],
)
def test_undefined_with_a_reason(scores: list[float] | None, options: dict[str, object], reason: str | None) -> None:
    """No scores, fused ranks or nine clusters of a kind: no figure, but the engine's own rates."""
    found = measure_abstention(scores, KINDS, [True] * 24, **options)
    for figure in (found.auroc, found.false_answer, found.false_abstain, found.risk_area):
        assert (figure.value is None) == (reason is not None)
        if reason is not None:
            assert figure.reason == reason
    assert found.own_false_answer.value == 1.0


def test_bad_input_is_refused() -> None:
    """Lengths that differ, one fold, and a result without a score are errors."""
    with pytest.raises(ValueError, match="23 scores"):
        measure_abstention([1.0] * 23, KINDS, [True] * 24)
    with pytest.raises(ValueError, match="in 1 folds"):
        measure_abstention([1.0] * 24, KINDS, [True] * 24, folds=1)
    with pytest.raises(ValueError, match="1 cases have a result without a score"):
        measure_abstention([1.0] * 23 + [None], KINDS, [True] * 24)
