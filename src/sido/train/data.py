"""What a run learns from, and what it is judged by: its demonstrations as samplers."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from sido.arrays import Array
from sido.demos import (
    ActionSpec,
    ChunkSampler,
    ChunkWindow,
    Demo,
    DemoDataset,
    FrameStore,
    Hints,
    open_dataset,
    to_absolute,
)
from sido.demos import action_spec as named_spec
from sido.errors import DataError, SettingError
from sido.policies import ObservationConfig, Statistics
from sido.train.config import DataConfig, TrainConfig

__all__ = ["ReadingProgress", "TrainingData", "held_out", "open_demos", "read_training_data"]

ReadingProgress = Callable[[int, int], None]


@final
@dataclass(frozen=True, eq=False)
class TrainingData:
    """Demonstrations in memory; images stay on disk."""

    train: ChunkSampler
    train_names: tuple[str, ...]
    """Of the demonstrations, as the sampler numbers them."""
    validation: ChunkSampler | None
    validation_names: tuple[str, ...]
    statistics: Statistics
    """Of the training demonstrations."""
    digest: str
    """Another one means other data."""

    @property
    def action_spec(self) -> ActionSpec:
        return self.train.action_spec


def open_demos(config: DataConfig, cameras: Sequence[str] | None) -> DemoDataset:
    """The demonstrations of a run, with these cameras' images only; None: with all that there are."""
    hints = Hints(
        action_spec=None if config.action_spec is None else named_spec(config.action_spec),
        object_key=config.object_key,
        object_name=config.object_name,
        cameras=None if cameras is None else tuple(cameras),
    )
    dataset = open_dataset(config.path, hints=hints, filter_key=config.filter_key)
    if config.demos is not None:
        dataset = dataset[: config.demos]
    return dataset.map(to_absolute) if config.actions == "absolute" else dataset


def read_training_data(config: TrainConfig, progress: ReadingProgress | None = None) -> TrainingData:
    """Read the numbers of all demonstrations; decode their images to disk, unless that has been done before.

    Raises:
        SidoError: the data are not as they must be, or lack what the policy is to see.
    """
    report = progress or (lambda _done, _total: None)
    observation = config.policy.observation
    with open_demos(config.data, [camera.name for camera in observation.cameras]) as dataset:
        if observation.pose_channel == "none":
            dataset = dataset.map(_without_object)
        frames = FrameStore.of(dataset, progress=report) if observation.cameras else None
        _require_image_sizes(frames, observation, config.data.path)
        others = held_out(len(dataset), config.validation_share)
        chosen = [number for number in range(len(dataset)) if number not in others]
        told = (*observation.landmarks, *observation.spotted)
        window = ChunkWindow(config.policy.prediction_horizon, observation.observation_steps, config.action_horizon - 1)

        def sampler(numbers: Sequence[int]) -> ChunkSampler:
            part = dataset.take(numbers)
            return ChunkSampler(part, window, frames=frames, landmarks=told, progress=report)

        train = sampler(chosen)
        validation = sampler(others) if others else None
        _require_gripper(train, observation, config.data.path)
        _require_eligible(train, config)
        gain = 1.0 if config.augmentation is None else config.augmentation.relative_gain
        return TrainingData(
            train=train,
            train_names=dataset.take(chosen).names,
            validation=validation,
            validation_names=dataset.take(others).names if others else (),
            statistics=Statistics.fit(train, longest_displacement_m=config.reach_m, relative_gain=gain),
            digest=_digest([train, *([] if validation is None else [validation])], frames),
        )


def held_out(demos: int, share: float) -> tuple[int, ...]:
    """The numbers of the demonstrations that no run of this dataset learns from: the same ones for every seed."""
    count = round(share * demos)
    # A permutation, as demonstrations that were placed on a grid would be held out row by row.
    return tuple(sorted(np.random.default_rng(0).permutation(demos)[:count].tolist()))


def _without_object(demo: Demo) -> Demo:
    """Samplers want an object's position of every demonstration; the policy does not see this one."""
    if demo.object_position is not None:
        return demo
    return dataclasses.replace(demo, object_position=np.zeros((len(demo), 3)))


def _require_image_sizes(frames: FrameStore | None, observation: ObservationConfig, path: str) -> None:
    for camera in observation.cameras:
        assert frames is not None
        found, expected = frames.shape(camera.name)[:2], (camera.height, camera.width)
        if found != expected:
            raise DataError(
                "the images are not of the size that the policy sees",
                file=path,
                field=f"images of {camera.name}",
                found=f"{found[0]}x{found[1]}",
                expected=f"{expected[0]}x{expected[1]} pixels",
                fix="record or convert the images at this size, or train at the scale cpu, which takes any size",
            )


def _require_eligible(sampler: ChunkSampler, config: TrainConfig) -> None:
    """Without a chunk to displace, a policy would be trained on static data alone and bear another name."""
    if config.augmentation is None or sampler.eligible_share > 0:
        return
    raise DataError(
        "no chunk may be displaced, so that there is nothing to learn from counterfactuals",
        file=config.data.path,
        found="0 eligible chunks",
        expected=f"chunks of {config.policy.prediction_horizon} steps that end before the grasp",
        fix="look at the grasps with `sido inspect`; often the action spec has the gripper's sign the wrong way round",
    )


def _require_gripper(sampler: ChunkSampler, observation: ObservationConfig, path: str) -> None:
    found = sampler.numbers["gripper"].shape[1]
    if found != observation.gripper_joints:
        raise SettingError(
            "the gripper of the data is another one than the policy's",
            file=path,
            field="policy.observation.gripper_joints",
            found=observation.gripper_joints,
            expected=f"{found}, as in the data",
        )


def _digest(samplers: Sequence[ChunkSampler], frames: FrameStore | None) -> str:
    digest = hashlib.sha256()
    for sampler in samplers:
        digest.update(repr((len(sampler), sampler.action_spec)).encode())
        for name, table in sampler.numbers.items():
            array: Array = table.contiguous().numpy()
            digest.update(f"{name}{array.shape}".encode())
            digest.update(array.tobytes())
    if frames is not None:
        digest.update(repr([(camera, frames.shape(camera)) for camera in frames.cameras]).encode())
    return digest.hexdigest()
