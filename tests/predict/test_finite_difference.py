"""The appendix' predictor, against its words written out slowly."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from sido.errors import SettingError
from sido.predict import FiniteDifference, History

STEP_S, STEPS_AHEAD = 0.05, 16
STAMPS = STEP_S * np.arange(3)[None]


def as_written(positions: np.ndarray, step_speed_m: float) -> np.ndarray:
    """Last 3 observations; x and y each take the median first difference; a step along it, `v T_p` long."""
    differences = [positions[i + 1] - positions[i] for i in range(2)]
    median = np.array([statistics.median(float(d[k]) for d in differences) for k in range(2)])
    return positions[-1] + [*(step_speed_m * STEPS_AHEAD * median / np.linalg.norm(median)), 0.0]


def test_it_is_as_the_appendix_says():
    positions = np.random.default_rng(0).normal(0.0, 0.003, (200, 3, 3))
    history = History.of(positions, np.repeat(STAMPS, 200, axis=0), 2 * STEP_S)
    found = FiniteDifference(speed_mps=0.02)(history, STEPS_AHEAD * STEP_S).positions
    expected = np.stack([as_written(each, 0.02 * STEP_S) for each in positions])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("predictor", [FiniteDifference(0.03), FiniteDifference(), FiniteDifference(observations=7)])
def test_straight_on_at_its_speed_is_exact(predictor: FiniteDifference):
    rng = np.random.default_rng(1)
    angles = rng.uniform(0.0, 2 * np.pi, 50)
    velocity = 0.03 * np.stack([np.cos(angles), np.sin(angles), np.zeros(50)], axis=1)
    ages = 0.04 + np.cumsum(rng.uniform(0.01, 0.09, (50, 8)), axis=1)[:, ::-1]
    start = rng.uniform(-1.0, 1.0, (50, 1, 3))
    history = History.of(start - ages[..., None] * velocity[:, None], -ages, 0.0, rng.random((50, 8)) > 0.2)
    answer = predictor(history, 0.8)
    exact = history.count > 1
    assert exact.sum() > 40
    np.testing.assert_allclose(answer.positions[exact], (start[:, 0] + 0.8 * velocity)[exact], rtol=0, atol=1e-6)


def test_the_known_speed_gives_the_length_and_the_difference_the_direction():
    positions = np.array([[[0.0, 0.0, 0.1], [0.003, 0.0, 0.1], [0.006, 0.0, 0.1]]])
    history = History.of(positions, STAMPS, 2 * STEP_S)
    assert FiniteDifference(0.02)(history, 0.8).positions == pytest.approx(np.array([[0.022, 0.0, 0.1]]))
    assert FiniteDifference()(history, 0.8).positions == pytest.approx(np.array([[0.054, 0.0, 0.1]]))


def test_an_object_without_a_difference_stays():
    history = History.of(np.full((1, 3, 3), 0.3), STAMPS, 2 * STEP_S)
    assert np.array_equal(FiniteDifference(0.02)(history, 0.8).positions, history.latest)


def test_z_is_carried_unless_the_motion_is_three_dimensional():
    positions = np.array([[[0.0, 0.0, 0.100], [0.001, 0.0, 0.101], [0.002, 0.0, 0.102]]])
    history = History.of(positions, STAMPS, 2 * STEP_S)
    assert FiniteDifference()(history, 0.8).positions[0, 2] == 0.102
    assert FiniteDifference(planar=False)(history, 0.8).positions[0, 2] == pytest.approx(0.118)


def test_the_path_is_straight_and_ends_at_the_forecast():
    positions = np.array([[[0.0, 0.0, 0.1], [0.001, 0.0, 0.1], [0.002, 0.0, 0.1]]])
    path = FiniteDifference()(History.of(positions, STAMPS, 2 * STEP_S + 0.1), 0.8).path
    assert path is not None
    np.testing.assert_allclose(path[0, :, 0], 0.002 + 0.02 * (0.1 + 0.05 * np.arange(1, 17)), rtol=0, atol=1e-12)


@pytest.mark.usefixtures("as_user")
def test_messages():
    with pytest.raises(SettingError, match=r"FiniteDifference\.speed_mps: not a speed; found -1"):
        FiniteDifference(-1)
    with pytest.raises(SettingError, match=r"FiniteDifference\.observations: too few for a difference; found 1"):
        FiniteDifference(observations=1)
