"""The motions by name."""

from __future__ import annotations

import difflib

from sido.errors import SettingError
from sido.motion.circle import Circle
from sido.motion.driven import Driven
from sido.motion.lines import AlongAxis, RandomDirection, Sway, Waypoints
from sido.motion.motion import Motion
from sido.motion.paces import Resampled, Steady, StopAndGo, Surging
from sido.motion.still import Still

__all__ = ["MOTIONS", "motion_named"]

MOTIONS: dict[str, Motion] = {
    "still": Still(),
    "x": Driven(AlongAxis("x"), Steady(0.02)),
    "y": Driven(AlongAxis("y"), Steady(0.02)),
    "circle": Driven(Circle(0.05), Steady(0.02)),
    "random": Driven(RandomDirection(0.8), Steady(0.02)),
    "variable-speed": Driven(Waypoints(0.31), Resampled((0.015, 0.030, 0.045), 0.31)),
    "gantry": Driven(Waypoints(0.31), Steady(0.015)),
    "peachtree": Driven(Sway(0.30, "y"), Steady(0.015)),
    # The paper has no motion whose speed changes smoothly, or that pauses.
    "accelerating": Driven(AlongAxis("x"), Surging(0.02)),
    "stop-and-go": Driven(AlongAxis("x"), StopAndGo(0.02)),
}
"""By the name that `--motion` takes, at the paper's speeds."""


def motion_named(name: str, speed_mps: float | None = None) -> Motion:
    """One of `MOTIONS`, at the commanded speed if one is given.

    Raises:
        SettingError: no such motion, or a speed that it cannot have.
    """
    if name not in MOTIONS:
        close = difflib.get_close_matches(name.lower(), MOTIONS, n=1, cutoff=0.3)
        raise SettingError(
            "unknown motion",
            found=repr(name),
            expected=f"one of {', '.join(MOTIONS)}",
            fix=f"did you mean {close[0]!r}?" if close else None,
        )
    if speed_mps is None:
        return MOTIONS[name]
    motion = MOTIONS[name].at_speed(speed_mps)
    if speed_mps > 0 and motion == Still():
        moving = ", ".join(other for other in MOTIONS if other != name)
        raise SettingError(
            "a still object has no speed",
            found=f"motion {name!r} at {speed_mps:g} m/s",
            expected=f"with a speed, one of {moving}",
            fix="name the motion that it is the speed of, or leave the speed out",
        )
    return motion
