"""The simplest hands: one that stays, and one that grasps: over the object, down, close, up."""

from __future__ import annotations

import numpy as np

from sido.geometry import axis_angle_from_quat
from sido.sim.vector_environment import VectorEnvironment

LAG_S = 0.16
"""2 / sqrt(kp): how far the hand is behind a goal that moves."""


class Reach:
    """Absolute axis-angle actions for every environment of a `VectorEnvironment`, stage by stage."""

    def __init__(self, world: VectorEnvironment, *, then_stack: bool = False) -> None:
        self.world = world
        self.then_stack = then_stack
        self.stage = ["over"] * len(world)
        self.steps = [0] * len(world)
        self.lift_m = [np.zeros(3)] * len(world)
        self.down = axis_angle_from_quat(world.eef_pose.quat_wxyz)

    def actions(self) -> np.ndarray:
        return np.stack([self._action(i) for i in range(len(self.world))])

    def _action(self, i: int) -> np.ndarray:
        world = self.world
        thing, hand = world.object_position[i], world.eef_pose.position[i]
        target = world.target_pose.position[i]
        lead = thing + LAG_S * world.object_velocity_mps[i]
        near = np.hypot(*(thing - hand)[:2]) < 0.008
        height, closing = {"over": (0.08, -1.0), "down": (0.0, -1.0), "close": (0.0, 1.0)}.get(self.stage[i], (0, 1))
        goal = lead + np.array([0.0, 0.0, height])
        self.steps[i] += 1
        match self.stage[i]:
            case "over" if near:
                self._next(i, "down")
            case "down" if near and abs(thing[2] - hand[2]) < 0.006:
                self._next(i, "close")
            case "close" if self.steps[i] > 12:
                self.lift_m[i] = np.array([*hand[:2], hand[2] + 0.12])
                self._next(i, "lift")
            case "lift":
                goal = self.lift_m[i]
                if self.then_stack and self.steps[i] > 15:
                    self._next(i, "across")
            case "across":
                goal = np.array([*(target - thing + hand)[:2], target[2] + 0.07])
                if np.hypot(*(target - thing)[:2]) < 0.006:
                    self._next(i, "lower")
            case "lower":
                goal = target - thing + hand + np.array([0.0, 0.0, 0.002])
                if abs(target[2] - thing[2]) < 0.004:
                    self._next(i, "open")
            case "open":
                goal, closing = hand, -1.0
        return np.concatenate([goal, self.down[i], [closing]])

    def _next(self, i: int, stage: str) -> None:
        self.stage[i], self.steps[i] = stage, 0


def holding(world: VectorEnvironment) -> np.ndarray:
    """Goals where the hands are, the gripper open."""
    eef = world.eef_pose
    return np.concatenate([eef.position, axis_angle_from_quat(eef.quat_wxyz), -np.ones((len(world), 1))], axis=1)
