"""The course on a circle."""

from __future__ import annotations

import cmath
import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sido.errors import SettingError
from sido.motion.obstacle import Disc, NoRoomError, Obstacle
from sido.motion.path import Path
from sido.motion.region import Region
from sido.motion.schedule import Schedule
from sido.motion.settings import require_above
from sido.motion.walk import LEAST_ROOM_M, Walk

__all__ = ["Circle"]

_CANDIDATES = 32


@dataclass(frozen=True)
class Circle:
    """Round a circle through the start that lies in the region; which one, and which way round, is drawn (appendix).

    With an obstacle, circles that leave at least a quarter turn free are preferred.
    """

    radius_m: float = 0.05

    def __post_init__(self) -> None:
        require_above(0.0, self.radius_m, "Circle.radius_m")

    def shortest_run_m(self, region: Region) -> float:
        """Half a turn: from one extreme to the other. The circle must fit into the region."""
        if 2 * self.radius_m > min(region.size_m) + 1e-9:
            raise SettingError(
                "the circle is wider than the region",
                field="Circle.radius_m",
                found=f"{self.radius_m:g} m",
                expected=f"{min(region.size_m) / 2:g} m at most",
            )
        return math.pi * self.radius_m

    def path(
        self, rng: np.random.Generator, start: complex, region: Region, obstacle: Obstacle | None, schedule: Schedule
    ) -> Path:
        """Arcs of one circle; with an obstacle they end at its clearance."""
        walk = Walk(start, region, obstacle)
        sides = self._sides(walk.here, region)
        uniform = rng.uniform(size=_CANDIDATES)  # all drawn at once, so that what follows is the same with and without
        sense = 1.0 if rng.integers(2) else -1.0
        rounds = [_Round(walk.here, walk.here + cmath.rect(self.radius_m, _pick(sides, u)), walk.disc) for u in uniform]
        chosen = next((each for each in rounds if each.free_rad >= math.pi / 2), None)
        chosen = chosen or max(rounds, key=lambda each: each.free_rad)
        if self.radius_m * chosen.free_rad < LEAST_ROOM_M:
            raise NoRoomError("the obstacle leaves the object no room on any circle", found=_place(start))
        _follow(walk, chosen, sense, schedule.length_m)
        return walk.path()

    def _sides(self, start: complex, region: Region) -> list[tuple[float, float]]:
        """The directions from the start in which the centre may lie, as intervals of angle, in radians."""
        r = self.radius_m
        (x_low, y_low), (x_high, y_high) = region.low_m, region.high_m
        changes = {0.0, math.tau}
        for edge in (x_low + r, x_high - r):
            share = (edge - start.real) / r
            changes |= {sign * math.acos(share) % math.tau for sign in (1, -1) if abs(share) <= 1}
        for edge in (y_low + r, y_high - r):
            share = (edge - start.imag) / r
            changes |= {angle % math.tau for angle in _asin_both(share)}
        sides: list[tuple[float, float]] = []
        ordered = sorted(changes)
        for low, high in itertools.pairwise(ordered):
            centre = start + cmath.rect(r, (low + high) / 2)
            if x_low + r <= centre.real <= x_high - r and y_low + r <= centre.imag <= y_high - r:
                sides.append((low, high))
        if not sides:
            raise NoRoomError(
                f"no circle of radius {r:g} m through the start lies in the region",
                found=_place(start),
                fix="start further from the corners, or enlarge the region",
            )
        return sides


class _Round(NamedTuple):
    """One circle, with what is blocked of it: angles about the centre, seen from the middle of the blocked arc."""

    start: complex
    centre: complex
    disc: Disc | None

    @property
    def blocked_rad(self) -> float:
        """Half of the arc that lies in the disc: cos beta = (r^2 + D^2 - rho^2) / (2 r D)."""
        if self.disc is None:
            return 0.0
        r, apart = abs(self.start - self.centre), abs(self.disc.centre - self.centre)
        if apart == 0.0:
            return math.pi if self.disc.radius_m > r else 0.0
        return math.acos(min(max((r**2 + apart**2 - self.disc.radius_m**2) / (2 * r * apart), -1.0), 1.0))

    @property
    def free_rad(self) -> float:
        """The arc that is free."""
        return math.tau - 2 * self.blocked_rad


def _follow(walk: Walk, way: _Round, sense: float, length_m: float) -> None:
    radius = abs(way.start - way.centre)
    blocked = way.blocked_rad
    towards = 1.0 + 0j
    if blocked > 0.0 and way.disc is not None:
        towards = (way.disc.centre - way.centre) / abs(way.disc.centre - way.centre)
    angle = cmath.phase((way.start - way.centre) / towards) % math.tau
    angle = min(max(angle, blocked), math.tau - blocked)  # rounding put it into the blocked arc

    def at(turned: float) -> complex:
        return way.centre + radius * towards * cmath.rect(1.0, turned)

    while walk.travelled_m < length_m:
        left = length_m - walk.travelled_m
        end = math.tau - blocked if sense > 0 else blocked
        free = radius * abs(end - angle) if blocked > 0.0 else math.inf
        walk.here, walk.heading = at(angle), sense * 1j * (at(angle) - way.centre) / radius
        walk.lay(sense / radius, min(free, left))
        if free >= left:
            return
        walk.here = at(end)
        beyond = math.tau - end
        detour = walk.detour_to(at(beyond))
        if detour is None:
            angle, sense = end, -sense
        else:
            walk.follow(detour, length_m)
            angle = beyond


def _asin_both(share: float) -> tuple[float, ...]:
    return () if abs(share) > 1 else (math.asin(share), math.pi - math.asin(share))


def _pick(intervals: list[tuple[float, float]], uniform: float) -> float:
    """A point of the intervals, uniform over their joint length."""
    left = uniform * sum(high - low for low, high in intervals)
    for low, high in intervals:
        if left <= high - low:
            return low + left
        left -= high - low
    return intervals[-1][1]


def _place(point: complex) -> str:
    return f"({point.real:.3f}, {point.imag:.3f})"
