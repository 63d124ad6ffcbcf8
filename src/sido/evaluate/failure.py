"""Why an episode failed, from its log."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from sido.evaluate.grasps import first_closing, grasps_of, lead_m
from sido.evaluate.rollout import Rollout

__all__ = ["Failure", "failure_of"]

_BESIDE_M = 0.005
"""A hand that closed ahead or behind by less was off to the side, or too high."""


class Failure(StrEnum):
    """The last thing that went wrong; its value is what a person reads."""

    ROBOT_FAULT = "robot fault"
    OBJECT_LOST = "knocked or dropped out of the workspace"
    NEVER_CLOSED = "never tried to grasp"
    CLOSED_BEHIND = "closed behind the object"
    CLOSED_AHEAD = "closed ahead of the object"
    CLOSED_BESIDE = "closed beside the object"
    SLIPPED = "touched, but did not lift it"
    DROPPED = "lifted and lost it"
    NOT_PLACED = "still held it at the end"
    MISPLACED = "put it in a wrong place"


def failure_of(rollout: Rollout) -> Failure | None:
    """None of a success."""
    endings = {"robot fault": Failure.ROBOT_FAULT, "object out of the workspace": Failure.OBJECT_LOST}
    if rollout.success:
        return None
    if rollout.ending in endings:
        return endings[rollout.ending]
    closing = first_closing(rollout)
    if closing is None:
        return Failure.NEVER_CLOSED
    grasps = grasps_of(rollout)
    if not grasps:
        return _missed(lead_m(rollout, closing))
    if not any(grasp.lifted for grasp in grasps):
        return Failure.SLIPPED
    last = grasps[-1]
    if last.stop == len(rollout):
        return Failure.NOT_PLACED if last.lifted else Failure.SLIPPED
    return Failure.DROPPED if rollout.closing[last.stop - 1] else Failure.MISPLACED


def _missed(lead: float) -> Failure:
    if not np.isfinite(lead) or abs(lead) < _BESIDE_M:
        return Failure.CLOSED_BESIDE
    return Failure.CLOSED_AHEAD if lead > 0 else Failure.CLOSED_BEHIND
