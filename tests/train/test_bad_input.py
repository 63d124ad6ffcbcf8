"""What a person reads when training cannot go on; and that nothing is lost."""

from __future__ import annotations

import dataclasses
import json
import resource
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from sido.demos import ACTION_SPECS
from sido.errors import DataError, SidoError
from sido.policies import CameraConfig, DiffusionPolicy, load_policy
from sido.train import DataConfig, Steps, fit_to_data, preset, read_metrics, resume, train
from train.conftest import CAMERAS, tiny
from train.test_resume import require_same_run

pytestmark = pytest.mark.usefixtures("as_user")


def policy_with(config, **observation):
    policy = config.policy
    return dataclasses.replace(policy, observation=dataclasses.replace(policy.observation, **observation))


def test_a_loss_that_is_no_number(stack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It stops, keeps the checkpoint before, and names the batch; mended, the run goes on from there."""
    config = tiny(stack)
    train(config, tmp_path / "whole")
    honest, calls = DiffusionPolicy.loss, [0]

    def spoilt(self, draws, generator):
        calls[0] += self.training
        loss = honest(self, draws, generator)
        return loss * torch.nan if calls[0] > 13 else loss  # two parts each: in update 6, from 0

    monkeypatch.setattr(DiffusionPolicy, "loss", spoilt)
    with pytest.raises(DataError) as caught:
        train(config, tmp_path / "run")
    said = str(caught.value)
    assert "the loss is not a number; the checkpoint after 4 updates is whole" in said
    assert "found nan in update 6, of the batch demo_" in said
    failure = json.loads((tmp_path / "run/failure.json").read_text())
    assert (failure["step"], len(failure["transitions"])) == (6, config.batch_size)
    assert all(torch.isfinite(x).all() for x in load_policy(tmp_path / "run/checkpoint/last").state_dict().values())
    monkeypatch.setattr(DiffusionPolicy, "loss", honest)
    resume(tmp_path / "run")
    require_same_run(tmp_path / "whole", tmp_path / "run")


def test_a_loss_that_is_no_number_between_measurements(stack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """No checkpoint is written of weights that a NaN has reached, however rarely losses are looked at."""
    honest = DiffusionPolicy.loss
    monkeypatch.setattr(
        DiffusionPolicy, "loss", lambda self, draws, rng: honest(self, draws, rng) * (torch.nan if self.training else 1)
    )
    with pytest.raises(DataError, match="the loss is not a number; none is kept"):
        train(tiny(stack, log_every=100, validate_every=100), tmp_path / "run")


def test_a_full_disk(stack: Path, tmp_path: Path):
    """Files that may not grow (RLIMIT_FSIZE) fail as on a full disk; with room again, the run goes on."""
    config = tiny(stack)
    train(config, tmp_path / "whole")
    train(config, tmp_path / "run", stop=lambda: True)
    before = (tmp_path / "run/checkpoint/last/policy.safetensors").read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, limits[1]))
    try:
        with pytest.raises(SidoError) as caught:
            resume(tmp_path / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    said = str(caught.value)
    assert "a checkpoint cannot be saved; the one before is whole; found" in said
    assert "make room, then sido train --resume" in said
    assert (tmp_path / "run/checkpoint/last/policy.safetensors").read_bytes() == before
    resume(tmp_path / "run")
    require_same_run(tmp_path / "whole", tmp_path / "run")


def test_metrics_that_cannot_be_written(stack: Path, tmp_path: Path):
    def fill(_standing) -> None:
        file = tmp_path / "run/metrics.jsonl"
        file.unlink(missing_ok=True)
        file.symlink_to("/dev/full")

    with pytest.raises(SidoError, match=r"cannot be written; .*found \[Errno 28\] No space left on device"):
        train(tiny(stack), tmp_path / "run", progress=fill)


def test_images_of_another_size(filmed: Path, tmp_path: Path):
    config = tiny(filmed, images=True)
    larger = (CAMERAS[0], CameraConfig("robot0_eye_in_hand", 16, 24))
    config = dataclasses.replace(config, policy=policy_with(config, cameras=larger))
    with pytest.raises(
        SidoError, match=r"images of robot0_eye_in_hand: the images are not of the size .* found 16x16; expected 16x24"
    ):
        train(config, tmp_path / "run")


def test_a_camera_that_is_missing(stack: Path, filmed: Path, tmp_path: Path):
    config = tiny(filmed, images=True)
    other = (CAMERAS[0], CameraConfig("birdview", 16, 16))
    with pytest.raises(SidoError, match=r"birdview"):
        train(dataclasses.replace(config, policy=policy_with(config, cameras=other)), tmp_path / "one")
    with pytest.raises(SidoError, match=r"agentview|the dataset has no images"):
        train(dataclasses.replace(config, data=DataConfig(str(stack))), tmp_path / "two")
    with pytest.raises(SidoError, match="the dataset has no images; to mend it: train from state"):
        fit_to_data(DataConfig(str(stack)), None)


def test_a_dataset_without_object_positions(stack: Path, tmp_path: Path):
    """Neither a position nor a grasp to take it from: a policy without the channel can be trained, the others not."""
    path = tmp_path / "blind.hdf5"
    path.write_bytes(stack.read_bytes())
    with h5py.File(path, "r+") as file:
        for demo in file["data"].values():
            del demo["obs/object_position"], demo["datagen_info"]
            demo.attrs.pop("sido_grasp", None)
            actions = demo["actions"][()]
            actions[:, -1] = -1
            demo["actions"][...] = actions
        file["data"].attrs.pop("sido_object_key", None)
    data = DataConfig(str(path))
    for name in ("dp-current-pose", "dp-sido"):
        config = preset(name, data, fit_to_data(data))
        with pytest.raises(SidoError, match="object_position: neither an object position nor a grasp"):
            train(config, tmp_path / name)
    config = dataclasses.replace(preset("dp", data, fit_to_data(data)), duration=Steps(1))
    assert train(config, tmp_path / "dp").ended


def test_a_landmark_that_nobody_recorded(stack: Path, tmp_path: Path):
    config = tiny(stack)
    config = dataclasses.replace(config, policy=policy_with(config, landmarks=("cubeB",)))
    with pytest.raises(SidoError, match="landmarks: no such object's poses; found 'cubeB'"):
        train(config, tmp_path / "run")


def test_another_gripper(stack: Path, tmp_path: Path):
    config = tiny(stack)
    config = dataclasses.replace(config, policy=policy_with(config, gripper_joints=1))
    with pytest.raises(
        SidoError, match="the gripper of the data is another one than the policy's; found 1; expected 2"
    ):
        train(config, tmp_path / "run")


def test_a_checkpoint_of_another_action_spec(stack: Path, tmp_path: Path):
    train(tiny(stack, duration=Steps(1)), tmp_path / "run")
    last = tmp_path / "run/checkpoint/last"
    assert load_policy(last, action_spec=load_policy(last).action_spec).action_spec.kind == "absolute"
    with pytest.raises(DataError, match="the action specs of the policy and what it is used with differ") as caught:
        load_policy(last, action_spec=ACTION_SPECS["osc-delta"])
    assert "kind='absolute' (the policy), 'relative' (what it is used with)" in str(caught.value)


def test_a_damaged_checkpoint(stack: Path, tmp_path: Path):
    train(tiny(stack), tmp_path / "run", stop=lambda: True)
    weights = tmp_path / "run/checkpoint/last/policy.safetensors"
    weights.write_bytes(weights.read_bytes()[:-40])
    with pytest.raises(DataError, match="the checkpoint is damaged, or of another policy"):
        resume(tmp_path / "run")
    with pytest.raises(DataError, match=r"policy.safetensors: the weights are damaged, or of another policy"):
        load_policy(weights.parent)
    weights.unlink()
    with pytest.raises(DataError, match=r"no policy here; found no policy.safetensors"):
        load_policy(weights.parent)


def test_a_damaged_line_of_metrics(stack: Path, tmp_path: Path):
    train(tiny(stack), tmp_path / "run", stop=lambda: True)
    file = tmp_path / "run/metrics.jsonl"
    file.write_text("{}\n" + file.read_text())
    with pytest.raises(DataError, match=r"metrics.jsonl: a line is damaged; found \{\}"):
        resume(tmp_path / "run")


def test_actions_that_are_not_numbers(stack: Path, tmp_path: Path):
    path = tmp_path / "bad.hdf5"
    path.write_bytes(stack.read_bytes())
    with h5py.File(path, "r+") as file:
        file["data/demo_3/actions"][5, 0] = np.nan
    with pytest.raises(SidoError, match="demo_3"):
        train(tiny(path), tmp_path / "run")
    assert read_metrics(tmp_path / "run/metrics.jsonl") == []


def test_nothing_to_displace(stack: Path, tmp_path: Path):
    """A gripper that never closes: a policy of that name would be trained on static data alone."""
    file = tmp_path / "open.hdf5"
    file.write_bytes(stack.read_bytes())
    with h5py.File(file, "r+") as data:
        for demo in data["data"].values():
            actions = demo["actions"][()]
            actions[:, -1] = -1
            demo["actions"][...] = actions
            demo.pop("datagen_info", None)
            demo.attrs.pop("sido_grasp", None)
    with pytest.raises(DataError, match=r"no chunk may be displaced.*0 eligible chunks.*sido inspect"):
        train(tiny(file), tmp_path / "run")
    train(tiny(file, augmentation=None, duration=Steps(1)), tmp_path / "static")
