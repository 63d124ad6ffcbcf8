"""How a task is played."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, field
from typing import final

from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.errors import SettingError
from sido.motion import CUBE_CLEARANCE_M, Motion, PassBeside, PlaceOutside, Reverse, Rule, Still
from sido.sim.pose_estimator import PoseEstimator

__all__ = ["OBSTACLE_RULES", "EnvironmentSettings", "obstacle_rule"]

OBSTACLE_RULES: dict[str, Rule] = {
    "reverse": Reverse(),
    "pass-beside": PassBeside(),
    "outside": PlaceOutside(),
}
"""By the name that `--obstacle` takes. With "outside" nothing stands in the way: a study without reversals."""


@final
@dataclass(frozen=True)
class EnvironmentSettings:
    """All that a task leaves open."""

    action_spec: ActionSpec = ACTION_SPECS["osc-absolute"]
    motion: Motion = field(default_factory=Still)
    """A still object (or one of speed 0) is free from the start: a finger may push it."""
    obstacle_rule: Rule = field(default_factory=Reverse)
    """What the moving object does where the task's obstacle stands in its way."""
    clearance_m: float = CUBE_CLEARANCE_M
    """Between the centres of the moving object and of the obstacle."""
    pose_estimator: PoseEstimator = field(default_factory=PoseEstimator)
    arm_noise_rad: float = 0.02
    """Standard deviation of the arm's joints about their home at a reset, as robosuite's."""
    lost_after_steps: int = 4
    """A grasp is lost when no finger has touched the object for so many control steps and it is back at rest."""
    longest_s: float | None = None
    """Ends episodes before the task's own time is over."""

    def __post_init__(self) -> None:
        if self.longest_s is not None and not self.longest_s > 0.0:
            raise SettingError(
                "not usable", field="EnvironmentSettings.longest_s", found=self.longest_s, expected="above 0"
            )
        if not (math.isfinite(self.arm_noise_rad) and self.arm_noise_rad >= 0):
            raise SettingError(
                "not usable", field="EnvironmentSettings.arm_noise_rad", found=self.arm_noise_rad, expected="0 or more"
            )
        if self.lost_after_steps < 1:
            raise SettingError(
                "too few",
                field="EnvironmentSettings.lost_after_steps",
                found=self.lost_after_steps,
                expected="1 or more",
            )


def obstacle_rule(name: str) -> Rule:
    """One of `OBSTACLE_RULES`.

    Raises:
        SettingError: there is none of that name.
    """
    if name not in OBSTACLE_RULES:
        close = difflib.get_close_matches(name, OBSTACLE_RULES, n=1, cutoff=0.0)
        raise SettingError(
            "unknown rule for the obstacle",
            found=repr(name),
            expected=f"one of {', '.join(OBSTACLE_RULES)}",
            fix=f"did you mean {close[0]!r}?",
        )
    return OBSTACLE_RULES[name]
