"""A second object that stands in the way, and the rule for meeting it.

The rule decides results (a motion that reverses shortly before the grasp is hard to predict), and the paper does not
state one. So it is a named choice; docs/motions.md compares them.
"""

from __future__ import annotations

import cmath
import dataclasses
import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from sido.errors import SettingError
from sido.motion.region import Axis, Region
from sido.motion.settings import require_above

__all__ = [
    "CUBE_CLEARANCE_M",
    "Detour",
    "Disc",
    "NoRoomError",
    "Obstacle",
    "PassBeside",
    "PlaceOutside",
    "Reverse",
    "Rule",
]

CUBE_CLEARANCE_M = 0.085
"""Between the centres of Stack's two cubes: the open hand fits between them, whichever way they are turned."""


class NoRoomError(SettingError):
    """From this place the motion cannot go anywhere: choose another place, or another rule."""


class Disc(NamedTuple):
    """Where the object's centre may not come."""

    centre: complex
    radius_m: float


class Detour(NamedTuple):
    """A way along the edge of a disc."""

    start: complex
    heading: complex
    curvature: float
    length_m: float


@runtime_checkable
class Rule(Protocol):
    """What happens where the object's way leads into the clearance of an obstacle."""

    def place(self, position_m: tuple[float, float], clearance_m: float, region: Region, /) -> tuple[float, float]:
        """Where the obstacle is to stand that would stand at `position_m`."""
        ...

    def detour(self, disc: Disc, entry: complex, exit: complex, region: Region, /) -> Detour | None:
        """The way round from where the path enters the disc to where it leaves it. None: the object turns back."""
        ...


@dataclass(frozen=True)
class Reverse:
    """The object turns back the way it came."""

    def place(self, position_m: tuple[float, float], _clearance_m: float, _region: Region) -> tuple[float, float]:
        """Where it is."""
        return position_m

    def detour(self, _disc: Disc, _entry: complex, _exit: complex, _region: Region) -> Detour | None:
        """None, always."""
        return None


@dataclass(frozen=True)
class PassBeside:
    """The object goes round at the distance of the clearance, the shorter way, and then on as it went.

    Where the shorter way would leave the region it takes the other one; where both would, it turns back.
    """

    def place(self, position_m: tuple[float, float], _clearance_m: float, _region: Region) -> tuple[float, float]:
        """Where it is."""
        return position_m

    def detour(self, disc: Disc, entry: complex, exit: complex, region: Region) -> Detour | None:
        """The arc of the disc's edge that is shorter, of those that stay in the region."""
        left_turn = cmath.phase((exit - disc.centre) / (entry - disc.centre)) % math.tau
        ways = sorted(((left_turn, 1), (math.tau - left_turn, -1)))
        for angle, side in ways:
            if _arc_stays_in(region, disc, cmath.phase(entry - disc.centre), side * angle):
                outward = (entry - disc.centre) / abs(entry - disc.centre)
                return Detour(entry, side * 1j * outward, side / disc.radius_m, disc.radius_m * angle)
        return None


@dataclass(frozen=True)
class PlaceOutside:
    """The obstacle is put beside the region, clear of it, so that it never turns the object.

    It is moved along `axis` to the side that is nearer; "y" is sideways for a robot that looks along x, which keeps
    the obstacle within its reach.
    """

    axis: Axis = "y"

    def place(self, position_m: tuple[float, float], clearance_m: float, region: Region) -> tuple[float, float]:
        """`clearance_m` beyond the nearer side; as it is where that is already so."""
        k = "xy".index(self.axis)
        away = region.extent_m(self.axis) / 2 + clearance_m
        offset = position_m[k] - region.centre_m[k]
        placed = list(position_m)
        placed[k] = region.centre_m[k] + math.copysign(max(abs(offset), away), offset)
        return placed[0], placed[1]

    def detour(self, _disc: Disc, _entry: complex, _exit: complex, _region: Region) -> Detour | None:
        """None; it is not asked, as no path enters the disc."""
        return None


@dataclass(frozen=True)
class Obstacle:
    """Something that stands still in the plane and that the moving object must not run into.

    The clearance is kept between the centres. An object that starts nearer than that keeps the distance that it
    starts with: it may leave, and comes no nearer.
    """

    position_m: tuple[float, float]
    clearance_m: float = CUBE_CLEARANCE_M
    rule: Rule = Reverse()

    def __post_init__(self) -> None:
        require_above(0.0, self.clearance_m, "Obstacle.clearance_m")
        if not all(map(math.isfinite, self.position_m)):
            raise SettingError(
                "not a place", field="Obstacle.position_m", found=self.position_m, expected="finite numbers"
            )

    def placed(self, region: Region) -> Obstacle:
        """The obstacle where its rule wants it: the task puts the second object there, before anything moves."""
        return dataclasses.replace(self, position_m=self.rule.place(self.position_m, self.clearance_m, region))

    def disc(self, start: complex) -> Disc:
        """Where an object that starts at `start` may not come."""
        centre = complex(*self.position_m)
        gap = abs(start - centre)
        if gap == 0.0:
            raise NoRoomError("the object stands where the obstacle stands", found=self.position_m)
        return Disc(centre, min(self.clearance_m, gap))


def _arc_stays_in(region: Region, disc: Disc, begin_rad: float, sweep_rad: float) -> bool:
    """Whether an arc of the disc's edge lies in the region: its ends, and where it is furthest along x and along y."""
    low, high = sorted((begin_rad, begin_rad + sweep_rad))
    quarter = math.pi / 2
    extremes = (k * quarter for k in range(math.ceil(low / quarter), math.floor(high / quarter) + 1))
    return all(region.holds(disc.centre + cmath.rect(disc.radius_m, angle)) for angle in (low, high, *extremes))
