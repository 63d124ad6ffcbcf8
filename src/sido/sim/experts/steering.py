"""The way from where the hand is to where it is sent: smooth, no faster than it should be, in the action's own form.

A goal that is moved on from the hand at every control step, `g = p + lag v`, makes operational-space control a
velocity control: with `p'' = kp (g - p) - kd p'`, `kd = 2 sqrt(kp)`, the hand goes at `v` if

    lag = 2 / sqrt(kp) + period / 2,

the second part being what it gains on a goal that stands still for a period. So the hand is steered by velocities,
`v = goal's own + (goal - hand) / lag`, whose size and change are limited. The goal is never further away than one
relative action reaches: absolute and relative actions then command the same.
"""

from __future__ import annotations

from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.demos.absolute import in_frame, rotation_of_quat
from sido.demos.action_spec import ActionSpec
from sido.geometry import Pose, axis_angle_from_quat, quat_conjugate, quat_from_axis_angle, quat_multiply
from sido.sim.experts.sight import Goal
from sido.sim.osc import OscSettings

__all__ = ["Steering", "in_action_spec"]

REACH_M, REACH_RAD = 0.05, 0.5
"""Of one relative action of robosuite's controller."""
ACCELERATION_MPS2, ACCELERATION_RADPS2 = 2.0, 12.0
"""At most, of what is commanded: a calm hand's."""


@final
class Steering:
    """The velocities that `N` hands were last told.

    Args:
        envs: How many.
        spec: What the actions mean.
        speed: As a share of the usual one; the accelerations follow.
    """

    def __init__(self, envs: int, *, spec: ActionSpec, speed: float) -> None:
        osc, period_s = OscSettings(), 1.0 / spec.rate_hz
        relative = spec.kind == "relative"
        self.lag_s = 2.0 / osc.position_stiffness**0.5 + period_s / 2
        self._turning_lag_s = 2.0 / osc.rotation_stiffness**0.5 + period_s / 2
        self._reach_m = min(REACH_M, spec.position_scale_m) if relative else REACH_M
        self._reach_rad = min(REACH_RAD, spec.rotation_scale_rad) if relative else REACH_RAD
        self._change_mps = ACCELERATION_MPS2 * speed * period_s
        self._change_radps = ACCELERATION_RADPS2 * speed * period_s
        self._velocity_mps = np.zeros((envs, 3))
        self._turning_radps = np.zeros((envs, 3))

    def forget(self, which: Bool[Array, "N"]) -> None:
        """There the hand rests."""
        self._velocity_mps[which] = 0.0
        self._turning_radps[which] = 0.0

    def steer(
        self, hand: Pose, goal: Goal, speed_mps: Float[Array, "N"], turning_radps: Float[Array, "N"]
    ) -> tuple[Float[Array, "N 3"], Float[Array, "N 3"]]:
        """How far to send the hand in this step: metres, and axis angle; base frame.

        Args:
            hand: Where it is.
            goal: Where it is to come.
            speed_mps: At most, seen from the goal.
            turning_radps: At most.
        """
        away = axis_angle_from_quat(quat_multiply(goal.quat_wxyz, quat_conjugate(hand.quat_wxyz)))
        wanted = goal.velocity_mps + _cut((goal.position - hand.position) / self.lag_s, speed_mps)
        turning = _cut(away / self._turning_lag_s, turning_radps)
        change, turn_change = wanted - self._velocity_mps, turning - self._turning_radps
        velocity_mps = self._velocity_mps + _cut(change, self._change_mps)
        turning_radps = self._turning_radps + _cut(turn_change, self._change_radps)
        self._velocity_mps = _cut(velocity_mps, self._reach_m / self.lag_s)
        self._turning_radps = _cut(turning_radps, self._reach_rad / self._turning_lag_s)
        return self.lag_s * self._velocity_mps, self._turning_lag_s * self._turning_radps


def in_action_spec(
    hand: Pose,
    way: tuple[Float[Array, "N 3"], Float[Array, "N 3"]],
    closed: Bool[Array, "N"],
    spec: ActionSpec,
    world_from_base: Pose,
) -> Float[Array, "N A"]:
    """Ways from where the hand is, base frame, as actions of `spec`."""
    gripper = np.where(closed, spec.gripper_closed, spec.gripper_open)[:, None]
    step, turn = way
    if spec.kind == "absolute":
        goal = quat_multiply(quat_from_axis_angle(turn), hand.quat_wxyz)
        parts = (hand.position + step, rotation_of_quat(goal, spec.rotation), gripper)
    else:
        parts = (step / spec.position_scale_m, turn / spec.rotation_scale_rad, gripper)
    actions = np.concatenate(parts, axis=1)
    return in_frame(actions, spec, world_from_base) if spec.frame == "world" else actions


def _cut(vectors: Float[Array, "N 3"], longest: Float[Array, "N"] | float) -> Float[Array, "N 3"]:
    """Shortened to `longest` where they are longer, their directions kept."""
    length = np.sqrt((vectors**2).sum(axis=1))
    share = np.minimum(np.asarray(longest) / np.maximum(length, 1e-12), 1.0)
    return vectors * share[:, None]
