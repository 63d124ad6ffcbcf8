"""A demonstration as the dynamics model sees it: states of the hand, and what it was told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.demos.absolute import quat_of_rotation
from sido.demos.action_spec import ActionSpec
from sido.demos.demo import Demo
from sido.errors import DataError
from sido.geometry import matrix_from_quat, rot6d_from_matrix

__all__ = ["ROTATION", "RobotMotion", "command_size", "encoded_commands", "state_size"]

ROTATION = 6
"""Numbers of an orientation: rot6d, as axis angles jump where a hand points down."""


@final
@dataclass(frozen=True, eq=False)
class RobotMotion:
    """The paper's `s_bar = [p, omega, g, p', p'']` at every step, and the actions.

    `p'` and `p''` are first and second differences of positions, metres per step and per step squared: what a dataset
    of any robot has. Before the first step the hand is taken to have rested.
    """

    name: str
    states: Float[Array, "T S"]
    """`[p 3, rot6d 6, g G, p' 3, p'' 3]`, base frame."""
    commands: Float[Array, "T C"]
    """Actions as `encoded_commands` has them."""
    steps: int
    """How many transitions precede the grasp; the object never moves in these, so they show the controller only."""

    @classmethod
    def of(cls, demo: Demo) -> RobotMotion:
        """Raises:
        DataError: a demonstration without a grasp, or actions in the tool's frame.
        """  # noqa: D205
        if demo.grasp is None:
            raise DataError(
                "without a grasp nothing says how long the robot was free",
                demo=demo.name,
                field="grasp",
                fix="leave the demonstration out, or annotate its grasp",
            )
        position = demo.eef_position
        velocity, acceleration = np.zeros_like(position), np.zeros_like(position)
        velocity[1:] = np.diff(position, axis=0)
        acceleration[1:] = np.diff(velocity, axis=0)
        rotation = rot6d_from_matrix(matrix_from_quat(demo.eef_quat_wxyz))
        return cls(
            name=demo.name,
            states=np.concatenate([position, rotation, demo.gripper, velocity, acceleration], axis=1),
            commands=encoded_commands(demo.actions, demo.action_spec),
            steps=min(demo.grasp.index, len(demo) - 1),
        )


def state_size(gripper_joints: int) -> int:
    """`S`."""
    return 3 + ROTATION + gripper_joints + 6


def command_size(spec: ActionSpec) -> int:
    """`C`."""
    if spec.rotation == "none":
        return 4
    return spec.dim if spec.kind == "relative" else 3 + ROTATION + 1


def encoded_commands(actions: Float[Array, "T A"], spec: ActionSpec) -> Float[Array, "T C"]:
    """Actions with the rotations of absolute ones as rot6d: `[position 3, rotation 0, 3 or 6, gripper 1]`.

    Raises:
        DataError: increments in the tool's frame, which do not add up to a displacement of the hand.
    """
    if spec.frame == "tool":
        raise DataError(
            "the model needs to know where an action moves the hand",
            field="ActionSpec.frame",
            found="'tool'",
            expected="'base'",
            fix="convert the dataset to absolute actions",
        )
    if spec.kind == "relative" or spec.rotation in ("none", "rot6d"):
        return actions
    quat = quat_of_rotation(actions[:, spec.rotation_slice], spec.rotation)
    rotation = rot6d_from_matrix(matrix_from_quat(quat))
    return np.concatenate([actions[:, :3], rotation, actions[:, -1:]], axis=1)
