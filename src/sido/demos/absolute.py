"""What relative actions aim at, without a simulator; and the other forms that the same goal can take.

robosuite's OSC controller anchors every increment at the pose that the hand has when the action arrives. With the
site pose `(p, R)` of that moment, the command `a` (cut to [-1, 1]) and the scales `s_p`, `s_r`:

    base frame:  p_goal = p + s_p a_p       R_goal = exp(s_r a_r) R
    tool frame:  p_goal = p + R s_p a_p     R_goal = R exp(s_r a_r)

One exception is not reproduced: robosuite 1.4 keeps its *previous* rotation goal when all of `a_r` is exactly zero;
1.5 does not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.demos.action_spec import ActionSpec, RotationForm
from sido.demos.demo import Demo
from sido.errors import DataError, SettingError
from sido.geometry import (
    Pose,
    axis_angle_from_quat,
    euler_xyz_from_matrix,
    matrix_from_euler_xyz,
    matrix_from_quat,
    matrix_from_rot6d,
    quat_conjugate,
    quat_from_axis_angle,
    quat_from_matrix,
    quat_multiply,
    rot6d_from_matrix,
    rotate,
    unit_quat,
)

__all__ = ["in_frame", "quat_of_rotation", "rotation_of_quat", "to_absolute", "to_relative", "with_rotation"]

Actions = Float[Array, "T A"]
Quats = Float[Array, "T 4"]


def to_absolute(demo: Demo) -> Demo:
    """The same demonstration with the goals of its increments: poses in the base frame, rotations as axis angles.

    One whose actions are absolute already is returned as it is, so that a dataset of either kind can be mapped.
    """
    spec = demo.action_spec
    if spec.kind == "absolute":
        return demo
    if spec.frame == "world":
        raise _needs_base("increments", demo, expected="'base' or 'tool'")
    command = np.clip(demo.actions[:, :-1], -1.0, 1.0)
    step = command[:, :3] * spec.position_scale_m
    parts: list[Array] = [demo.eef_position + (rotate(demo.eef_quat_wxyz, step) if spec.frame == "tool" else step)]
    if spec.rotation == "axis_angle":
        turn = quat_from_axis_angle(command[:, 3:] * spec.rotation_scale_rad)
        anchored = (demo.eef_quat_wxyz, turn) if spec.frame == "tool" else (turn, demo.eef_quat_wxyz)
        parts.append(axis_angle_from_quat(quat_multiply(*anchored)))
    goal = dataclasses.replace(spec, kind="absolute", frame="base", position_scale_m=1.0, rotation_scale_rad=1.0)
    return _with_actions(demo, np.concatenate([*parts, demo.actions[:, -1:]], axis=1), goal)


def to_relative(demo: Demo, like: ActionSpec) -> Demo:
    """The same demonstration with increments as `like` measures them: the inverse of `to_absolute`.

    A goal that lies further away than one increment reaches is cut to the reach, axis by axis, as MimicGen does.
    """
    _require(demo, "absolute", to="relative")
    spec = demo.action_spec
    if spec.frame != "base":
        raise _needs_base("goals", demo, expected="'base', as the hand's poses are")
    if like.kind != "relative" or like.frame == "world" or (like.rotation == "none") != (spec.rotation == "none"):
        raise SettingError(
            "cannot make such actions of absolute ones",
            field="like",
            found=f"{like.kind}, {like.frame} frame, rotation {like.rotation!r}",
            expected="relative, base or tool frame, rotation "
            + ("'none', as the goals have none" if spec.rotation == "none" else "'axis_angle'"),
        )
    if like.rate_hz != spec.rate_hz:
        raise DataError(
            "the rates differ, and sido does not resample", demo=demo.name, found=spec.rate_hz, expected=like.rate_hz
        )
    tool, back = like.frame == "tool", quat_conjugate(demo.eef_quat_wxyz)
    step = demo.actions[:, :3] - demo.eef_position
    parts = [(rotate(back, step) if tool else step) / like.position_scale_m]
    if spec.rotation != "none":
        goal = quat_of_rotation(demo.actions[:, spec.rotation_slice], spec.rotation)
        turn = quat_multiply(back, goal) if tool else quat_multiply(goal, back)
        parts.append(axis_angle_from_quat(turn) / like.rotation_scale_rad)
    return _with_actions(
        demo, np.concatenate([np.clip(np.concatenate(parts, axis=1), -1.0, 1.0), _gripper(demo, like)], axis=1), like
    )


def with_rotation(demo: Demo, rotation: RotationForm) -> Demo:
    """The same absolute actions with their rotations in another form: "rot6d" for a network, "axis_angle" for OSC."""
    _require(demo, "absolute", to=f"absolute ones with {rotation}")
    spec = demo.action_spec
    if rotation == spec.rotation:
        return demo
    quat = quat_of_rotation(demo.actions[:, spec.rotation_slice], spec.rotation)
    parts = [demo.actions[:, :3], rotation_of_quat(quat, rotation), demo.actions[:, -1:]]
    return _with_actions(demo, np.concatenate(parts, axis=1), dataclasses.replace(spec, rotation=rotation))


def in_frame(actions: Actions, spec: ActionSpec, into_from_of: Pose) -> Actions:
    """Actions of the frame `of`, told in the frame `into`. Increments turn with the frame, goals move with it too."""
    parts = [rotate(into_from_of.quat_wxyz, actions[:, :3])]
    if spec.kind == "absolute":
        parts[0] = parts[0] + into_from_of.position
    if spec.kind == "relative" and spec.rotation != "none":
        parts.append(rotate(into_from_of.quat_wxyz, actions[:, spec.rotation_slice]))  # an axis turns as a vector does
    elif spec.rotation != "none":
        quat = quat_of_rotation(actions[:, spec.rotation_slice], spec.rotation)
        parts.append(rotation_of_quat(quat_multiply(into_from_of.quat_wxyz, quat), spec.rotation))
    return np.concatenate([*parts, actions[:, -1:]], axis=1)


def quat_of_rotation(values: Float[Array, "T R"], rotation: RotationForm) -> Quats:
    """Rotations in one of the forms of `ActionSpec`, as unit quaternions wxyz."""
    return _form(rotation)[0](values)


def rotation_of_quat(quat_wxyz: Quats, rotation: RotationForm) -> Float[Array, "T R"]:
    """Unit quaternions wxyz, in one of the forms of `ActionSpec`."""
    return _form(rotation)[1](quat_wxyz)


_FORMS: dict[RotationForm, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "axis_angle": (quat_from_axis_angle, axis_angle_from_quat),
    "quat_wxyz": (unit_quat, unit_quat),
    "rot6d": (
        lambda rows: quat_from_matrix(matrix_from_rot6d(rows)),
        lambda quat: rot6d_from_matrix(matrix_from_quat(quat)),
    ),
    "euler_xyz": (
        lambda angles: quat_from_matrix(matrix_from_euler_xyz(angles)),
        lambda quat: euler_xyz_from_matrix(matrix_from_quat(quat)),
    ),
}


def _form(rotation: RotationForm) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    if rotation not in _FORMS:
        raise SettingError(
            "actions without a rotation have no form of it", found=rotation, expected=f"one of {list(_FORMS)}"
        )
    return _FORMS[rotation]


def _gripper(demo: Demo, like: ActionSpec) -> Float[Array, "T 1"]:
    spec, command = demo.action_spec, demo.actions[:, -1:]
    if (spec.gripper_open, spec.gripper_closed) == (like.gripper_open, like.gripper_closed):
        return command
    closing = (command - spec.gripper_open) / (spec.gripper_closed - spec.gripper_open)
    return like.gripper_open + closing * (like.gripper_closed - like.gripper_open)


def _needs_base(what: str, demo: Demo, *, expected: str) -> DataError:
    return DataError(
        f"{what} in the world frame need to know where the robot stands",
        demo=demo.name,
        field="action_spec.frame",
        found="'world'",
        expected=expected,
        fix="use in_frame() with base_from_world first",
    )


def _require(demo: Demo, kind: str, *, to: str) -> None:
    if demo.action_spec.kind != kind:
        raise DataError(
            f"only {kind} actions can be made {to}",
            demo=demo.name,
            field="action_spec.kind",
            found=demo.action_spec.kind,
        )


def _with_actions(demo: Demo, actions: Actions, spec: ActionSpec) -> Demo:
    return dataclasses.replace(demo, actions=actions, action_spec=spec)
