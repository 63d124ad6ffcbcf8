"""The learned predictors: their laws, their other implementation, and what they learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from contracts.predictor import check_predictor
from predict_histories import straight
from sido.errors import DataError, SettingError
from sido.motion import Region, motion_named
from sido.predict import FERNN, MLP, History, Track, load_learned, save_learned, simulated_tracks
from sido.predict.fitting import FitSettings, Shown, fit, forward
from sido.predict.network import NetworkInputs
from sido.predict.questions import Augmentation, Questions

HORIZON_S = 0.8


def made_up(network: type[MLP] | type[FERNN], seed: int = 0, dtype: type = np.float32) -> MLP | FERNN:
    rng = np.random.default_rng(seed)
    shapes = network.shapes()
    return network(
        {name: (rng.standard_normal(shape) / shape[-1] ** 0.5).astype(dtype) for name, shape in shapes.items()}
    )


NETWORKS = pytest.mark.parametrize("network", [MLP, FERNN])


@NETWORKS
def test_keeps_the_contract(network: type[MLP] | type[FERNN]):
    check_predictor(made_up(network), atol_m=1e-6)
    check_predictor(made_up(network, dtype=np.float64))


def test_keeps_the_contract_when_taught(taught: dict[str, MLP | FERNN]):
    for predictor in taught.values():
        check_predictor(predictor, atol_m=1e-6)


@NETWORKS
def test_numpy_and_torch_say_the_same(network: type[MLP] | type[FERNN]):
    predictor = made_up(network, dtype=np.float64)
    history, _, _ = straight(np.random.default_rng(1), 300, 10, noise_m=0.003, missing=0.3)
    horizon = np.full(300, HORIZON_S)
    shown = NetworkInputs.of(history, horizon, predictor.observations, np.float64)
    weights = {name: torch.from_numpy(array.copy()) for name, array in predictor.weights.items()}
    out = forward(predictor, weights, Shown.of(shown)).numpy()
    velocity, correction = out[:, 2:] * 0.05, out[:, :2] * 0.01
    believed = (np.linalg.norm(velocity, axis=1) < 0.5) & (np.linalg.norm(correction, axis=1) < 0.03)
    believed &= history.count > 1
    assert believed.sum() > 100
    expected = history.latest[:, :2] + correction + (history.age_s + horizon)[:, None] * velocity
    found = predictor(history, HORIZON_S).positions[:, :2]
    np.testing.assert_allclose(found[believed], expected[believed], rtol=0, atol=1e-9)


@pytest.mark.parametrize("step", [(1, 0), (0, 1), (-1, 2)])
def test_a_step_of_the_grid_permutes_the_hypotheses(step: tuple[int, int]):
    """Whatever the weights, the noise, the times and the gaps: each computes what its neighbour did."""
    predictor = made_up(FERNN, seed=2)
    assert isinstance(predictor, FERNN)
    history, _, _ = straight(np.random.default_rng(3), 50, 8, noise_m=0.003, missing=0.2)
    grid_mps = 2.0 * predictor.span_mps / (predictor.side - 1)
    boost = grid_mps * np.array([*step, 0.0])
    faster = History(
        history.positions + history.times_s[..., None] * boost,
        history.times_s,
        history.valid,
        history.highest_speed_mps,
    )
    before, after = (
        predictor.states(NetworkInputs.of(each, np.full(50, HORIZON_S), 8)).reshape(-1, 5, 5, 50)
        for each in (history, faster)
    )
    i, j = step
    shifted = before[:, max(-i, 0) : 5 - max(i, 0), max(-j, 0) : 5 - max(j, 0)]
    permuted = after[:, max(i, 0) : 5 - max(-i, 0), max(j, 0) : 5 - max(-j, 0)]
    assert np.abs(before).max() > 0.1
    np.testing.assert_allclose(permuted, shifted, rtol=1e-6, atol=1e-6)
    unmoved = after[:, max(-i, 0) : 5 - max(i, 0), max(-j, 0) : 5 - max(j, 0)]
    assert not np.allclose(unmoved, shifted, atol=1e-3), "the boost changes something"


def test_constant_velocity_is_exact_to_a_millimetre(taught: dict[str, MLP | FERNN]):
    """At the speed that they were taught, in any direction, seen in any gaps."""
    history, here, velocity = straight(np.random.default_rng(4), 500, 8, speed_mps=0.015, regular=True)
    for predictor in taught.values():
        off = np.linalg.norm(predictor(history, HORIZON_S).positions - here - HORIZON_S * velocity, axis=1)
        assert off.mean() < 0.001


def test_away_from_the_speeds_that_it_was_taught(taught: dict[str, MLP | FERNN]):
    """Taught 1.5 cm/s only: at 4.5 cm/s FERNN is less than half as far off as the MLP."""
    history, here, velocity = straight(np.random.default_rng(5), 500, 8, speed_mps=0.045, regular=True)
    off = {
        name: np.linalg.norm(predictor(history, HORIZON_S).positions - here - HORIZON_S * velocity, axis=1).mean()
        for name, predictor in taught.items()
    }
    assert off["fernn"] < 0.5 * off["mlp"]


def test_the_same_seed_teaches_the_same():
    tracks = list(
        simulated_tracks(motion_named("x"), Region((0.0, 0.0)), np.random.default_rng(0), name="x", duration_s=20.0)
    )
    one, two, other = (
        fit(tracks, FitSettings(network="fernn", steps=3, batch=8, seed=seed)).predictor.weights["see.weight"]
        for seed in (0, 0, 1)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


# --- questions


def ramp(duration_s: float = 30.0) -> Track:
    times = np.arange(0.0, duration_s, 0.05)
    return Track(times, np.stack([0.02 * times, -0.01 * times, np.zeros_like(times)], axis=-1))


def test_what_is_asked_is_the_track():
    """Without augmentation, on a straight way, every question's answer is the straight line through its poses."""
    questions = Questions(
        [ramp(), ramp(10.0)], rate_hz=20.0, horizon_s=0.8, observations=8, augmentation=Augmentation.none()
    )
    history, horizon, truth = questions.draw(np.random.default_rng(0), 200)
    velocity = np.array([0.02, -0.01, 0.0])
    assert ((horizon >= 0.0) & (horizon <= 1.2)).all()
    assert (horizon == 0.8).mean() == pytest.approx(0.5, abs=0.15)
    np.testing.assert_allclose(truth, history.latest + (history.age_s + horizon)[:, None] * velocity, atol=1e-8)
    np.testing.assert_allclose(history.velocities()[:, -1], np.tile(velocity, (200, 1)), atol=1e-6)


