"""What every predictor must satisfy, as one function; `test_predictor.py` runs it on each."""

from __future__ import annotations

import numpy as np

from sido.predict import PATH_POINTS, Forecast, History, Predictor

STEP_S = 0.05
HORIZON_S = 0.8
NOW_S = 1.7e9
"""Seconds of a wall clock: stamps have few digits left."""


def walks(rng: np.random.Generator, batch: int, steps: int, *, noise_m: float = 0.003) -> tuple[np.ndarray, np.ndarray]:
    """Noisy straight ways at up to 5 cm/s, at irregular times: positions and stamps."""
    ages = np.cumsum(rng.uniform(0.5, 1.5, (batch, steps)) * STEP_S, axis=1)[:, ::-1]
    velocity = rng.uniform(-0.05, 0.05, (batch, 1, 3)) * [1, 1, 0]
    start = rng.uniform([0.4, -0.2, 0.0], [0.7, 0.2, 0.1], (batch, 1, 3))
    return start - ages[..., None] * velocity + noise_m * rng.standard_normal((batch, steps, 3)), NOW_S - ages


def check_predictor(predictor: Predictor, *, atol_m: float = 1e-9) -> None:
    """Any predictor: repeatable, translation-equivariant, each object for itself, bounded, and honest about nothing."""
    assert isinstance(predictor, Predictor)
    assert predictor.observations >= 1
    rng = np.random.default_rng(0)
    steps = predictor.observations + 4
    positions, stamps = walks(rng, 24, steps)
    valid = rng.random((24, steps)) > 0.3
    valid[:4] = True
    history = History.of(positions, stamps, NOW_S, valid)
    horizons = rng.uniform(0.0, 1.2, 24)
    given = history.positions, history.times_s, history.valid, horizons
    copies = [array.copy() for array in given]
    forecast = predictor(history, horizons)
    for before, after in zip(copies, given, strict=True):
        assert np.array_equal(before, after), "arguments are not written to"
    check_shapes(forecast, 24)
    check_repeatable(predictor, history, horizons, forecast, atol_m)
    check_bound(predictor, history, horizons, forecast)
    check_equivariance(predictor, (positions, stamps, valid), horizons, forecast, atol_m)
    check_every_object_for_itself(predictor, (positions, stamps, valid), horizons, forecast, atol_m)
    check_window(predictor, history, horizons, forecast, atol_m)
    check_age(predictor, (positions, stamps, valid), atol_m)
    check_few(predictor, positions, stamps)


def check_shapes(forecast: Forecast, batch: int) -> None:
    assert forecast.positions.shape == (batch, 3)
    assert forecast.positions.dtype == np.float64, "positions are float64"
    assert np.isfinite(forecast.positions).all(), "whatever was seen has an answer"
    if forecast.covariance is not None:
        assert forecast.covariance.shape == (batch, 3, 3)
        assert np.allclose(forecast.covariance, forecast.covariance.swapaxes(1, 2)), "a covariance is symmetric"
        assert (np.linalg.eigvalsh(forecast.covariance) >= -1e-12).all(), "a covariance is positive"
    if forecast.path is not None:
        assert forecast.path.shape == (batch, PATH_POINTS, 3)
        assert np.array_equal(forecast.path[:, -1], forecast.positions), "the path ends at the forecast"


def check_repeatable(
    predictor: Predictor, history: History, horizons: np.ndarray, forecast: Forecast, atol_m: float
) -> None:
    again = predictor(history, horizons)
    assert np.array_equal(again.positions, forecast.positions), "the same question has the same answer"
    one_for_all = predictor(history, HORIZON_S).positions
    each = predictor(history, np.full(len(history), HORIZON_S)).positions
    np.testing.assert_allclose(one_for_all, each, rtol=0, atol=atol_m, err_msg="one horizon holds for all")


def check_bound(predictor: Predictor, history: History, horizons: np.ndarray, forecast: Forecast) -> None:
    reach = history.highest_speed_mps * (history.age_s + horizons) + 0.01
    assert (np.linalg.norm(forecast.positions - history.latest, axis=1) <= reach).all(), "never a wild prediction"
    noise = np.random.default_rng(1).uniform(-0.02, 0.02, history.positions.shape)
    shaken = History.of(history.positions + noise, history.times_s, 0.0, history.valid)
    far = np.linalg.norm(predictor(shaken, HORIZON_S).positions - shaken.latest, axis=1)
    assert (far <= shaken.highest_speed_mps * (shaken.age_s + HORIZON_S) + 0.05).all(), "never a wild prediction"


def check_equivariance(
    predictor: Predictor, given: tuple[np.ndarray, ...], horizons: np.ndarray, forecast: Forecast, atol_m: float
) -> None:
    positions, stamps, valid = given
    for shift in ([0.25, -0.5, 0.125], [0.013, 0.0, 0.0]):
        moved = predictor(History.of(positions + shift, stamps, NOW_S, valid), horizons).positions
        np.testing.assert_allclose(
            moved, forecast.positions + shift, rtol=0, atol=atol_m, err_msg="the answer moves with the world"
        )
    later = predictor(History.of(positions, stamps + 64.0, NOW_S + 64.0, valid), horizons).positions
    np.testing.assert_allclose(later, forecast.positions, rtol=0, atol=1e-6, err_msg="no time is special")


def check_every_object_for_itself(
    predictor: Predictor, given: tuple[np.ndarray, ...], horizons: np.ndarray, forecast: Forecast, atol_m: float
) -> None:
    positions, stamps, valid = given
    alone = [
        predictor(History.of(positions[i : i + 1], stamps[i : i + 1], NOW_S, valid[i : i + 1]), horizons[i : i + 1])
        for i in range(0, len(positions), 7)
    ]
    found = np.concatenate([one.positions for one in alone])
    np.testing.assert_allclose(
        found, forecast.positions[::7], rtol=0, atol=atol_m, err_msg="what else is in the batch changes nothing"
    )


def check_window(
    predictor: Predictor, history: History, horizons: np.ndarray, forecast: Forecast, atol_m: float
) -> None:
    recent = predictor(history.newest(predictor.observations), horizons).positions
    np.testing.assert_allclose(
        recent, forecast.positions, rtol=0, atol=atol_m, err_msg="only so many observations are looked at"
    )


def check_age(predictor: Predictor, given: tuple[np.ndarray, ...], atol_m: float) -> None:
    """Asking 0.1 s later for 0.1 s less far ahead is the same question."""
    positions, stamps, valid = given
    now = predictor(History.of(positions, stamps, NOW_S, valid), HORIZON_S).positions
    later = predictor(History.of(positions, stamps, NOW_S + 0.125, valid), HORIZON_S - 0.125).positions
    np.testing.assert_allclose(later, now, rtol=0, atol=1e-6, err_msg="the age of an observation lengthens the way")


def check_few(predictor: Predictor, positions: np.ndarray, stamps: np.ndarray) -> None:
    """With none, one, two, three observations there is a defined answer."""
    for count in range(4):
        valid = np.zeros(stamps.shape, dtype=np.bool_)
        valid[:, 2 : 2 + count] = True
        history = History.of(positions, stamps, stamps.max(axis=1) + 0.01, valid)
        answer = predictor(history, HORIZON_S)
        if count == 0:
            assert np.isnan(answer.positions).all(), "of what was never seen nothing is said"
            assert not answer.seen.any()
        else:
            assert np.isfinite(answer.positions).all(), "whatever was seen has an answer"
        if count == 1:
            assert np.array_equal(answer.positions, positions[:, 2]), "what was seen once rests there"
