"""How the arm is controlled."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

from sido.demos.action_spec import ActionSpec, Kind
from sido.errors import SettingError

__all__ = ["OscSettings"]


@final
@dataclass(frozen=True)
class OscSettings:
    """Operational-space control of position and rotation, decoupled: robosuite's OSC_POSE.

    The hand is accelerated by `kp e - kd v` with `kd = 2 damping_ratio sqrt(kp)`, and what freedom is left takes the
    joints to their rest posture by `k (q0 - q) - 2 sqrt(k) q'`. Actions are `[position 3, axis-angle 3, gripper 1]`:
    a goal, or an increment to the pose that the hand has when the control step begins, clipped to +-1.
    """

    action_spec: ActionSpec = field(default_factory=lambda: ActionSpec("absolute"))
    """Absolute, or relative with its scales; axis-angle; in the frame of the base or the world; closing above 0."""
    position_stiffness: float = 150.0
    """kp, 1/s^2."""
    rotation_stiffness: float = 150.0
    damping_ratio: float = 1.0
    rest_stiffness: float = 10.0
    """k, 1/s^2."""

    def __post_init__(self) -> None:
        for name in ("position_stiffness", "rotation_stiffness", "damping_ratio", "rest_stiffness"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise SettingError(
                    "not a usable number", field=f"OscSettings.{name}", found=value, expected="a finite number from 0"
                )
        spec = self.action_spec
        if spec.rotation != "axis_angle" or spec.frame == "tool" or (spec.gripper_open, spec.gripper_closed) != (-1, 1):
            raise SettingError(
                "the controller does not understand these actions",
                field="OscSettings.action_spec",
                found=spec,
                expected="axis-angle, in the frame of the base or the world, gripper -1 open and +1 closed",
                fix="convert the actions with sido.with_rotation",
            )

    @property
    def kind(self) -> Kind:
        return self.action_spec.kind
