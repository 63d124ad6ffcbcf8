"""What can go wrong in an environment."""

from __future__ import annotations

import mujoco

from sido.sim.stepper.period import ARM_SINGULAR, FIRST_WARNING, NOT_FINITE

__all__ = ["fault_reason"]

_WARNINGS = {
    "mjWARN_INERTIA": "a body's inertia is singular",
    "mjWARN_CONTACTFULL": "more contacts than there is memory for",
    "mjWARN_CNSTRFULL": "more constraints than there is memory for",
    "mjWARN_BADQPOS": "a position diverged",
    "mjWARN_BADQVEL": "a velocity diverged",
    "mjWARN_BADQACC": "an acceleration diverged",
    "mjWARN_BADCTRL": "a control diverged",
}


def fault_reason(code: int) -> str | None:
    """What a fault code says; None for 0, no fault."""
    if code == 0:
        return None
    if code == ARM_SINGULAR:
        return "the arm is singular: no torque moves the hand in some direction"
    if code == NOT_FINITE:
        return "the state diverged"
    name = mujoco.mjtWarning(code - FIRST_WARNING).name
    return _WARNINGS.get(name, f"mujoco's warning {name}")
