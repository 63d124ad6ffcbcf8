"""The motion that is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.motion.motion import require_plannable, seed_pair
from sido.motion.obstacle import Obstacle
from sido.motion.region import Region
from sido.motion.settings import require_at_least
from sido.motion.trajectory import Trajectory

__all__ = ["Still"]


@dataclass(frozen=True)
class Still:
    """The object rests, at whatever speed is commanded (appendix: static)."""

    @property
    def speed_mps(self) -> float:
        """0."""
        return 0.0

    def at_speed(self, speed_mps: float) -> Still:
        """Still."""
        require_at_least(0.0, speed_mps, "speed_mps")
        return self

    def speed_limit_mps(self, _region: Region) -> float:
        """None: any speed may be commanded."""
        return math.inf

    def trajectory(
        self,
        rng: np.random.Generator,
        start: Float[Array, "3"],
        region: Region,
        duration_s: float,
        obstacle: Obstacle | None = None,  # noqa: ARG002
    ) -> Trajectory:
        """`start`, for ever."""
        require_plannable(start, region, duration_s)
        seed_pair(rng)
        table = np.array([[0.0, start[0], start[1], 1.0, 0.0, 0.0, 0.0, 0.0]])
        return Trajectory(table, float(start[2]), duration_s, np.zeros(0))
