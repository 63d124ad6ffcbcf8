"""What presets leave to the data: whatever of a policy's form follows from the demonstrations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from sido.demos import Demo
from sido.demos.source import DatasetInfo, own_base
from sido.errors import DataError
from sido.geometry import Pose
from sido.policies import CameraConfig
from sido.train.config import DataConfig
from sido.train.data import open_demos

__all__ = ["Fitted", "fit_to_data"]

_POSES = "datagen_info/object_poses/"
_SAME_M = 1e-4


@final
@dataclass(frozen=True)
class Fitted:
    """What the demonstrations have to be seen."""

    cameras: tuple[CameraConfig, ...]
    """Of the cameras asked for, with the sizes of their images."""
    gripper_joints: int
    landmarks: tuple[str, ...]
    """All objects whose poses are recorded, but the one that is grasped: that one is in the pose channel."""


def fit_to_data(config: DataConfig, cameras: Sequence[str] | None = ()) -> Fitted:
    """Look at the first demonstration.

    Args:
        config: Which dataset.
        cameras: Which cameras a policy is to see; None for all that there are.

    Raises:
        SidoError: the dataset cannot be read, or has no such camera.
    """
    with open_demos(config, cameras) as dataset:
        demo, info = dataset[0], dataset.info
        if cameras is None and not info.cameras:
            raise DataError(
                "the dataset has no images", file=config.path, fix="train from state (--obs state), or record them"
            )
        sizes = {camera: demo.images[camera].shape[1:3] for camera in info.cameras}
        return Fitted(
            cameras=tuple(CameraConfig(camera, int(height), int(width)) for camera, (height, width) in sizes.items()),
            gripper_joints=demo.gripper.shape[1],
            landmarks=_others(demo, info),
        )


def _others(demo: Demo, info: DatasetInfo) -> tuple[str, ...]:
    """The recorded objects that are elsewhere than the grasped one."""
    base_from_world = (own_base(demo.metadata) or info.world_from_base or Pose.identity()).inverse()
    others: list[str] = []
    for key, poses in demo.recorded.items():
        if not key.startswith(_POSES):
            continue
        places = base_from_world.apply(poses[:, :3, 3].astype(np.float64))
        grasped = demo.object_position
        if grasped is None or np.abs(places - grasped).max() > _SAME_M:
            others.append(key.removeprefix(_POSES))
    return tuple(sorted(others))
