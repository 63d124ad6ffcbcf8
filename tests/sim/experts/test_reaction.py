"""Knowing late: against what a slow loop says, and exactly where the object goes straight."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.sim.experts.reaction import Reaction

PERIOD_S = 0.05


def seen(reaction: Reaction, positions: np.ndarray, velocities: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return [reaction.look(position, velocity) for position, velocity in zip(positions, velocities, strict=True)]


def drawn(seed: int, looks: int, envs: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(looks, envs, 3)), rng.normal(size=(looks, envs, 3))


def test_without_delay_it_knows_what_is():
    positions, velocities = drawn(0, 9)
    for now, (position, velocity) in enumerate(
        seen(Reaction(2, delay_s=0.0, period_s=PERIOD_S), positions, velocities)
    ):
        np.testing.assert_array_equal(position, positions[now])
        np.testing.assert_array_equal(velocity, velocities[now])


@given(delay_s=st.floats(0.0, 0.5), looks=st.integers(1, 15))
def test_an_object_that_goes_straight_is_known_whatever_the_delay(delay_s: float, looks: int):
    velocity = np.array([[0.02, -0.01, 0.0]])
    times = PERIOD_S * np.arange(looks)
    positions = 0.3 + times[:, None, None] * velocity
    for now, (position, known) in enumerate(
        seen(Reaction(1, delay_s=delay_s, period_s=PERIOD_S), positions, np.tile(velocity, (looks, 1, 1)))
    ):
        np.testing.assert_allclose(position, positions[now], atol=1e-12)
        np.testing.assert_allclose(known, velocity, atol=1e-15)


@given(delay_s=st.floats(0.0, 0.4), seed=st.integers(0, 99))
def test_it_is_what_was_reckoned_on(delay_s: float, seed: int):
    """The oracle looks the past up by its time."""
    positions, velocities = drawn(seed, 12)
    times = PERIOD_S * np.arange(12)
    for now, (position, velocity) in enumerate(
        seen(Reaction(2, delay_s=delay_s, period_s=PERIOD_S), positions, velocities)
    ):
        then = max(times[now] - delay_s, 0.0)
        for env in range(2):
            for axis in range(3):
                speed = np.interp(then, times[: now + 1], velocities[: now + 1, env, axis])
                place = np.interp(then, times[: now + 1], positions[: now + 1, env, axis])
                assert velocity[env, axis] == pytest.approx(speed, abs=1e-6)
                assert position[env, axis] == pytest.approx(place + (times[now] - then) * speed, abs=1e-6)


def test_after_a_turn_it_is_wrong_for_as_long_as_the_delay():
    times = PERIOD_S * np.arange(20)
    velocities = np.zeros((20, 1, 3))
    velocities[:, 0, 0] = np.where(times < 0.5 - 1e-9, 0.02, -0.02)
    positions = np.zeros((20, 1, 3))
    positions[:, 0, 0] = np.where(times < 0.5, 0.02 * times, 0.02 * (1.0 - times))
    known = seen(Reaction(1, delay_s=0.2, period_s=PERIOD_S), positions, velocities)
    wrong = [abs(position[0, 0] - positions[now, 0, 0]) > 1e-9 for now, (position, _) in enumerate(known)]
    assert [now for now, is_wrong in enumerate(wrong) if is_wrong] == [11, 12, 13]
    assert known[13][1][0, 0] == pytest.approx(0.02)
    assert known[14][1][0, 0] == pytest.approx(-0.02)


def test_a_new_episode_knows_nothing_of_the_last():
    positions, velocities = drawn(3, 8)
    reaction = Reaction(2, delay_s=0.15, period_s=PERIOD_S)
    seen(reaction, positions, velocities)
    reaction.forget(np.array([True, False]))
    fresh = Reaction(2, delay_s=0.15, period_s=PERIOD_S)
    again, anew = drawn(4, 5)
    for (position, velocity), (expected, speed) in zip(
        seen(reaction, again, anew), seen(fresh, again, anew), strict=True
    ):
        np.testing.assert_array_equal(position[0], expected[0])
        np.testing.assert_array_equal(velocity[0], speed[0])
