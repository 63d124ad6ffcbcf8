"""The pose estimator: late, at its own rate, with noise along the camera's axes, a bias, and gaps."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hands import holding
from sido.errors import SettingError
from sido.geometry import Pose, Transform, quat_about_z
from sido.motion import PlaceOutside, motion_named
from sido.sim.cameras import Cameras
from sido.sim.pose_estimator import PoseEstimator, PoseTrack
from sido.sim.tasks import Stack
from sido.sim.vector_environment import VectorEnvironment

PERIOD_S = 0.05
VELOCITY = np.array([0.03, -0.02, 0.01])
START = np.array([0.6, 0.1, -0.08])


def place(time_s: float) -> np.ndarray:
    return START + time_s * VELOCITY


def watched(estimator: PoseEstimator, steps: int, seed: int = 0) -> list[tuple[np.ndarray, float]]:
    """What is known after each control step, of an object that goes straight."""
    track = estimator.track(np.random.default_rng(seed), place(0.0))
    return [tuple(track.advance(k * PERIOD_S, place(k * PERIOD_S))) for k in range(1, steps + 1)]


def test_without_settings_it_is_perfect():
    for k, (position, time_s) in enumerate(watched(PoseEstimator(), 40), start=1):
        np.testing.assert_array_equal(position, place(k * PERIOD_S))
        assert time_s == pytest.approx(k * PERIOD_S, abs=1e-12)


@given(
    rate_hz=st.sampled_from([3.0, 7.5, 20.0, 31.0, 60.0]),
    latency_s=st.floats(0.0, 0.4),
    dropout=st.sampled_from([0.0, 0.3, 0.9]),
    seed=st.integers(0, 99),
)
def test_it_is_the_newest_look_that_is_known(rate_hz: float, latency_s: float, dropout: float, seed: int):
    """Against the slow way: all looks in a list, and a search in it at every step."""
    estimator, steps = PoseEstimator(rate_hz=rate_hz, latency_s=latency_s, dropout=dropout), 30
    rng, looks = np.random.default_rng(seed), [(0.0, 0.0)]
    rng.standard_normal(3), rng.random()
    for number in range(1, int(steps * PERIOD_S * rate_hz) + 2):
        rng.standard_normal(3)
        if rng.random() >= dropout:
            looks.append((number / rate_hz, number / rate_hz + latency_s))
    for k, (position, time_s) in enumerate(watched(estimator, steps, seed), start=1):
        now = k * PERIOD_S + 1e-9
        expected = max(taken for taken, known in looks if taken <= now and (known <= now or taken == 0.0))
        assert time_s == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(position, place(time_s), atol=1e-12)


def test_the_first_look_is_known_at_once_and_never_lost():
    track = PoseEstimator(latency_s=9.0, dropout=1.0).track(np.random.default_rng(0), START)
    assert isinstance(track, PoseTrack)
    for k in range(50):
        position, time_s = track.advance(k * PERIOD_S, place(k * PERIOD_S))
        np.testing.assert_array_equal(position, START)
        assert time_s == 0.0


def test_noise_and_bias_are_along_the_cameras_axes():
    turned = Pose((0.3, -0.2, 0.5), quat_about_z(np.array(0.7)))
    estimator = PoseEstimator(
        rate_hz=2000.0,
        noise_m=(0.001, 0.002, 0.010),
        bias_m=(0.004, 0.0, -0.003),
        base_from_camera=Transform("base", "camera", turned),
    )
    track = estimator.track(np.random.default_rng(1), START)
    off = [track.advance(k / 2000.0, START).position - START for k in range(1, 2001)]
    in_camera = np.array(off) @ turned.matrix[:3, :3]
    np.testing.assert_allclose(in_camera.std(axis=0), estimator.noise_m, rtol=0.07)
    np.testing.assert_allclose(in_camera.mean(axis=0), estimator.bias_m, atol=8e-4)
    assert np.abs(np.corrcoef(in_camera[1:].T, in_camera[:-1].T)[:3, 3:]).max() < 0.08, "every look draws anew"


def test_wrong_extrinsics_are_wrong_by_as_much():
    """By hand: what the true camera sees, put where one believes the camera to be."""
    true = Transform("base", "camera", Pose((1.0, 0.1, 0.4), quat_about_z(np.array(2.0))))
    error = Pose((0.01, 0.0, -0.02), quat_about_z(np.array(0.05)))
    estimator = PoseEstimator(base_from_camera=true, calibration_error=error)
    seen = true.pose.inverse().apply(START)
    np.testing.assert_allclose(estimator.look(START, np.zeros(3)), (true.pose @ error).apply(seen), atol=1e-12)
    assert np.linalg.norm(estimator.look(START, np.zeros(3)) - START) > 0.02


def test_estimators_that_differ_in_one_setting_share_their_noise():
    noisy = PoseEstimator(noise_m=(0.002, 0.002, 0.002))
    plain, late = (watched(one, 30) for one in (noisy, dataclasses.replace(noisy, latency_s=3 * PERIOD_S)))
    for k in range(3, 30):
        np.testing.assert_array_equal(late[k][0], plain[k - 3][0])


def test_the_world_reports_it(make_world):
    """In an episode: late by its latency, and the truth beside it."""
    world: VectorEnvironment = make_world(
        motion=motion_named("x", 0.04),
        obstacle_rule=PlaceOutside(),
        pose_estimator=PoseEstimator(rate_hz=10.0, latency_s=0.15),
    )
    world.reset([4])
    past = [world.object_position[0].copy()]
    for k in range(1, 30):
        seen = world.step(holding(world)).observation
        past.append(seen["object_position"][0])
        expected = max(k - 3, 0) // 2 * 2
        assert seen["estimate_time_s"][0] == pytest.approx(expected * PERIOD_S)
        np.testing.assert_allclose(seen["object_position_estimated"][0], past[expected], atol=1e-12)


def test_its_default_camera_is_the_agents(stack: Stack):
    with VectorEnvironment(stack, envs=1) as world, Cameras(stack.scene, ["agentview"], size=(8, 8)) as cameras:
        world.reset([0])
        there = cameras.base_from_camera("agentview", world.scenery(0)).pose
    default = PoseEstimator().base_from_camera.pose
    np.testing.assert_allclose(default.position, there.position, atol=0.02)
    np.testing.assert_allclose(default.matrix[:3, :3], there.matrix[:3, :3], atol=0.02)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"rate_hz": 0.0}, r"PoseEstimator.rate_hz: not usable; found 0.0; expected above 0 Hz"),
        ({"rate_hz": float("inf")}, "PoseEstimator.rate_hz"),
        ({"latency_s": -0.1}, "PoseEstimator.latency_s"),
        ({"dropout": 1.1}, "expected a probability, 0 to 1"),
        ({"noise_m": (0.0, -1.0, 0.0)}, "PoseEstimator.noise_m"),
        ({"noise_m": (0.0, 0.0)}, "PoseEstimator.noise_m: not usable"),
        ({"noise_m": 0.1}, "PoseEstimator.noise_m: not usable; found 0.1"),
        ({"bias_m": (0.0,)}, "PoseEstimator.bias_m: not usable"),
        ({"bias_m": (0.0, float("nan"), 0.0)}, "PoseEstimator.bias_m"),
        ({"base_from_camera": Transform("world", "camera", Pose.identity())}, "expected base_from_camera"),
    ],
)
@pytest.mark.usefixtures("as_user")
def test_settings_that_cannot_be(settings: dict, complaint: str):
    with pytest.raises(SettingError, match=complaint):
        PoseEstimator(**settings)
