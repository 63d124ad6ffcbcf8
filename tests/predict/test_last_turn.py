"""The sums over all windows at once, against a loop over the windows; and what they are for."""

from __future__ import annotations

import numpy as np
import pytest

from predict_histories import STEP_S, straight
from sido.errors import SettingError
from sido.predict import History, LastTurn

HORIZON_S = 0.8


def at_turn(steps_since: int, batch: int = 200, noise_m: float = 0.002) -> tuple[History, np.ndarray]:
    """2 cm/s to the left, then, so many poses ago, upwards: the histories, and where the objects will be."""
    t = STEP_S * np.arange(-39, 1)
    turn = -STEP_S * steps_since
    x, y = 0.02 * (np.minimum(t, turn) - turn), 0.02 * np.maximum(t - turn, 0.0)
    way = np.stack([x, y, 0.0 * t], axis=-1)
    noise = noise_m * np.random.default_rng(4).standard_normal((batch, 40, 3))
    history = History.of(way + noise, np.tile(t, (batch, 1)), 0.0)
    return history, np.array([0.0, 0.02 * (HORIZON_S - turn), 0.0])


def slow(history: History, i: int, predictor: LastTurn, noise_m: float) -> np.ndarray:
    """For each place of the turn: ridge regression after it, the marginal likelihood of both legs, by matrices."""
    p = history.positions[i, :, :2] - history.latest[i, :2]
    t, n, noise = history.times_s[i], p.shape[0], noise_m**2

    def evidence(part: slice) -> float:
        """log N(p; m 1, noise I + usual^2 t t') with a flat prior of the mean position m."""
        q, s = p[part] - p[part].mean(0), t[part] - t[part].mean()
        if len(s) == 0:
            return 0.0
        spread = noise * np.eye(len(s)) + predictor.usual_speed_mps**2 * np.outer(s, s)
        _, logdet = np.linalg.slogdet(2 * np.pi * spread)
        fit = sum(float(q[:, k] @ np.linalg.solve(spread, q[:, k])) for k in range(2))
        # The mean takes one direction away, of variance `noise`; its width stands in for 1 / n of it.
        return -0.5 * (2 * (logdet - np.log(2 * np.pi * noise) + np.log(len(s))) + fit)

    def restless(k: int) -> float:
        total = 0.0
        for j in range(1, k):
            spread = 2 * noise + predictor.usual_speed_mps**2 * (t[j] - t[j - 1]) ** 2
            step = p[j] - p[j - 1]
            total += -0.5 * (2 * np.log(2 * np.pi * spread) + step @ step / spread)
        return total + np.log(0.02)

    weights, answers = [], []
    for k in range(n - 1):
        weight = evidence(slice(k, n))
        if k:
            older = max(evidence(slice(0, k)), restless(k))
            since = np.log((t[k] - t[k - 1]) / predictor.turn_every_s + 1e-12)
            weight += older + since - np.log(8 * np.pi * noise)
        weights.append(weight)
        q, s = p[k:] - p[k:].mean(0), t[k:] - t[k:].mean()
        velocity = s @ q / (s @ s + noise / predictor.usual_speed_mps**2)
        here = p[k:].mean(0) - t[k:].mean() * velocity
        answers.append(here + velocity * HORIZON_S)
    likely = np.exp(np.array(weights) - max(weights))
    return history.latest[i, :2] + (likely / likely.sum()) @ np.array(answers)


def test_it_is_the_slow_loop_over_the_places_of_the_turn(monkeypatch: pytest.MonkeyPatch):
    predictor = LastTurn(observations=16)
    monkeypatch.setattr("sido.predict.last_turn._ENOUGH_TRIPLES", 1000)  # the usual noise, that the loop knows
    for steps_since in (3, 9, 30):
        history, _ = at_turn(steps_since, batch=5, noise_m=0.003)
        history = history.newest(16)
        answer = predictor(history, HORIZON_S).positions
        for i in range(5):
            np.testing.assert_allclose(answer[i, :2], slow(history, i, predictor, 0.003), rtol=0, atol=2e-4)


@pytest.mark.parametrize("known", [None, 0.02])
def test_after_a_turn_it_comes_back(known: float | None):
    """The longer ago the turn, the better; well after it, nearly as if there had been none."""
    off = []
    for steps_since in (2, 8, 14, 24):
        history, then = at_turn(steps_since)
        off.append(
            np.linalg.norm(LastTurn(speed_mps=known)(history, HORIZON_S).positions[:, :2] - then[:2], axis=1).mean()
        )
    assert off[0] > off[1] > off[2]
    assert off[3] < 0.004


def test_a_known_speed_helps():
    history, here, velocity = straight(np.random.default_rng(5), 500, 10, speed_mps=0.02, noise_m=0.003, regular=True)
    then = (here + HORIZON_S * velocity)[:, :2]
    off = [
        np.linalg.norm(LastTurn(speed_mps=speed)(history, HORIZON_S).positions[:, :2] - then, axis=1).mean()
        for speed in (0.02, None)
    ]
    assert off[0] < 0.9 * off[1]


@pytest.mark.usefixtures("as_user")
def test_messages():
    with pytest.raises(SettingError, match=r"LastTurn\.speed_mps: not a usable number; found 0"):
        LastTurn(speed_mps=0.0)
