"""What the numbers of a LeRobot dataset mean where sido did not write it: names first, sizes second, never silently."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.demos.lerobot.episodes import action_extremes
from sido.demos.lerobot.layout import ACTION, INFO_PATH, STATE, DatasetLayout, Feature
from sido.errors import DataError
from sido.geometry import matrix_from_euler_xyz, quat_from_axis_angle, quat_from_matrix, unit_quat, wxyz_from_xyzw

__all__ = ["StateLayout", "action_feature", "assumed_action_spec", "state_layout", "with_rate"]

Rotation = Literal["quat_xyzw", "axis_angle", "euler_xyz"]

_JOINTS = {"joint", "joints", "shoulder", "elbow", "waist", "forearm"}
_RANGE_TOLERANCE = 1e-4  # as a Demo itself allows
_QUAT_TOLERANCE = 0.05

_BY_SIZE: dict[int, tuple[Rotation, str]] = {
    # The community's robomimic port, LIBERO's, and the smallest that can be meant.
    9: ("quat_xyzw", "eef position 3, quaternion xyzw 4, fingers 2"),
    8: ("axis_angle", "eef position 3, axis-angle 3, fingers 2"),
    7: ("axis_angle", "eef position 3, axis-angle 3, gripper 1"),
}
_ROTATION_SIZE: dict[Rotation, int] = {"quat_xyzw": 4, "axis_angle": 3, "euler_xyz": 3}


@dataclass(frozen=True)
class StateLayout:
    """Where the end-effector's pose and the gripper stand in `observation.state`."""

    position: tuple[int, ...]
    rotation_form: Rotation
    rotation: tuple[int, ...]
    gripper: tuple[int, ...]
    warning: str | None = None
    """What had to be assumed."""

    @property
    def size_used(self) -> int:
        """How many entries of the state have a meaning; where it is all of them, nothing else need be kept."""
        return len({*self.position, *self.rotation, *self.gripper})

    def quat_wxyz(self, state: Float[Array, "T S"]) -> Float[Array, "T 4"]:
        """The orientation in every row."""
        rotation = state[:, list(self.rotation)]
        if self.rotation_form == "axis_angle":
            return quat_from_axis_angle(rotation)
        if self.rotation_form == "euler_xyz":
            return quat_from_matrix(matrix_from_euler_xyz(rotation))
        lengths = np.linalg.norm(rotation, axis=1)
        if (np.abs(lengths - 1) > _QUAT_TOLERANCE).any():
            raise DataError(
                "the state holds no unit quaternion where one is assumed",
                field=STATE,
                found=f"numbers of length {lengths[np.abs(lengths - 1).argmax()]:.3g} at {list(self.rotation)}",
                fix=_name_the_state(),
            )
        return unit_quat(wxyz_from_xyzw(rotation))


def state_layout(feature: Feature | None, *, file: object) -> StateLayout:
    """Read the meaning of `observation.state` off its names, else off its size."""
    if feature is None or len(feature.shape) != 1:
        raise DataError(
            "the dataset has no vector of the robot's state",
            file=file,
            field=STATE,
            found="nothing" if feature is None else f"shape {list(feature.shape)}",
            fix="SIDO needs the end-effector's pose: add it as observation.state",
        )
    size = feature.shape[0]
    if len(feature.names) == size:
        _refuse_joints(feature.names, STATE, file)
        named = _layout_by_name(feature.names)
        if named is not None:
            return named
    if size not in _BY_SIZE:
        raise DataError(
            "cannot tell where the end-effector's pose stands in the state",
            file=file,
            field=STATE,
            found=f"{size} entries, named {list(feature.names) or 'not at all'}",
            expected=f"{', '.join(map(str, sorted(_BY_SIZE)))} entries, or names that tell",
            fix=_name_the_state(),
        )
    rotation, meaning = _BY_SIZE[size]
    stop = 3 + _ROTATION_SIZE[rotation]
    return StateLayout(
        position=(0, 1, 2),
        rotation_form=rotation,
        rotation=tuple(range(3, stop)),
        gripper=tuple(range(stop, size)),
        warning=f"{STATE} has {size} entries whose names tell nothing: taken as {meaning}",
    )


def action_feature(layout: DatasetLayout) -> Feature:
    """The column of the actions, which must be vectors of numbers."""
    feature = layout.features.get(ACTION)
    if feature is None or not feature.is_number or len(feature.shape) != 1:
        raise DataError(
            "the dataset has no vector of actions",
            file=layout.root / INFO_PATH,
            field=ACTION,
            found="nothing" if feature is None else f"{feature.dtype}{list(feature.shape)}",
            fix="SIDO needs the commands that the end-effector was given: add them as action",
        )
    return feature


