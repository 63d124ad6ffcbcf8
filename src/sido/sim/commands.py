"""Actions of any spec, as the controller takes them."""

from __future__ import annotations

import dataclasses

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.demos.absolute import quat_of_rotation
from sido.demos.action_spec import ActionSpec
from sido.errors import DataError, SettingError
from sido.geometry import axis_angle_from_quat

__all__ = ["checked_actions", "controller_commands", "controller_spec"]


def controller_spec(spec: ActionSpec) -> ActionSpec:
    """The same actions as the controller wants them: rotations as axis angles, the gripper from -1 open to +1."""
    if spec.rotation == "none":
        raise SettingError(
            "the controller needs to know how the hand is turned",
            field="action_spec.rotation",
            found=repr(spec.rotation),
            expected="axis_angle, rot6d, quat_wxyz or euler_xyz",
        )
    return dataclasses.replace(spec, rotation="axis_angle", gripper_open=-1.0, gripper_closed=1.0)


def checked_actions(actions: Array, spec: ActionSpec, live: Bool[Array, "N"]) -> Float[Array, "N A"]:
    """A float64 copy of them, 0 for environments whose episode is over: theirs may be anything.

    Raises:
        SettingError: wrong shape, or not finite; names the environment.
    """
    try:
        values = np.array(actions, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SettingError("not numbers", field="actions", found=repr(actions)[:80]) from error
    expected = (len(live), spec.dim)
    if values.shape != expected:
        raise SettingError(
            "wrong shape",
            field="actions",
            found=list(values.shape),
            expected=f"{list(expected)}: environments, numbers of {spec.kind} actions with rotation {spec.rotation}",
        )
    values[~live] = 0.0
    broken = ~np.isfinite(values).all(axis=1)
    if broken.any():
        i = int(np.argmax(broken))
        raise SettingError(
            f"environment {i} got an action that is not finite", field=f"actions[{i}]", found=values[i].tolist()
        )
    return values


def controller_commands(
    actions: Float[Array, "N A"], spec: ActionSpec, live: Bool[Array, "N"], resting: Float[Array, "N 6"]
) -> Float[Array, "N 7"]:
    """Checked actions of `spec` in the form of `controller_spec(spec)`; `resting` for those that are not live.

    Raises:
        SettingError: numbers that are no rotation; names the environment.
    """
    commands = np.zeros((len(actions), 7))
    commands[~live, :6] = resting[~live]
    commands[live, :3] = actions[live, :3]
    rotation = actions[live, spec.rotation_slice]
    try:
        commands[live, 3:6] = _axis_angles(rotation, spec)
    except DataError:
        for i in np.flatnonzero(live).tolist():  # one by one, as the environments are counted
            _require_rotation(i, actions[i, spec.rotation_slice], spec)
        raise
    closing = (actions[live, -1] - spec.gripper_open) / (spec.gripper_closed - spec.gripper_open)
    commands[live, 6] = 2.0 * closing - 1.0
    return commands


def _axis_angles(rotation: Float[Array, "n R"], spec: ActionSpec) -> Float[Array, "n 3"]:
    if spec.rotation == "axis_angle":
        return rotation
    return axis_angle_from_quat(quat_of_rotation(rotation, spec.rotation))


def _require_rotation(i: int, rotation: Float[Array, "R"], spec: ActionSpec) -> None:
    try:
        _axis_angles(rotation[None], spec)
    except DataError as error:
        raise SettingError(
            f"environment {i} got an action whose rotation is none: {error.problem}",
            field=f"actions[{i}]",
            found=rotation.tolist(),
            expected=spec.rotation,
        ) from error
