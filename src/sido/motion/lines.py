"""Courses of straight lines: along an axis, swaying, in random directions, towards random targets."""

from __future__ import annotations

import cmath
import itertools
import math
from dataclasses import dataclass

import numpy as np

from sido.errors import SettingError
from sido.motion.obstacle import NoRoomError, Obstacle
from sido.motion.path import Path
from sido.motion.region import Axis, Region
from sido.motion.schedule import Schedule
from sido.motion.settings import require_above
from sido.motion.walk import Walk

__all__ = ["AlongAxis", "RandomDirection", "Sway", "Waypoints"]


@dataclass(frozen=True)
class AlongAxis:
    """To and fro across the region, parallel to one axis; which way first is drawn (appendix: x-axis, y-axis)."""

    axis: Axis = "x"

    def shortest_run_m(self, region: Region) -> float:
        """The region's extent along the axis."""
        return region.extent_m(self.axis)

    def path(
        self, rng: np.random.Generator, start: complex, region: Region, obstacle: Obstacle | None, schedule: Schedule
    ) -> Path:
        """A triangle wave along the axis, reflected by the region's edges."""
        walk = Walk(start, region, obstacle)
        forward = 1.0 if rng.integers(2) else -1.0
        walk.heading = complex(forward, 0.0) if self.axis == "x" else complex(0.0, forward)
        if not walk.go_to(schedule.length_m):
            raise NoRoomError(
                f"the obstacle leaves the object no room along {self.axis}",
                found=f"the object at ({start.real:.3f}, {start.imag:.3f})",
                fix="another place, or another rule for the obstacle",
            )
        return walk.path()


@dataclass(frozen=True)
class Sway:
    """To and fro over `length_m` along one axis: the paper's peach tree on its mobile base.

    The line is centred in the region, or as near to that as lets it pass through the start.
    """

    length_m: float = 0.30
    axis: Axis = "y"

    def __post_init__(self) -> None:
        require_above(0.0, self.length_m, "Sway.length_m")

    def shortest_run_m(self, region: Region) -> float:
        """The line's length, which must fit into the region."""
        room = region.extent_m(self.axis)
        if self.length_m > room + 1e-9:
            raise SettingError(
                "the sway is longer than the region",
                field="Sway.length_m",
                found=f"{self.length_m:g} m",
                expected=f"{room:g} m at most",
            )
        return self.length_m

    def path(
        self, rng: np.random.Generator, start: complex, region: Region, obstacle: Obstacle | None, schedule: Schedule
    ) -> Path:
        """`AlongAxis` within the line's length."""
        k = "xy".index(self.axis)
        half = self.length_m / 2
        begin = (start.real, start.imag)[k]
        centre, size = list(region.centre_m), list(region.size_m)
        centre[k] = min(max(centre[k], begin - half), begin + half)
        size[k] = self.length_m
        line = Region((centre[0], centre[1]), (size[0], size[1]))
        return AlongAxis(self.axis).path(rng, start, line, obstacle, schedule)


@dataclass(frozen=True)
class RandomDirection:
    """In a direction drawn uniformly every `every_s`, 16 steps of 20 Hz, reflected by the edges (appendix: random)."""

    every_s: float = 0.8

    def __post_init__(self) -> None:
        require_above(0.0, self.every_s, "RandomDirection.every_s")

    def shortest_run_m(self, region: Region) -> float:
        """The region's shorter side."""
        return min(region.size_m)

    def path(
        self, rng: np.random.Generator, start: complex, region: Region, obstacle: Obstacle | None, schedule: Schedule
    ) -> Path:
        """Legs of the same time."""
        walk = Walk(start, region, obstacle)
        legs = math.ceil(schedule.duration_s / self.every_s)
        ends_s = np.minimum(self.every_s * np.arange(1, legs + 1), schedule.duration_s)
        for end_m in schedule.distance_m(ends_s):
            walk.wander_to(float(end_m), lambda _: cmath.rect(1.0, rng.uniform(0.0, math.tau)))
        return walk.path()


@dataclass(frozen=True)
class Waypoints:
    """Towards a target drawn uniformly from the region; a new one every `every_m` of travel (appendix: gantry).

    The leg is longer than most targets are away: the object passes through its target and goes on in the same
    direction, "reflecting off the workspace bounds along the way", until the leg is done.
    """

    every_m: float = 0.31

    def __post_init__(self) -> None:
        require_above(0.0, self.every_m, "Waypoints.every_m")

    def shortest_run_m(self, region: Region) -> float:
        """The region's shorter side."""
        return min(region.size_m)

    def path(
        self, rng: np.random.Generator, start: complex, region: Region, obstacle: Obstacle | None, schedule: Schedule
    ) -> Path:
        """Legs of the same way."""
        walk = Walk(start, region, obstacle)
        length = schedule.length_m

        def towards_target(here: complex) -> complex:
            way = 0j
            while way == 0:
                way = complex(*rng.uniform(region.low_m, region.high_m)) - here
            return way / abs(way)

        for leg in itertools.count(1):
            walk.wander_to(min(leg * self.every_m, length), towards_target)
            if leg * self.every_m >= length:
                return walk.path()
        raise AssertionError("unreachable")
