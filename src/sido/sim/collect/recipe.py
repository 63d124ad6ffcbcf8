"""All that decides which demonstrations are collected."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, final

from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.errors import SettingError
from sido.motion import motion_named
from sido.sim.collect.placements import PLACEMENTS
from sido.sim.experts import ExpertSettings
from sido.sim.settings import EnvironmentSettings, obstacle_rule

__all__ = ["PRESETS", "WRIST_CAMERA", "Recipe", "preset"]

PRESETS: dict[str, dict[str, int]] = {
    "stack": {"random": 200},
    "square": {"random": 1000},
    "mug": {"random": 1000},
    "gantry": {"grid": 64, "x": 30, "y": 22, "random": 64},
    "peachtree": {"random": 25},
}
"""How many demonstrations the paper has of each task, by placements; the first are the ones to take."""

WRIST_CAMERA = "robot0_eye_in_hand"


@final
@dataclass(frozen=True)
class Recipe:
    """The same recipe gives the same demonstrations, whoever plays them, and in whatever portions."""

    task: str
    """Of `sido.sim.tasks.TASKS`."""
    demos: int
    action_spec: ActionSpec = ACTION_SPECS["osc-absolute"]
    motion: str = "still"
    """Of `sido.motion.MOTIONS`."""
    speed_mps: float | None = None
    """By default, the motion's own."""
    obstacle: str = "reverse"
    """Of `sido.sim.settings.OBSTACLE_RULES`."""
    expert: ExpertSettings = field(default_factory=ExpertSettings)
    placements: str = "random"
    """Of `PLACEMENTS`."""
    cameras: tuple[str, ...] = ()
    image_size: int = 84
    """Height and width, pixels."""
    seed: int = 0
    """Of attempt 0; attempt `k` has `seed + k`."""

    def __post_init__(self) -> None:
        if self.demos < 1:
            raise SettingError("too few", field="demos", found=self.demos, expected="1 or more")
        if self.image_size < 1:
            raise SettingError("not a size", field="image_size", found=self.image_size, expected="pixels, 1 or more")
        if not 0 <= self.seed < 2**62:
            raise SettingError("not a seed", field="seed", found=self.seed, expected="0 or more, below 2^62")
        if self.placements not in PLACEMENTS:
            raise SettingError(
                "unknown placements", found=repr(self.placements), expected=f"one of {', '.join(PLACEMENTS)}"
            )
        if self.action_spec.frame == "world":
            raise SettingError(
                "demonstrations are kept in the robot's frame",
                field="action_spec.frame",
                found="'world'",
                expected="'base'",
            )
        self.environment_settings()  # names that are unknown

    def environment_settings(self) -> EnvironmentSettings:
        """How the task is played."""
        return EnvironmentSettings(
            action_spec=self.action_spec,
            motion=motion_named(self.motion, self.speed_mps),
            obstacle_rule=obstacle_rule(self.obstacle),
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it, the speed spelt out."""
        return dataclasses.asdict(self) | {"speed_mps": self.environment_settings().motion.speed_mps}


def preset(task: str, placements: str | None = None) -> tuple[str, int | None]:
    """The paper's placements of a task and its number of demonstrations for them; None where it has none."""
    known = PRESETS.get(task, {"random": 200})
    chosen = next(iter(known)) if placements is None else placements
    return chosen, known.get(chosen)
