"""The motion of a driven object: a course, travelled at a pace."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.motion.course import Course
from sido.motion.motion import require_plannable, seed_pair
from sido.motion.obstacle import Obstacle
from sido.motion.pace import Pace
from sido.motion.region import Region
from sido.motion.trajectory import Trajectory

__all__ = ["SHORTEST_RUN_S", "Driven"]

SHORTEST_RUN_S = 0.4
"""One executed chunk, `T_a` = 8 steps of 20 Hz: an object that ran from edge to edge of its region in less would turn
back more often than a policy plans."""


@dataclass(frozen=True)
class Driven:
    """Any course at any pace: `Driven(Circle(0.05), Steady(0.02))`."""

    course: Course
    pace: Pace

    @property
    def speed_mps(self) -> float:
        """The pace's mean."""
        return self.pace.mean_speed_mps

    def at_speed(self, speed_mps: float) -> Driven:
        """The same course, at the pace with this mean."""
        return dataclasses.replace(self, pace=self.pace.at_speed(speed_mps))

    def speed_limit_mps(self, region: Region) -> float:
        """Its shortest run may not take less than `SHORTEST_RUN_S` at the highest speed of the pace."""
        peak_of_mean = self.pace.peak_speed_mps / self.speed_mps if self.speed_mps > 0.0 else 1.0
        return self.course.shortest_run_m(region) / SHORTEST_RUN_S / peak_of_mean

    def trajectory(
        self,
        rng: np.random.Generator,
        start: Float[Array, "3"],
        region: Region,
        duration_s: float,
        obstacle: Obstacle | None = None,
    ) -> Trajectory:
        """Lay the course for as long a way as the pace travels."""
        require_plannable(start, region, duration_s)
        limit = self.speed_limit_mps(region)
        if self.speed_mps > limit:
            raise SettingError(
                "too fast for the region",
                field="speed_mps",
                found=f"{self.speed_mps:g} m/s",
                expected=f"{limit:.3g} m/s at most in {region.size_m[0]:g} x {region.size_m[1]:g} m",
                fix="a lower speed, or a larger region",
            )
        way_seed, speed_seed = seed_pair(rng)
        schedule = self.pace.schedule(np.random.default_rng(speed_seed), duration_s)
        here = complex(start[0], start[1])
        standing = None if obstacle is None else obstacle.placed(region)
        path = self.course.path(np.random.default_rng(way_seed), here, region, standing, schedule)
        return Trajectory.of(path, schedule, float(start[2]))
