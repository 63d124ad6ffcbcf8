"""One episode that a policy played, step by step: the log from which every metric is derived."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Float32, Int

from sido.arrays import Array, read_only
from sido.errors import DataError

__all__ = ["MOMENTS", "STEPS", "TURN_RAD", "Rollout"]

TURN_RAD = np.pi / 4
"""A jump of the object's heading that counts as a turn."""


@final
@dataclass(frozen=True, eq=False)
class Rollout:
    """`T` control steps. Row `t` of what is seen was so before action `t`; the last row is how it ended.

    Metres, radians, seconds; base frame. Single precision, as it is stored: metrics of a rollout that has just been
    played, and of the same one read from its file, are equal to the last bit.
    """

    seed: int
    ending: str
    """A value of `sido.sim.ending.Ending`."""
    fault: str
    """What went wrong, where the robot's fault ended it; else empty."""
    period_s: float
    """Of a control step."""
    turns_s: Float32[Array, " K"]
    """When the object's heading would jump by `TURN_RAD` or more if nobody touched it: its plan knows. The same
    for every policy that meets this seed and motion."""

    eef_position: Float32[Array, "M 3"]
    eef_quat_wxyz: Float32[Array, "M 4"]
    gripper: Float32[Array, "M G"]
    object_position: Float32[Array, "M 3"]
    """Where it truly was."""
    object_velocity_mps: Float32[Array, "M 3"]
    seen_position: Float32[Array, "M 3"]
    """Where the pose estimator saw it last,"""
    seen_time_s: Float32[Array, " M"]
    """and when that was."""
    target_position: Float32[Array, "M 3"]
    """Where the task wants the object."""

    action: Float32[Array, "T A"]
    planned: Bool[Array, " T"]
    """A new chunk begins with this action."""
    chunk_step: Int[Array, " T"]
    """Which of its chunk it is, from 0."""
    phase: Int[Array, " T"]
    """Of `sido.control.Phase`."""
    channel: Float32[Array, "T 3"]
    """What the policy was told of the object's position when it planned this chunk; NaN if nothing."""
    channel_time_s: Float32[Array, " T"]
    """Of when that is."""
    shift_m: Float32[Array, "T 3"]
    """By how much the action was shifted after the object."""
    closing: Bool[Array, " T"]
    """The action told the gripper to close."""
    left_pad: Bool[Array, " T"]
    """The object touched it in this step."""
    right_pad: Bool[Array, " T"]
    finger: Bool[Array, " T"]
    table: Bool[Array, " T"]
    held: Bool[Array, " T"]
    """Both pads touched it when the step ended."""
    driven: Bool[Array, " T"]
    """It is driven in the next step."""
    released: Bool[Array, " T"]
    """A grasp ended the drive in this step."""
    resumed: Bool[Array, " T"]
    """A grasp had been lost; from the next step on it is driven again."""

    def __post_init__(self) -> None:
        for name in (*MOMENTS, *STEPS):
            array: Any = getattr(self, name)
            expected = len(self) + (name in MOMENTS)
            if len(array) != expected:
                raise DataError("wrong length", field=f"Rollout.{name}", found=len(array), expected=expected)
            object.__setattr__(self, name, read_only(array))

    def __len__(self) -> int:
        return len(self.action)

    @property
    def success(self) -> bool:
        return self.ending == "success"

    @property
    def duration_s(self) -> float:
        return len(self) * self.period_s


_ABOUT = ("seed", "ending", "fault", "period_s", "turns_s")
MOMENTS = (
    "eef_position", "eef_quat_wxyz", "gripper", "object_position", "object_velocity_mps", "seen_position",
    "seen_time_s", "target_position",
)  # fmt: skip
"""The arrays with a row for each moment: one more than there are actions."""
STEPS = tuple(field.name for field in fields(Rollout) if field.name not in (*_ABOUT, *MOMENTS))
"""The arrays with a row for each action."""
