"""Why an episode ended."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Ending"]


class Ending(StrEnum):
    """Its value is what a person reads, and what `info["ended"]` says."""

    SUCCESS = "success"
    TIME = "time"
    OBJECT_LOST = "object out of the workspace"
    ROBOT_FAULT = "robot fault"

    @property
    def truncates(self) -> bool:
        """Whether the episode could have gone on: Gymnasium's `truncated` rather than `terminated`."""
        return self is Ending.TIME
