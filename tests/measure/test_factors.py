"""What factors of a configuration are worth."""

import numpy as np
import pytest

from findback.measure.contrasts import Sample, take_sample
from findback.measure.factors import compare_effects, estimate_effects

GRID = [{"embedder": e, "chunks": c} for e in ("small", "large") for c in ("whole", "half", "fine")]


def draw(means: list[float], size: int = 200, seed: int = 0, noise: float = 0.1) -> Sample:
    """Scores around each system's mean."""
    rng = np.random.default_rng(seed)
    return take_sample(np.array(means) + rng.normal(0, noise, (size, len(means))))


def test_systems_that_differ_in_one_factor_are_compared() -> None:
    """In a full grid the gain is the average over the other factor's settings, by hand."""
    sample = draw([0.3, 0.4, 0.5, 0.36, 0.44, 0.52])
    means = sample.matrix.mean(axis=0)
    effects = estimate_effects(sample, GRID)
    assert [(one.levels.factor, one.levels.first, one.levels.second) for one in effects] == [
        ("embedder", "small", "large"),
        ("chunks", "whole", "half"),
        ("chunks", "whole", "fine"),
        ("chunks", "half", "fine"),
    ]
    assert [(one.levels.settings, one.levels.systems) for one in effects] == [(3, 6), (2, 4), (2, 4), (2, 4)]
    gains = [one.gain.value for one in effects]
    assert gains[0] == pytest.approx(((means[:3] - means[3:]).sum()) / 3)
    assert gains[1] == pytest.approx((means[0] - means[1] + means[3] - means[4]) / 2)
    assert all(one.gain.excludes_zero for one in effects)
    assert not any(one.levels.confounded for one in effects)


def test_unbalanced_grids_use_matched_settings_alone() -> None:
    """A good third large system without a small twin does not count for the embedder."""
    sample = draw([0.3, 0.35, 0.9])
    settings = [
        {"embedder": "small", "chunks": "whole"},
        {"embedder": "large", "chunks": "whole"},
        {"embedder": "large", "chunks": "fine"},
    ]
    embedder, chunks = estimate_effects(sample, settings)
    assert (embedder.levels.settings, embedder.levels.systems) == (1, 2)
    assert embedder.gain.value == pytest.approx(-0.05, abs=0.03)
    assert (chunks.levels.settings, chunks.gain.value) == (1, pytest.approx(-0.55, abs=0.03))


def test_without_twins_means_are_compared_and_what_else_differs_is_named() -> None:
    """Where no two systems differ in the factor alone, the effect says which factors are part of it."""
    sample = draw([0.3, 0.5, 0.7])
    settings = [
        {"embedder": "small", "chunks": "whole", "rerank": "no"},
        {"embedder": "large", "chunks": "fine", "rerank": "no"},
        {"embedder": "large", "chunks": "half", "rerank": "no"},
    ]
    embedder = estimate_effects(sample, settings)[0]
    assert (embedder.levels.settings, embedder.levels.confounded) == (0, ("chunks",))
    assert embedder.gain.value == pytest.approx(0.3 - 0.6, abs=0.03)


def test_copies_of_a_configuration_share_its_weight() -> None:
    """Two systems with the same factors are averaged before they are compared."""
    sample = draw([0.2, 0.4, 0.6], noise=0.0)
    (effect,) = estimate_effects(sample, [{"e": "a"}, {"e": "b"}, {"e": "b"}])
    assert effect.gain.value == pytest.approx(0.2 - 0.5)


def test_systems_that_do_not_name_a_factor_stay_out() -> None:
    """A system without the factor is neither level; a factor with one level has no effect."""
    sample = draw([0.2, 0.4, 0.9])
    (effect,) = estimate_effects(sample, [{"e": "a", "k": "1"}, {"e": "b", "k": "1"}, {"k": "1"}])
    assert effect.levels.systems == 2
    assert estimate_effects(sample, [{"k": "1"}, {"k": "1"}, {}]) == ()


def test_equal_systems_show_an_effect_in_one_set_of_twenty() -> None:
    """All effects of a grid of six equal systems together are off in about 5 %: at most 17 of 200."""
    off = 0
    for seed in range(200):
        sample = draw([0.5] * 6, size=30, seed=seed)
        off += any(one.gain.excludes_zero for one in estimate_effects(sample, GRID, seed=seed, resamples=300))
    assert off <= 17


def test_an_effect_may_be_another_on_another_set() -> None:
    """The embedder gains .2 on the first set and nothing on the second; chunks are worth the same on both."""
    first = draw([0.3, 0.4, 0.5, 0.5, 0.6, 0.7], seed=1)
    second = draw([0.3, 0.4, 0.5, 0.3, 0.4, 0.5], seed=2, size=80)
    embedder, whole_half, *_ = compare_effects(first, second, GRID)
    assert embedder.between.value == pytest.approx(embedder.here.value - embedder.there.value)
    assert (embedder.here.excludes_zero, embedder.there.excludes_zero, embedder.between.excludes_zero) == (
        True,
        False,
        True,
    )
    assert not whole_half.between.excludes_zero
    assert embedder.here == estimate_effects(first, GRID)[0].gain
    assert compare_effects(first, second, [{}] * 6) == ()


def test_settings_are_those_of_the_systems() -> None:
    """As many settings as systems are needed."""
    with pytest.raises(ValueError, match="settings of 1 systems were given for 6"):
        estimate_effects(draw([0.5] * 6), [{}])