def assumed_action_spec(layout: DatasetLayout) -> tuple[ActionSpec, str]:
    """The spec that actions of this size usually have, and the warning that it is an assumption."""
    file, feature = layout.root / INFO_PATH, action_feature(layout)
    _refuse_joints(feature.names, ACTION, file)
    size, extremes = feature.shape[0], action_extremes(layout, ACTION)
    if size == ACTION_SPECS["rot6d-absolute"].dim:
        name = "rot6d-absolute"
    elif size == ACTION_SPECS["osc-delta"].dim and (extremes is None or _within_one(extremes)):
        name = "osc-delta"
    else:
        beyond = "" if extremes is None else f", from {extremes[0].min():.3g} to {extremes[1].max():.3g}"
        raise DataError(
            "cannot tell what the actions mean",
            file=file,
            field=ACTION,
            found=f"{size} entries{beyond}",
            expected="7 within -1..1 (relative), or 10 (absolute, rot6d)",
            fix="name their meaning with --action-spec; joint-space actions must first be converted: "
            "SIDO displaces end-effector goals",
        )
    rate = layout.rate_hz
    return (
        dataclasses.replace(ACTION_SPECS[name], rate_hz=rate),
        f"the files do not say what actions mean: {size} entries are taken as {name!r} at {rate:g} Hz "
        "(name another with --action-spec)",
    )


def with_rate(spec: ActionSpec, rate_hz: float) -> tuple[ActionSpec, tuple[str, ...]]:
    """A spec that a person named, at the rate of the recording, with a warning where that is another."""
    if spec.rate_hz == rate_hz:
        return spec, ()
    return dataclasses.replace(spec, rate_hz=rate_hz), (
        f"the action spec says {spec.rate_hz:g} Hz, the dataset {rate_hz:g}: the dataset is believed",
    )


def _within_one(extremes: tuple[Array, Array]) -> bool:
    low, high = extremes
    return bool(low.min() >= -1 - _RANGE_TOLERANCE and high.max() <= 1 + _RANGE_TOLERANCE)


def _refuse_joints(names: Sequence[str], field: str, file: object) -> None:
    joints = [name for name in names if _JOINTS & set(_words(name))]
    if joints:
        raise DataError(
            "joint space, where SIDO needs the end-effector",
            file=file,
            field=field,
            found=", ".join(joints),
            expected="the pose of the end-effector (x, y, z, a rotation, the gripper)",
            fix="convert the dataset with the robot's forward kinematics",
        )


def _name_the_state() -> str:
    return (
        f"name its entries in {INFO_PATH} (x, y, z; qx, qy, qz, qw or roll, pitch, yaw or wx, wy, wz; gripper), "
        "or add the end-effector's pose to it"
    )


def _words(name: str) -> list[str]:
    return [re.sub(r"\d+$", "", word) for word in re.split(r"[^a-z0-9]+", name.lower()) if word]


def _layout_by_name(names: Sequence[str]) -> StateLayout | None:
    """The layout that the names tell, None if they do not tell all of it."""
    places: dict[tuple[str, str], int] = {}
    gripper: list[int] = []
    for index, name in enumerate(names):
        kind, axis = _role(name)
        if kind == "gripper":
            gripper.append(index)
        elif kind and places.setdefault((kind, axis), index) != index:
            return None  # two arms, or two poses: which one is meant?
    position = _complete(places, "position", "xyz")
    forms: tuple[tuple[Rotation, str], ...] = (("quat_xyzw", "xyzw"), ("axis_angle", "xyz"), ("euler_xyz", "xyz"))
    rotations: list[tuple[Rotation, tuple[int, ...]]] = [
        (form, found) for form, axes in forms if (found := _complete(places, form, axes))
    ]
    if position is None or len(rotations) != 1 or not gripper:
        return None
    form, rotation = rotations[0]
    return StateLayout(position=position, rotation_form=form, rotation=rotation, gripper=tuple(gripper))


def _role(name: str) -> tuple[str, str]:
    """What one name means, and of which axis: `eef_quat_x` is ("quat_xyzw", "x"). ("", "") if it does not say."""
    words = _words(name)
    last, all_words = (words[-1] if words else ""), set(words)
    if {"gripper", "finger", "fingers"} & all_words:
        return "gripper", ""
    if last in ("roll", "pitch", "yaw"):
        return "euler_xyz", "xyz"[("roll", "pitch", "yaw").index(last)]
    if last in ("qx", "qy", "qz", "qw"):
        return "quat_xyzw", last[1]
    if last in ("wx", "wy", "wz", "rx", "ry", "rz"):
        return "axis_angle", last[1]
    if last in ("x", "y", "z", "w") and {"quat", "quaternion"} & all_words:
        return "quat_xyzw", last
    if last in ("x", "y", "z"):
        return ("axis_angle" if {"axis", "rotvec", "rot", "axisangle"} & all_words else "position"), last
    return "", ""


def _complete(places: Mapping[tuple[str, str], int], kind: str, axes: str) -> tuple[int, ...] | None:
    found = [places.get((kind, axis)) for axis in axes]
    return tuple(index for index in found if index is not None) if None not in found else None
