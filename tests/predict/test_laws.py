"""What holds for every predictor: straight on is exact, what rests rests, and nothing that comes in makes it wild."""

from __future__ import annotations

import numpy as np
import pytest

from predict_histories import straight
from sido.errors import SettingError
from sido.predict import (
    FERNN,
    MLP,
    PREDICTORS,
    Deadband,
    FiniteDifference,
    History,
    Hold,
    Kalman,
    LastTurn,
    Predictor,
    predictor_named,
    save_learned,
)

SPEED_MPS, HORIZON_S, STEP_S = 0.02, 0.8, 0.05


def classic(name: str) -> Predictor:
    return predictor_named(name, SPEED_MPS)


MOVING = [name for name in PREDICTORS if name != "hold"]


@pytest.mark.parametrize("name", [*MOVING, *(f"deadband:{name}" for name in MOVING)])
@pytest.mark.parametrize("regular", [True, False])
def test_straight_on_without_noise_is_exact(name: str, regular: bool):
    history, here, velocity = straight(
        np.random.default_rng(0), 200, 48, speed_mps=SPEED_MPS, regular=regular, missing=0.0 if regular else 0.3
    )
    answer = classic(name)(history, HORIZON_S)
    np.testing.assert_allclose(answer.positions, here + HORIZON_S * velocity, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", PREDICTORS)
@pytest.mark.parametrize("noise_m", [0.0, 0.003])
def test_a_still_object_has_no_displacement(name: str, noise_m: float):
    """With the deadband; of 1000 noisy ones, as many may be taken to move as its false alarms allow."""
    history, _, _ = straight(np.random.default_rng(1), 1000, 48, speed_mps=0.0, noise_m=noise_m)
    answer = classic(f"deadband:{name}")(history, HORIZON_S)
    displaced = (answer.positions != history.latest).any(axis=1)
    assert displaced.sum() <= (5 if noise_m else 0)


def test_a_still_object_has_no_displacement_by_networks_either(taught: dict[str, MLP | FERNN]):
    history, _, _ = straight(np.random.default_rng(2), 1000, 48, speed_mps=0.0, noise_m=0.003)
    for predictor in taught.values():
        answer = Deadband(predictor)(history, HORIZON_S)
        assert (answer.positions != history.latest).any(axis=1).sum() <= 5


# --- bad input


def seen(steps: int = 48) -> tuple[np.ndarray, np.ndarray]:
    stamps = 10.0 - STEP_S * np.arange(steps)[::-1]
    return (np.array([0.5, 0.1, 0.02]) + (stamps - 10.0)[:, None] * [SPEED_MPS, 0.0, 0.0])[None], stamps[None]


def not_a_number(positions: np.ndarray, stamps: np.ndarray) -> None:
    positions[0, [5, 46], 1] = np.nan


def backwards(positions: np.ndarray, stamps: np.ndarray) -> None:
    stamps[0, [7, 45]] -= 1.5


def a_metre_off(positions: np.ndarray, stamps: np.ndarray) -> None:
    positions[0, [9, 47]] += [0.6, 0.8, 0.0]


HARMLESS = {"NaN": not_a_number, "time going backwards": backwards, "a jump of a metre": a_metre_off}


@pytest.mark.parametrize("fault", HARMLESS)
@pytest.mark.parametrize("name", MOVING)
def test_a_bad_pose_is_as_one_that_is_missing(name: str, fault: str):
    """So the straight way through the others goes on: nothing wild, and nothing lost."""
    positions, stamps = seen()
    expected = positions[:, -1] + [SPEED_MPS * HORIZON_S, 0.0, 0.0]
    HARMLESS[fault](positions, stamps)
    answer = classic(name)(History.of(positions, stamps, 10.0), HORIZON_S).positions
    np.testing.assert_allclose(answer, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", MOVING)
def test_after_two_seconds_without_a_pose_it_rests_where_it_was_seen(name: str):
    positions, stamps = seen()
    history = History.of(positions, stamps, 12.0)
    assert np.array_equal(classic(name)(history, HORIZON_S).positions, positions[:, -1])


@pytest.mark.parametrize("name", MOVING)
def test_after_a_gap_of_two_seconds_only_what_came_later_counts(name: str):
    positions, stamps = seen()
    away = stamps[0] < 9.0
    positions[0, away] += [0.1, -0.1, 0.0]
    stamps[0, away] -= 2.0
    answer = classic(name)(History.of(positions, stamps, 10.0), HORIZON_S).positions
    np.testing.assert_allclose(answer, positions[:, -1] + [SPEED_MPS * HORIZON_S, 0.0, 0.0], rtol=0, atol=1e-6)


def test_networks_bear_it_too(taught: dict[str, MLP | FERNN]):
    for predictor in taught.values():
        for spoil in HARMLESS.values():
            positions, stamps = seen()
            here = positions[:, -1].copy()
            spoil(positions, stamps)
            history = History.of(positions, stamps, 10.0)
            assert np.linalg.norm(predictor(history, HORIZON_S).positions - here) < 0.03
        positions, stamps = seen()
        assert np.array_equal(predictor(History.of(positions, stamps, 12.0), HORIZON_S).positions, positions[:, -1])


# --- names


def test_names():
    assert predictor_named("hold") == Hold()
    assert predictor_named("finite-difference", 0.02) == FiniteDifference(0.02)
    assert predictor_named("deadband:kalman") == Deadband(Kalman())
    assert predictor_named("last-turn-known", 0.02) == LastTurn(0.02)


def test_a_folder_is_a_name(tmp_path, taught: dict[str, MLP | FERNN]):
    save_learned(taught["fernn"], tmp_path / "fernn")
    found = predictor_named(str(tmp_path / "fernn"))
    assert isinstance(found, FERNN)
    assert np.array_equal(found.weights["see.weight"], taught["fernn"].weights["see.weight"])


@pytest.mark.usefixtures("as_user")
def test_unknown_names():
    with pytest.raises(SettingError, match=r"unknown predictor; found 'kallman'; .* did you mean 'kalman'\?"):
        predictor_named("kallman")
