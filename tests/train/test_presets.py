"""The paper's policies by name: what they are, to the letter, and that they differ in nothing else."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import h5py
import numpy as np
import pytest

from sido.errors import SettingError
from sido.policies import CameraConfig, DinoV3Config, UnetConfig
from sido.train import METHODS, DataConfig, DemoEpochs, Epochs, Fitted, TrainConfig, fit_to_data, preset

DATA = DataConfig("stack.hdf5")
STATE = Fitted((), 2, ("cubeB",))
IMAGES = Fitted((CameraConfig("agentview", 84, 84), CameraConfig("robot0_eye_in_hand", 84, 84)), 2, ("cubeB",))


def made(name: str, sight, scale) -> TrainConfig:
    return preset(name, DATA, IMAGES if sight == "image" else STATE, sight=sight, scale=scale)


@pytest.mark.parametrize("scale", ["cpu", "paper"])
@pytest.mark.parametrize("sight", ["state", "image"])
@pytest.mark.parametrize("policy", ["dp", "equidp"])
def test_the_rungs_of_a_ladder_differ_in_the_channel_alone(policy: str, sight, scale):
    none, current, future = (made(f"{policy}{rung}", sight, scale) for rung in ("", "-current-pose", "-sido"))
    for config, channel in ((none, "none"), (current, "current"), (future, "future")):
        assert config.policy.observation.pose_channel == channel
        assert TrainConfig.from_json(config.to_json()) == config
        observation = dataclasses.replace(config.policy.observation, pose_channel="future")
        alike = dataclasses.replace(
            config,
            policy=dataclasses.replace(config.policy, observation=observation),
            augmentation=future.augmentation,
        )
        assert alike == future
    assert none.augmentation is None
    assert current.augmentation is None
    assert future.augmentation is not None
    assert (future.augmentation.static_ratio, future.augmentation.step_speed_m) == (0.2, 0.001)
    assert future.reach_m == future.augmentation.longest_m == 0.016


def test_the_paper_s_scale_is_the_originals_settings():
    """docs/training.md names the sources of these numbers."""
    ours = made("dp-sido", "image", "paper")
    optimiser, process = ours.optimiser, ours.policy.process
    assert (ours.batch_size, ours.duration, ours.action_horizon, ours.draws) == (64, Epochs(3050), 8, 1)
    assert (optimiser.learning_rate, optimiser.betas, optimiser.epsilon) == (1e-4, (0.95, 0.999), 1e-8)
    assert (optimiser.weight_decay, optimiser.warmup_steps, optimiser.longest_gradient) == (1e-6, 500, None)
    assert (ours.average.power, ours.average.inverse_gamma, ours.average.largest_decay) == (0.75, 1.0, 0.9999)
    assert (process.sampler, process.train_steps, process.sampling_steps) == ("ddpm", 100, 100)
    assert ours.policy.denoiser == UnetConfig((512, 1024, 2048), kernel_size=5, groups=8, time_features=128)
    assert ours.policy.encoder == DinoV3Config(trained=True)
    assert (ours.policy.prediction_horizon, ours.policy.observation.observation_steps) == (16, 2)
    assert not ours.policy.observation.offset_features
    assert not ours.policy.goals_from_hand
    assert ours.policy.observation.landmarks == ()
    equi = made("equidp-sido", "image", "paper")
    assert (equi.batch_size, equi.duration) == (128, DemoEpochs(50_000))
    assert (equi.policy.fields, equi.policy.action_fields, equi.policy.crop) == (128, 64, 76)
    assert (equi.policy.turned_camera, equi.policy.denoiser) == ("agentview", UnetConfig())


def test_fifty_thousand_demonstrations():
    assert DemoEpochs(50_000).steps(transitions=200 * 128, demos=200, batch_size=128) == 250 * 200


def test_what_is_fitted_to_the_data(stack: Path, filmed: Path):
    assert fit_to_data(DataConfig(str(stack))) == Fitted((), 2, ())
    cameras = (CameraConfig("agentview", 16, 16), CameraConfig("robot0_eye_in_hand", 16, 16))
    assert fit_to_data(DataConfig(str(filmed)), None).cameras == cameras
    assert fit_to_data(DataConfig(str(filmed)), ["agentview"]).cameras == cameras[:1]


def test_all_objects_but_the_grasped_one_are_landmarks(stack: Path, tmp_path: Path):
    path = tmp_path / "stack.hdf5"
    path.write_bytes(stack.read_bytes())
    with h5py.File(path, "r+") as file:
        for demo in file["data"].values():
            poses = np.tile(np.eye(4), (demo["actions"].shape[0], 1, 1))
            demo["datagen_info/object_poses/cubeB"] = poses
            poses = poses.copy()
            poses[:, :3, 3] = demo["obs/object_position"][()]
            demo["datagen_info/object_poses/cubeA"] = poses
    assert fit_to_data(DataConfig(str(path), object_key="obs/object_position")).landmarks == ("cubeB",)


@pytest.mark.usefixtures("as_user")
def test_names_that_are_none():
    with pytest.raises(SettingError, match=f"unknown preset; found 'act'; expected one of {', '.join(METHODS)}"):
        preset("act", DATA, STATE)
    with pytest.raises(SettingError, match="a policy from images has cameras, one from state none"):
        preset("dp", DATA, STATE, sight="image")
    two = Fitted((CameraConfig("agentview", 84, 84), CameraConfig("sideview", 84, 84)), 2, ())
    with pytest.raises(SettingError, match="looks down at the workspace with one camera"):
        preset("equidp", DATA, two, sight="image")