def test_augmented_questions_are_turned_late_noisy_and_full_of_gaps():
    augmentation = Augmentation(noise_m=0.005, latency_s=0.2, dropout=0.4, short=0.2)
    questions = Questions([ramp()], rate_hz=20.0, horizon_s=0.8, observations=8, augmentation=augmentation)
    history, horizon, truth = questions.draw(np.random.default_rng(0), 2000)
    way = truth - history.latest
    length = np.linalg.norm(way, axis=1) / np.hypot(0.02, 0.01)
    assert np.abs(length - (history.age_s + horizon)).mean() > 0.05, "noise"
    assert np.abs(way[:, :2].mean(axis=0)).max() < 0.002, "every direction"
    assert history.age_s.max() > 0.15
    assert set(range(2, 9)) <= set(history.count.tolist())


@pytest.mark.usefixtures("as_user")
def test_messages():
    with pytest.raises(DataError, match=r"no track is long enough to learn from; found 1 tracks, 1 s at most"):
        fit([Track(np.array([0.0, 1.0]), np.zeros((2, 3)))])
    with pytest.raises(SettingError, match=r"FitSettings\.steps: too few; found 0; expected 1 or more"):
        FitSettings(steps=0)
    with pytest.raises(SettingError, match=r"Augmentation\.dropout: not a probability; found 1\.5"):
        Augmentation(dropout=1.5)
    with pytest.raises(DataError, match=r"FERNN\.keep\.weight: not the weights of this network; found \[2, 2\]"):
        FERNN({**made_up(FERNN).weights, "keep.weight": np.zeros((2, 2))})
    with pytest.raises(DataError, match="MLP: other weights; found see"):
        MLP({"see": np.zeros(2)})


# --- on disk


@NETWORKS
def test_saved_and_loaded_it_is_the_same_to_the_last_bit(network: type[MLP] | type[FERNN], tmp_path: Path):
    predictor = made_up(network)
    save_learned(predictor, tmp_path / "learned", about={"seed": 3})
    loaded = load_learned(tmp_path / "learned")
    assert type(loaded) is network
    history, _, _ = straight(np.random.default_rng(6), 20, 8, noise_m=0.003)
    assert np.array_equal(loaded(history, HORIZON_S).positions, predictor(history, HORIZON_S).positions)


@pytest.mark.usefixtures("as_user")
def test_what_cannot_be_loaded_is_said(tmp_path: Path):
    with pytest.raises(DataError, match=r"no learned predictor here; expected predictor\.json; to mend it: make one"):
        load_learned(tmp_path)
    folder = tmp_path / "learned"
    save_learned(made_up(FERNN), folder)
    document = (folder / "predictor.json").read_text()
    for old, new, said in (
        ('"fernn"', '"lstm"', "predictor.json > network: .*found 'lstm'; expected mlp or fernn"),
        ('"format": 1', '"format": 9', "predictor.json > format: .*found 9"),
        ('"width": 12', '"width": 13', r"FERNN\.see\.weight: not the weights of this network; found \[12, 7\]"),
        ("{", "[", "predictor.json: not JSON"),
    ):
        (folder / "predictor.json").write_text(document.replace(old, new))
        with pytest.raises(DataError, match=said):
            load_learned(folder)
    (folder / "predictor.json").write_text(document)
    (folder / "weights.safetensors").write_bytes(b"\x00" * 20)
    with pytest.raises(DataError, match=r"learned > weights\.safetensors: weights that cannot be read"):
        load_learned(folder)
