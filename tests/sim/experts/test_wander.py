"""The expert's noise: its size, its memory, and that seeds decide it."""

from __future__ import annotations

import numpy as np

from sido.sim.experts.wander import GraspOffsets, Wander

SEEDS = range(400)


def wanders(seeds, *, sigma_m: float = 0.01, steps: int = 60) -> np.ndarray:
    """`[steps, envs, 3]`."""
    noise = Wander(len(seeds), sigma_m=sigma_m, period_s=0.05, horizon=steps)
    for env, seed in enumerate(seeds):
        noise.begin(env, seed)
    return np.stack([noise.step() for _ in range(steps)])


def offsets(seeds, *, sigma_m: float = 0.006) -> GraspOffsets:
    drawn = GraspOffsets(len(seeds), sigma_m=sigma_m)
    for env, seed in enumerate(seeds):
        drawn.begin(env, seed)
    return drawn


def test_without_noise_there_is_none():
    assert not wanders(range(3), sigma_m=0.0).any()
    still = offsets(range(3), sigma_m=0.0)
    still.again(np.array([True, True, False]))
    assert not still.now.any()


def test_it_is_of_the_same_size_from_first_to_last():
    spread = wanders(SEEDS).std(axis=(1, 2))
    np.testing.assert_allclose(spread, 0.01, rtol=0.08)


def test_it_forgets_within_half_a_second():
    noise = wanders(SEEDS) / 0.01
    for apart, left in ((1, np.exp(-0.1)), (10, np.exp(-1.0)), (40, np.exp(-4.0))):
        assert abs((noise[:-apart] * noise[apart:]).mean() - left) < 0.03


def test_the_seed_alone_decides_it():
    together = wanders([5, 6, 7])
    np.testing.assert_array_equal(wanders([7, 5])[:, 1], together[:, 0])
    assert not np.isclose(together[0, 0], together[0, 1]).any()


def test_it_goes_on_where_an_episode_lasts_longer_than_was_thought():
    noise = Wander(1, sigma_m=0.01, period_s=0.05, horizon=3)
    noise.begin(0, 1)
    assert all(np.isfinite(noise.step()).all() for _ in range(20))


def test_offsets_are_horizontal_and_cut_at_twice_their_size():
    drawn = np.concatenate([offsets(SEEDS).now, offsets(range(400, 2400)).now])
    assert not drawn[:, 2].any()
    assert np.abs(drawn).max() == 0.012
    np.testing.assert_allclose(drawn[:, :2].std(axis=0), 0.00575, rtol=0.06)  # cut at two of them, 0.959 of sigma


def test_each_attempt_draws_its_own():
    several = offsets([1, 2, 3])
    first = several.now
    several.again(np.array([False, True, False]))
    assert (several.now[1, :2] != first[1, :2]).all()
    np.testing.assert_array_equal(several.now[[0, 2]], first[[0, 2]])
    alone = offsets([2])
    alone.again(np.array([True]))
    np.testing.assert_array_equal(alone.now[0], several.now[1])
