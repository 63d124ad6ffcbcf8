"""The contract of a course: which way an object goes, however fast."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from sido.motion.obstacle import Obstacle
from sido.motion.path import Path
from sido.motion.region import Region
from sido.motion.schedule import Schedule

__all__ = ["Course"]


@runtime_checkable
class Course(Protocol):
    """A frozen value."""

    def shortest_run_m(self, region: Region) -> float:
        """The shortest way that it regularly goes before it turns back; raise where the region is too small for it."""
        ...

    def path(
        self,
        rng: np.random.Generator,
        start: complex,
        region: Region,
        obstacle: Obstacle | None,
        schedule: Schedule,
    ) -> Path:
        """The way from `start`, as long as the schedule travels, inside the region and clear of the obstacle.

        A longer schedule continues a shorter one: whatever is drawn must not depend on its length.
        """
        ...
