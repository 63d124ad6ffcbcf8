"""What rests stays; what moves is not held back; and the noise that both are judged by is measured right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predict_histories import straight
from sido.errors import SettingError
from sido.motion import Region
from sido.predict import Deadband, FiniteDifference, History, Reflected
from sido.predict.noise import measured_noise


@pytest.mark.parametrize("steps", [3, 4, 8, 16, 40])
@pytest.mark.parametrize("noise_m", [0.0, 0.0005, 0.003, 0.01])
def test_a_still_object_has_no_displacement(steps: int, noise_m: float):
    history, _, _ = straight(np.random.default_rng(steps), 2000, steps, speed_mps=0.0, noise_m=noise_m, missing=0.1)
    answer = Deadband(FiniteDifference(0.02))(history, 0.8)
    moved = (answer.positions != history.latest).any(axis=1) & answer.seen
    assert moved.mean() < 0.005, "false_alarm is 0.001"
    if noise_m == 0.0:
        assert not moved.any()
    path = answer.path
    assert path is not None
    rests = ~moved & answer.seen
    assert np.array_equal(path[rests], np.repeat(history.latest[rests, None], 16, axis=1))


@pytest.mark.parametrize(("speed_mps", "noise_m"), [(0.015, 0.003), (0.02, 0.003), (0.005, 0.0005), (0.02, 0.0)])
def test_a_moving_object_is_predicted_after_a_second_and_a_half(speed_mps: float, noise_m: float):
    history, _, _ = straight(np.random.default_rng(0), 1000, 32, speed_mps=speed_mps, noise_m=noise_m, missing=0.1)
    predictor = FiniteDifference(speed_mps)
    through = Deadband(predictor)(history, 0.8).positions == predictor(history, 0.8).positions
    assert through.all(axis=1).mean() > 0.97


def test_an_object_that_has_just_turned_round_moves():
    """Over the whole window it has gone nowhere; the halves show it."""
    t = 0.05 * np.arange(-31, 1)
    x = -0.02 * np.abs(t + 0.775)
    noise = 0.003 * np.random.default_rng(1).standard_normal((500, 32, 3))
    history = History.of(np.stack([x, 0 * x, 0 * x], axis=-1) + noise, np.tile(t, (500, 1)), 0.0)
    assert Deadband(FiniteDifference()).moves(history).mean() > 0.5


@settings(max_examples=15)
@given(st.floats(1e-4, 0.008), st.floats(0.0, 0.05), st.integers(0, 1000))
def test_the_noise_is_measured_whatever_the_motion(noise_m: float, speed_mps: float, seed: int):
    """At irregular times; within a tenth over 12,000 triples."""
    rng = np.random.default_rng(seed)
    history, _, _ = straight(rng, 400, 32, speed_mps=speed_mps, noise_m=noise_m)
    variance, triples = measured_noise(history, 2)
    assert (triples == 30).all()
    assert np.sqrt(variance.mean()) == pytest.approx(noise_m, rel=0.1)


# --- walls

REGION = Region((0.0, 0.0), (0.2, 0.1))


def towards_the_wall(x: float) -> History:
    t = np.array([-0.1, -0.05, 0.0])
    return History.of(np.stack([x + 0.1 * t, 0.0 * t, 0.0 * t], axis=-1)[None], t[None], 0.0)


def test_the_forecast_is_folded_at_the_wall():
    answer = Reflected(FiniteDifference(), REGION)(towards_the_wall(0.06), 0.8)
    assert answer.positions[0] == pytest.approx([0.06, 0.0, 0.0], abs=1e-12)  # 4 cm to the wall at 0.1, 4 cm back
    assert answer.path is not None
    assert answer.path[..., 0].max() == pytest.approx(0.10)


def test_two_walls_are_met_and_a_far_object_is_left_alone():
    answer = Reflected(FiniteDifference(), REGION)(towards_the_wall(0.06), 3.4)
    assert answer.positions[0, 0] == pytest.approx(0.0, abs=1e-12)  # 0.40 folds at 0.1 to -0.20, and at -0.1 to 0
    assert REGION.contains(answer.positions).all()
    assert Reflected(FiniteDifference(), REGION)(towards_the_wall(0.5), 0.8).positions[0, 0] == pytest.approx(0.58)


def test_the_walls_move_with_the_world():
    moved = Region((0.3, -0.2), (0.2, 0.1))
    history = towards_the_wall(0.06)
    shifted = History.of(history.positions + np.array([0.3, -0.2, 0.1]), history.times_s, 0.0)
    here = Reflected(FiniteDifference(), REGION)(history, 0.8).positions
    there = Reflected(FiniteDifference(), moved)(shifted, 0.8).positions
    np.testing.assert_allclose(there, here + np.array([0.3, -0.2, 0.1]), rtol=0, atol=1e-12)


@pytest.mark.usefixtures("as_user")
def test_messages():
    with pytest.raises(SettingError, match=r"Deadband\.observations_at_rest: too few observations; found 2"):
        Deadband(FiniteDifference(), observations_at_rest=2)
    with pytest.raises(SettingError, match=r"Deadband\.false_alarm: not a usable number; found 1\.5"):
        Deadband(FiniteDifference(), false_alarm=1.5)
