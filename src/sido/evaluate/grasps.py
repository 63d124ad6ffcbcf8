"""Grasps in the log of an episode."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sido.evaluate.rollout import Rollout

__all__ = ["LIFTED_M", "Grasp", "first_closing", "grasps_of", "lead_m"]

LIFTED_M = 0.03
"""An object so far above where it began has been lifted."""
_FLICKER_STEPS = 4
"""Contacts flicker: a grasp goes on over so many steps without them."""
_STILL_MPS = 1e-4


class Grasp(NamedTuple):
    """Both pads hold the object, from step `start` up to, and not including, `stop`."""

    start: int
    stop: int
    lifted: bool


def grasps_of(rollout: Rollout) -> list[Grasp]:
    """In order. One that lasts until the end stops there."""
    steps = np.flatnonzero(rollout.held)
    if len(steps) == 0:
        return []
    breaks = np.flatnonzero(np.diff(steps) > _FLICKER_STEPS + 1)
    starts, lasts = steps[np.append(0, breaks + 1)], steps[np.append(breaks, len(steps) - 1)]
    height_m = rollout.object_position[:, 2] - rollout.object_position[0, 2]
    grasps: list[Grasp] = []
    for start, last in zip(starts.tolist(), lasts.tolist(), strict=True):
        stop = last + 1 if last + 1 + _FLICKER_STEPS < len(rollout) else len(rollout)
        grasps.append(Grasp(start, stop, bool((height_m[start : stop + 1] >= LIFTED_M).any())))
    return grasps


def first_closing(rollout: Rollout) -> int | None:
    """The first step whose action tells the gripper to close: `T_g` of a rollout. None if there is none."""
    return int(np.argmax(rollout.closing)) if rollout.closing.any() else None


def lead_m(rollout: Rollout, step: int) -> float:
    """How far the hand is ahead of the object, along the object's way; negative behind.

    NaN where nothing drives it: an object that a finger pushes has no way of its own.
    """
    velocity = rollout.object_velocity_mps[step, :2].astype(float)
    speed = float(np.hypot(*velocity))
    if speed < _STILL_MPS or not rollout.driven[max(step - 1, 0)]:
        return float("nan")
    return float((rollout.eef_position[step, :2] - rollout.object_position[step, :2]) @ velocity / speed)
