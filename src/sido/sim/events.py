"""What happened in a control step, for the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from jaxtyping import Bool, Int

from sido.arrays import Array

__all__ = ["Events"]


@final
@dataclass(frozen=True, eq=False)
class Events:
    """One entry for each environment; all False (and -1) where the episode was over before the step."""

    left_pad: Bool[Array, "N"]
    """The moving object touched this finger's pad at some time of the step."""
    right_pad: Bool[Array, "N"]
    finger: Bool[Array, "N"]
    """It touched some part of the fingers."""
    table: Bool[Array, "N"]
    closing: Bool[Array, "N"]
    """The action told the gripper to close."""
    held: Bool[Array, "N"]
    """Both pads touch it as the step ends."""
    driven: Bool[Array, "N"]
    """It is driven when the next step begins."""
    released_at: Int[Array, "N"]
    """The substep in which a grasp ended the drive; -1 where none did."""
    resumed: Bool[Array, "N"]
    """A grasp was lost some steps ago, and from the next step on it is driven again."""

    @property
    def released(self) -> Bool[Array, "N"]:
        """Where a grasp ended the drive."""
        return self.released_at >= 0
