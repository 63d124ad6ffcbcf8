"""Which LeRobot features a demonstration becomes, and its numbers as columns of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sido.arrays import Array
from sido.demos.action_spec import ActionSpec
from sido.demos.demo import Demo
from sido.demos.lerobot.annotations import Column
from sido.demos.lerobot.layout import ACTION, BOOKKEEPING, ENVIRONMENT_STATE, IMAGES_PREFIX, STATE, Feature
from sido.errors import DataError
from sido.geometry import xyzw_from_wxyz

__all__ = ["DemoColumns"]

_DTYPES = {
    "bool",
    "float16",
    "float32",
    "float64",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}
_NEXT = {"rewards": "next.reward", "dones": "next.done", "next.reward": "next.reward", "next.done": "next.done"}
"""Recorded arrays that LeRobot has a name for: robomimic's, and LeRobot's own when it is converted again."""

_ROTATION_NAMES: Mapping[str, tuple[str, ...]] = {
    "axis_angle": ("wx", "wy", "wz"),
    "rot6d": ("r00", "r01", "r02", "r10", "r11", "r12"),
    "quat_wxyz": ("qw", "qx", "qy", "qz"),
    "euler_xyz": ("roll", "pitch", "yaw"),
    "none": (),
}


@dataclass(frozen=True)
class DemoColumns:
    """The columns that all demonstrations of one dataset share."""

    features: Mapping[str, Feature]
    cameras: Mapping[str, str]
    """Feature -> camera."""
    recorded: Mapping[str, Column]
    """Feature -> array of `Demo.recorded`."""
    signals: Mapping[str, str]
    """Feature -> subtask."""
    fingers: int

    @classmethod
    def of(cls, demo: Demo, *, video: bool) -> DemoColumns:
        """The columns that hold this demonstration."""
        fingers, spec = demo.gripper.shape[1], demo.action_spec
        features = {
            STATE: Feature("float32", (7 + fingers,), _state_names(fingers)),
            ACTION: Feature("float32", (spec.dim,), _action_names(spec)),
        }
        if demo.object_position is not None:
            features[ENVIRONMENT_STATE] = Feature("float32", (3,), ("object_x", "object_y", "object_z"))
        cameras: dict[str, str] = {}
        for camera, frames in demo.images.items():
            key = _fresh(IMAGES_PREFIX + camera.replace("/", "."), features)
            features[key] = Feature("video" if video else "image", frames.shape[1:], ("height", "width", "channels"))
            cameras[key] = camera
        signals: dict[str, str] = {}
        for subtask in demo.subtask_signals:
            key = _fresh(f"subtask.{_plain(subtask)}", features)
            features[key], signals[key] = Feature("bool", (1,)), subtask
        recorded: dict[str, Column] = {}
        for path, array in demo.recorded.items():
            key = _fresh(_NEXT.get(path, f"recorded.{_plain(path)}"), {**features, **recorded})
            recorded[key] = _column(path, array)
            if recorded[key].size:  # LeRobot has no vectors without entries
                dtype = "bool" if key == "next.done" else array.dtype.name
                features[key] = Feature(dtype, (recorded[key].size,))
        features |= {key: Feature(dtype, (1,)) for key, dtype in BOOKKEEPING.items()}
        return cls(features, cameras, recorded, signals, fingers)

    @property
    def number_features(self) -> dict[str, Feature]:
        """Those that stand in parquet as numbers, the bookkeeping included."""
        return {key: feature for key, feature in self.features.items() if feature.is_number}

    def require_same(self, other: DemoColumns) -> None:
        """Raise, naming the first field that differs, unless a demonstration with columns `other` fits these."""
        for mine, theirs in ((self.features, other.features), (self.recorded, other.recorded)):
            for key in {**mine, **theirs}:
                if mine.get(key) != theirs.get(key):
                    raise DataError(
                        "the demonstrations do not all hold the same, and LeRobot's table has one set of columns",
                        field=key,
                        found=_told(theirs.get(key)),
                        expected=f"{_told(mine.get(key))}, as in the first demonstration",
                        fix="leave out the demonstrations that differ, or the field",
                    )

    def arrays(self, demo: Demo) -> dict[str, Array]:
        """The demonstration's numbers by feature, `[T, size]`, without the bookkeeping."""
        quat_xyzw = xyzw_from_wxyz(demo.eef_quat_wxyz)
        arrays = {STATE: np.concatenate([demo.eef_position, quat_xyzw, demo.gripper], axis=1), ACTION: demo.actions}
        if demo.object_position is not None:
            arrays[ENVIRONMENT_STATE] = demo.object_position
        arrays |= {key: demo.subtask_signals[subtask] for key, subtask in self.signals.items()}
        for key, column in self.recorded.items():
            array = demo.recorded[column.key]
            if key == "next.done" and not np.isin(array, (0, 1)).all():
                raise DataError(
                    "done is neither yes nor no", field=column.key, found=np.unique(array).tolist(), expected="0, 1"
                )
            if column.size:
                arrays[key] = array
        length = len(demo)
        return {key: array.reshape(length, -1).astype(self.features[key].dtype) for key, array in arrays.items()}


def _column(path: str, array: Array) -> Column:
    if array.dtype.name not in _DTYPES:
        raise DataError(
            "LeRobot's tables cannot hold this kind of array",
            field=path,
            found=array.dtype.name,
            expected="numbers or booleans",
            fix="leave the array out",
        )
    return Column.of(path, array)


def _plain(path: str) -> str:
    """A feature's name has no "/"; and lerobot takes whatever has "image" in its name for one."""
    return path.replace("/", ".").replace("image", "img")


def _fresh(key: str, taken: Mapping[str, Any]) -> str:
    """The name, or one like it that no other feature has."""
    fresh, number = key, 2
    while fresh in taken or fresh in BOOKKEEPING:
        fresh, number = f"{key}_{number}", number + 1
    return fresh


def _told(value: Feature | Column | None) -> str:
    return "nothing" if value is None else f"{value.dtype}{list(value.shape)}"


def _state_names(fingers: int) -> tuple[str, ...]:
    position = tuple(f"eef_pos_{axis}" for axis in "xyz")
    return (
        *position,
        *(f"eef_quat_{axis}" for axis in "xyzw"),
        *(f"gripper_qpos_{finger}" for finger in range(fingers)),
    )


def _action_names(spec: ActionSpec) -> tuple[str, ...]:
    return ("x", "y", "z", *_ROTATION_NAMES[spec.rotation], "gripper")
