"""The filters, against their textbook written out slowly in matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from predict_histories import straight
from sido.errors import SettingError
from sido.predict import History, InteractingModels, Kalman

NOISE_M, HORIZON_S = 0.003, 0.8


def transition(dt: float, drift: float) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.array([[1.0, dt], [0.0, 1.0]]),
        drift**2 * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]]),
    )


def update(state: np.ndarray, spread: np.ndarray, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """One pose, [axes]: the state [2, axes], its covariance, and the likelihood of the pose."""
    look = np.array([[1.0, 0.0]])
    total = float((look @ spread @ look.T)[0, 0]) + NOISE_M**2
    gain = spread @ look.T / total
    off = pose - state[0]
    likelihood = np.exp(-0.5 * off @ off / total) / total ** (len(pose) / 2)
    return state + gain @ off[None], (np.eye(2) - gain @ look) @ spread, float(likelihood)


def slow_kalman(history: History, i: int, predictor: Kalman) -> tuple[np.ndarray, float]:
    """The forecast of x and y, and the variance of its error along an axis."""
    seen = np.flatnonzero(history.valid[i])
    state = np.stack([history.positions[i, seen[0], :2], np.zeros(2)])
    spread = np.diag([NOISE_M**2, 1e4])
    for before, now in itertools.pairwise(seen):
        f, q = transition(history.times_s[i, now] - history.times_s[i, before], predictor.drift_mps)
        state, spread, _ = update(f @ state, f @ spread @ f.T + q, history.positions[i, now, :2])
    f, q = transition(HORIZON_S - history.times_s[i, -1], predictor.drift_mps)
    return (f @ state)[0], (f @ spread @ f.T + q)[0, 0]


def test_kalman_is_the_textbook_in_matrices():
    history, _, _ = straight(np.random.default_rng(0), 20, 12, noise_m=NOISE_M, missing=0.2)
    predictor = Kalman(noise_m=NOISE_M, observations=12)
    answer = predictor(history, HORIZON_S)
    for i in np.flatnonzero(history.count > 2):
        expected, variance = slow_kalman(history, i, predictor)
        np.testing.assert_allclose(answer.positions[i, :2], expected, rtol=0, atol=1e-6)
        np.testing.assert_allclose(answer.covariance[i, 0, 0], variance, rtol=1e-4)
    assert np.array_equal(answer.positions[:, 2], history.latest[:, 2])


def slow_interacting(history: History, i: int, predictor: InteractingModels) -> np.ndarray:
    """Blom and Bar-Shalom's four steps: mix, predict, update, weigh; covariances averaged over the axes."""
    seen = np.flatnonzero(history.valid[i])
    drifts = predictor.cruise_drift_mps, predictor.turn_drift_mps
    stays = np.array([predictor.turn_every_s, predictor.turn_s])
    probability = stays / stays.sum()
    states = [np.stack([history.positions[i, seen[0], :2], np.zeros(2)]) for _ in range(2)]
    spreads = [np.diag([NOISE_M**2, 1e4]) for _ in range(2)]
    for before, now in itertools.pairwise(seen):
        dt = history.times_s[i, now] - history.times_s[i, before]
        leaves = 1.0 - np.exp(-dt / stays)
        moves = np.array([[1 - leaves[0], leaves[0]], [leaves[1], 1 - leaves[1]]])  # from row to column
        after = probability @ moves
        mixed, likelihoods = [], np.zeros(2)
        for j in range(2):
            share = probability * moves[:, j] / after[j]
            mean = sum(share[k] * states[k] for k in range(2))
            apart = [states[k] - mean for k in range(2)]
            spread = sum(share[k] * (spreads[k] + apart[k] @ apart[k].T / 2) for k in range(2))
            f, q = transition(dt, drifts[j])
            state, spread, likelihoods[j] = update(f @ mean, f @ spread @ f.T + q, history.positions[i, now, :2])
            mixed.append((state, spread))
        states, spreads = [m[0] for m in mixed], [m[1] for m in mixed]
        probability = after * likelihoods / (after @ likelihoods)
    mean = sum(probability[k] * states[k] for k in range(2))
    return mean[0] + (HORIZON_S - history.times_s[i, -1]) * mean[1]


def test_interacting_models_are_the_textbook_in_matrices():
    history, _, _ = straight(np.random.default_rng(1), 20, 16, noise_m=NOISE_M, missing=0.2)
    turned = history.positions.copy()
    turned[::2, -5:, 0] += 0.01 * np.arange(5)  # half of them turn
    history = History(turned, history.times_s, history.valid, history.highest_speed_mps)
    predictor = InteractingModels(noise_m=NOISE_M)
    answer = predictor(history, HORIZON_S).positions
    for i in np.flatnonzero(history.count > 2):
        np.testing.assert_allclose(answer[i, :2], slow_interacting(history, i, predictor), rtol=0, atol=1e-5)


@pytest.mark.parametrize("predictor", [Kalman(), InteractingModels()])
def test_the_covariance_is_that_of_the_errors_made(predictor: Kalman | InteractingModels):
    """On straight ways its own model is nearly right: errors are as large as it says, within a third."""
    history, here, velocity = straight(np.random.default_rng(2), 2000, 24, noise_m=NOISE_M, regular=True)
    answer = predictor(history, HORIZON_S)
    off = (answer.positions - here - HORIZON_S * velocity)[:, :2]
    said = np.sqrt(answer.covariance[:, 0, 0].mean())
    assert off.std() < 1.1 * said
    assert off.std() > 0.3 * said


def test_interacting_models_forget_the_old_velocity_sooner():
    """A third of a second after a reversal at 10 cm/s the mixture follows; the plain filter averages over it."""
    t = 0.05 * np.arange(-23, 1)
    x = 0.10 * np.minimum(t + 0.35, -(t + 0.35))
    noise = 0.001 * np.random.default_rng(3).standard_normal((100, 24, 3))
    history = History.of(np.stack([x, 0 * x, 0 * x], axis=-1) + noise, np.tile(t, (100, 1)), 0.0)
    expected = x[-1] - 0.10 * HORIZON_S
    mixed, plain = (
        np.abs(predictor(history, HORIZON_S).positions[:, 0] - expected).mean()
        for predictor in (InteractingModels(), Kalman())
    )
    assert mixed < 0.3 * plain


@pytest.mark.usefixtures("as_user")
def test_messages():
    with pytest.raises(SettingError, match=r"Kalman\.noise_m: not a usable number; found 0"):
        Kalman(noise_m=0.0)
    with pytest.raises(SettingError, match=r"InteractingModels\.observations: too few observations; found 1"):
        InteractingModels(observations=1)
