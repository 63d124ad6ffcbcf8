"""Legs, arcs and turns that come back: the closed form against the obvious, and what each part is for."""

from __future__ import annotations

import numpy as np
import pytest

from predict_histories import STEP_S, straight
from sido.errors import SettingError
from sido.predict import History, LastTurn, LegsAndArcs
from sido.predict.noise import Jerks, measured_noise

HORIZON_S = 0.8


def round_circles(
    rng: np.random.Generator, batch: int, *, speed_mps: float, noise_m: float = 0.0, steps: int = 36, age_s: float = 0.0
) -> tuple[History, np.ndarray]:
    """Circles of 5 cm, either way round, seen at 20 Hz: the histories, and where the objects will be."""
    centre = rng.uniform(-0.5, 0.5, (batch, 1, 2))
    phase = rng.uniform(0.0, 2.0 * np.pi, (batch, 1))
    sense = np.where(rng.random((batch, 1)) < 0.5, 1.0, -1.0)

    def at(t: np.ndarray) -> np.ndarray:
        angle = phase + sense * speed_mps / 0.05 * t
        flat = centre + 0.05 * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return np.concatenate([flat, np.full_like(flat[..., :1], 0.1)], axis=-1)

    t = STEP_S * np.arange(-steps + 1, 1)[None] - age_s + np.zeros((batch, 1))
    seen = at(t) + noise_m * rng.standard_normal((batch, steps, 3))
    return History.of(seen, t, 0.0), at(np.full((batch, 1), HORIZON_S))[:, 0]


@pytest.mark.parametrize("speed_mps", [0.005, 0.02, 0.06, 0.1])
def test_round_a_circle_without_noise_is_exact(speed_mps: float):
    history, then = round_circles(np.random.default_rng(0), 200, speed_mps=speed_mps, age_s=0.1)
    answer = LegsAndArcs()(history, HORIZON_S)
    np.testing.assert_allclose(answer.positions, then, rtol=0, atol=1e-6)
    assert answer.path is not None
    to_path = np.linalg.norm(np.diff(answer.path, axis=1), axis=-1)
    np.testing.assert_allclose(to_path, to_path[:, :1] + np.zeros_like(to_path), rtol=0, atol=1e-6, err_msg="an arc")


def test_round_a_circle_it_is_nearer_than_straight_lines():
    history, then = round_circles(np.random.default_rng(1), 500, speed_mps=0.06, noise_m=0.003)
    arcs, lines = (
        np.linalg.norm(each(history, HORIZON_S).positions - then, axis=1).mean() for each in (LegsAndArcs(), LastTurn())
    )
    assert arcs < 0.35 * lines


def test_on_straight_ways_the_arc_costs_nothing():
    history, here, velocity = straight(np.random.default_rng(2), 1000, 40, speed_mps=0.03, noise_m=0.003, regular=True)
    then = here + HORIZON_S * velocity
    with_arcs, lines = (
        np.linalg.norm(each(history, HORIZON_S).positions - then, axis=1).mean()
        for each in (LegsAndArcs(), LastTurn(observations=32))
    )
    assert with_arcs < 1.1 * lines


def zigzag(since_s: float, period_s: float = 0.8, steps: int = 40) -> History:
    """2 cm/s, a quarter turn every `period_s`, the last one `since_s` ago."""
    fine = np.arange(-10.0, 1e-9, 0.01)
    number = np.floor((fine + since_s) / period_s).astype(int)
    heading = np.array([0.0, 0.5 * np.pi])[number % 2]
    way = 0.02 * 0.01 * np.cumsum(np.stack([np.cos(heading), np.sin(heading), 0.0 * heading], axis=1), axis=0)
    t = STEP_S * np.arange(-steps + 1, 1)
    position = np.stack([np.interp(t, fine, way[:, axis]) for axis in range(3)], axis=1)
    return History.of(position[None], t[None], 0.0)


@pytest.mark.parametrize("since_s", [0.13, 0.33, 0.62])
def test_where_it_turns_often_it_goes_on_to_the_next_turn_and_no_further(since_s: float):
    history = zigzag(since_s)
    answer = LegsAndArcs()(history, HORIZON_S).positions[0]
    gone = np.linalg.norm(answer - history.latest[0])
    assert gone == pytest.approx(0.02 * (0.8 - since_s), abs=0.02 * 1.1 * STEP_S)  # a turn is known to a step
    gone_by_line = np.linalg.norm(LastTurn()(history, HORIZON_S).positions[0] - history.latest[0])
    assert gone_by_line == pytest.approx(0.02 * HORIZON_S, abs=1e-3)


def test_a_single_turn_says_nothing_of_the_next():
    history = zigzag(0.5, period_s=5.0)
    gone = np.linalg.norm(LegsAndArcs()(history, HORIZON_S).positions[0] - history.latest[0])
    assert gone == pytest.approx(0.02 * HORIZON_S, abs=1e-5)


def test_noise_is_measured_without_the_ways_bends():
    rng = np.random.default_rng(3)
    history, _ = round_circles(rng, 400, speed_mps=0.1, noise_m=0.0005)
    time, position = history.times_s.T.copy(), np.moveaxis(history.positions[..., :2], 0, -1).swapaxes(0, 1).copy()
    jerks = Jerks.of(time, position, history.valid.T)
    assert np.sqrt(jerks.variance.mean()) == pytest.approx(0.0005, rel=0.1)
    np.testing.assert_allclose(jerks.bends, measured_noise(history, 2)[0], rtol=1e-6)


@pytest.mark.usefixtures("as_user")
def test_messages():
    with pytest.raises(SettingError, match=r"LegsAndArcs\.observations: .*; found 3; expected 4 or more"):
        LegsAndArcs(observations=3)
