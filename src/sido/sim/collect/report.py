"""What a collection cost: the paper's table of static and moving objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from sido.proportion import Proportion

__all__ = ["Report"]


@final
@dataclass(frozen=True)
class Report:
    """Of the attempts up to the last one that was chosen."""

    demos: int
    attempts: int
    endings: Mapping[str, int]
    """How the attempts ended."""
    robot_time_s: float
    """How long the robot moved in all of them: what a teleoperator's clock would have shown, but for the resets."""
    elapsed_s: float
    """How long it took on the clock, interruptions left out."""

    @property
    def success(self) -> Proportion:
        """Demonstrations of attempts."""
        return Proportion(self.demos, self.attempts)

    def settled(self) -> dict[str, Any]:
        """What the recipe decides; the clock is no part of it, so that equal recipes give equal files."""
        low, high = self.success.interval()
        return {
            "demos": self.demos,
            "attempts": self.attempts,
            "success_rate": self.success.rate,
            "success_rate_95": [low, high],
            "endings": dict(self.endings),
            "robot_time_s": self.robot_time_s,
        }

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return self.settled() | {"elapsed_s": self.elapsed_s}
