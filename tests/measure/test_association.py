"""Which words of questions go with which words of their answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency

from findback.measure.association import STRONG, Sighting, associate, log_likelihood


@given(st.integers(1, 60), st.integers(1, 400), st.data())
def test_log_likelihood_is_scipys(of_first: int, of_second: int, data: st.DataObject) -> None:
    """The same as the G statistic of the 2 × 2 table, where that is defined."""
    first, second = data.draw(st.integers(0, of_first)), data.draw(st.integers(0, of_second))
    if not 0 < first + second < of_first + of_second:
        assert log_likelihood(first, of_first, second, of_second) == 0
        return
    table = [[first, of_first - first], [second, of_second - second]]
    expected = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    assert log_likelihood(first, of_first, second, of_second) == pytest.approx(expected, abs=1e-9)


def test_strong_is_one_in_a_thousand() -> None:
    """The bound is that of chi-squared with one degree of freedom."""
    assert chi2.sf(STRONG, 1) == pytest.approx(0.001, abs=1e-5)


def sighting(cluster: str, gold: str, asked: str, answered: str) -> Sighting:
    return Sighting(cluster, frozenset({gold}), frozenset(asked.split()), frozenset(answered.split()))


def test_a_pair_needs_two_clusters() -> None:
    """Three paraphrases of one question are one cluster, and no evidence."""
    alone = [sighting("k1", "a", "wifi", "wireless")] * 3
    assert associate(alone, {"wireless": 1}, 100) == []
    (found,) = associate([*alone, sighting("k2", "b", "wifi", "wireless")], {"wireless": 2}, 100)
    assert (found.asked, found.answered, found.rows, found.clusters, found.golds) == (
        "wifi",
        "wireless",
        (0, 1, 2, 3),
        2,
        2,
    )
    assert found.strength == pytest.approx(log_likelihood(2, 2, 2, 100))
    assert found.lift == pytest.approx(50)


def test_popular_answers_explain_their_own_words() -> None:
    """Where most other questions have an answer with the word it says little, however rare it is in the corpus."""
    wifi = [sighting(f"w{n}", "hub", "wifi", "hub") for n in range(3)]
    others = [sighting(f"o{n}", "hub", "printer", "hub") for n in range(7)]
    apart = [sighting(f"p{n}", "desk", "badge", "desk") for n in range(3)]
    found = {(one.asked, one.answered): one for one in associate([*wifi, *others, *apart], {"hub": 1, "desk": 1}, 1000)}
    assert found["wifi", "hub"].strength == pytest.approx(log_likelihood(3, 3, 7, 10))
    assert found["wifi", "hub"].strength < STRONG < found["badge", "desk"].strength


def test_one_document_counts_for_five_clusters_at_most() -> None:
    """Nine questions with one answer prove what five would."""
    many = [sighting(f"k{n}", "hub", "wifi", "hub") for n in range(9)]
    (found,) = associate(many, {"hub": 1}, 1000)
    assert (found.clusters, found.golds) == (9, 1)
    assert found.strength == pytest.approx(log_likelihood(5, 9, 1, 1000))
    spread = [sighting(f"k{n}", f"hub{n % 2}", "wifi", "hub") for n in range(9)]
    assert associate(spread, {"hub": 2}, 1000)[0].strength == pytest.approx(log_likelihood(9, 9, 2, 1000))


def test_words_no_more_frequent_than_by_chance_are_no_pair() -> None:
    """A word that every document holds goes with everything."""
    seen = [sighting(f"k{n}", f"d{n}", "wifi", "guide") for n in range(5)]
    assert associate(seen, {"guide": 100}, 100) == []


def test_the_order_is_by_strength_then_words() -> None:
    """Equal pairs stand in the order of their words, whatever the order of the questions."""
    seen = [sighting(f"k{n}", f"d{n}", "b a", "y x") for n in range(3)]
    pairs = [(one.asked, one.answered) for one in associate(seen, {"x": 3, "y": 3}, 100)]
    assert pairs == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert (
        associate(seen[::-1], {"x": 3, "y": 3}, 100)[0].strength == associate(seen, {"x": 3, "y": 3}, 100)[0].strength
    )
