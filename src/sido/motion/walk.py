"""Laying a path: straight on, reflected by the region's edges, past or back from an obstacle."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sido.motion.obstacle import Detour, Disc, NoRoomError, Obstacle
from sido.motion.path import Path, Piece, advance, turn
from sido.motion.region import Region

__all__ = ["LEAST_ROOM_M", "Walk"]

LEAST_ROOM_M = 0.01
"""Turned back twice by the obstacle within so short a way, the object is boxed in: it would only tremble."""

_GRAZE_M = 1e-6
"""A disc that is touched over less than twice this is passed: the object comes nearer by less than an atom."""
_MOST_REDRAWS = 100


class Walk:
    """A path under construction, and where it has come to."""

    def __init__(self, start: complex, region: Region, obstacle: Obstacle | None) -> None:
        self.here = region.nearest(start)
        self.heading = complex(1.0)
        self.travelled_m = 0.0
        self.region = region
        self.disc: Disc | None = None if obstacle is None else obstacle.disc(start)
        self.rule = None if obstacle is None else obstacle.rule
        self._pieces: list[Piece] = []
        self._chances_m: list[float] = []

    def path(self) -> Path:
        """What has been laid."""
        return Path.of(self._pieces or [Piece(0.0, self.here, self.heading)], self._chances_m)

    def go_to(self, distance_m: float) -> bool:
        """Go straight on until `distance_m` have been travelled in all. False: boxed in, and given up earlier."""
        since_turning = math.inf
        while self.travelled_m < distance_m:
            before = self.travelled_m
            left = distance_m - before
            wall, mirrored = self._wall()
            entry, exit = self._crossing()
            if left <= min(wall, entry):
                self.lay(0.0, left)
                self.travelled_m = distance_m  # without the rounding of the sum, on which the random draws would hang
                return True
            if wall <= entry:
                self.lay(0.0, wall)
                self.here, self.heading = self.region.nearest(self.here), mirrored
            else:
                onward = self.here + exit * self.heading
                self.lay(0.0, entry)
                detour = self.detour_to(onward)
                if detour is not None:
                    self.follow(detour, distance_m)
                elif since_turning + entry < LEAST_ROOM_M:
                    return False
                else:
                    self.heading = -self.heading
                    since_turning = 0.0
                    continue
            since_turning += self.travelled_m - before
        return True

    def wander_to(self, distance_m: float, draw_heading: Callable[[complex], complex]) -> None:
        """`go_to` with a heading that is drawn now, and again wherever the object finds itself boxed in."""
        for _ in range(_MOST_REDRAWS):
            self.heading = draw_heading(self.here)
            self._chances_m.append(self.travelled_m)
            if self.go_to(distance_m):
                return
        raise NoRoomError("boxed in by the obstacle", found=(self.here.real, self.here.imag))

    def lay(self, curvature: float, length_m: float) -> None:
        """Go `length_m` with this curvature, whatever stands there."""
        if length_m <= 0.0:
            return
        self._pieces.append(Piece(self.travelled_m, self.here, self.heading, curvature))
        self.here += complex(advance(np.array(self.heading), np.array(curvature), np.array(length_m)))
        self.heading = turn(self.heading, curvature, length_m)
        self.travelled_m += length_m

    def detour_to(self, exit: complex) -> Detour | None:
        """The rule's way from here, on the edge of the disc, to `exit`."""
        assert self.disc is not None
        assert self.rule is not None
        return self.rule.detour(self.disc, self.here, exit, self.region)

    def follow(self, detour: Detour, distance_m: float) -> None:
        """Go round, until `distance_m` have been travelled in all at most; then the old heading holds again."""
        onward = self.heading
        self.here, self.heading = detour.start, detour.heading
        self.lay(detour.curvature, min(detour.length_m, distance_m - self.travelled_m))
        self.heading = onward

    def _wall(self) -> tuple[float, complex]:
        """How far ahead the region ends, and the heading that its edge gives back."""
        (x_low, y_low), (x_high, y_high) = self.region.low_m, self.region.high_m
        x = _way(self.here.real, self.heading.real, x_low, x_high)
        y = _way(self.here.imag, self.heading.imag, y_low, y_high)
        mirrored = -self.heading.conjugate() if x <= y else self.heading.conjugate()
        return max(min(x, y), 0.0), mirrored

    def _crossing(self) -> tuple[float, float]:
        """How far ahead the straight way enters the disc, and leaves it; infinite where it does not."""
        if self.disc is None:
            return math.inf, math.inf
        seen = (self.disc.centre - self.here) * self.heading.conjugate()  # the centre: ahead + i left
        half = math.sqrt(max(self.disc.radius_m**2 - seen.imag**2, 0.0))
        if seen.real <= 0.0 or half < _GRAZE_M:  # receding, passing by, or grazing
            return math.inf, math.inf
        return max(seen.real - half, 0.0), seen.real + half


def _way(position: float, heading: float, low: float, high: float) -> float:
    """How far to the end of `[low, high]` along one axis."""
    if heading == 0.0:
        return math.inf
    return ((high if heading > 0.0 else low) - position) / heading
