"""The contract of a motion."""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import DataError, SettingError
from sido.motion.obstacle import Obstacle
from sido.motion.region import Region
from sido.motion.trajectory import Trajectory

__all__ = ["Motion", "require_plannable", "seed_pair"]


@runtime_checkable
class Motion(Protocol):
    """How an object moves: a frozen value. `tests/contracts/motion.py` holds what every one must satisfy."""

    @property
    def speed_mps(self) -> float:
        """The commanded speed: the mean over time, in the long run."""
        ...

    def at_speed(self, speed_mps: float) -> Motion:
        """The same motion at another commanded speed."""
        ...

    def speed_limit_mps(self, region: Region, /) -> float:
        """The highest commanded speed that the region allows."""
        ...

    def trajectory(
        self,
        rng: np.random.Generator,
        start: Float[Array, "3"],
        region: Region,
        duration_s: float,
        obstacle: Obstacle | None = None,
    ) -> Trajectory:
        """Plan the motion from `start` on; its height stays.

        The same generator state gives the same motion, and a longer duration continues a shorter one. Every motion
        takes the same from `rng`, so that what a caller draws next is the same whatever moves.
        """
        ...


def seed_pair(rng: np.random.Generator) -> tuple[int, int]:
    """What every motion takes from its caller's generator: two seeds, for its way and for its speed."""
    way, speed = rng.integers(2**63, size=2)
    return int(way), int(speed)


def require_plannable(start: Float[Array, "3"], region: Region, duration_s: float) -> None:
    """Raise unless a motion of `duration_s` can begin at `start`."""
    if not (math.isfinite(duration_s) and duration_s > 0.0):
        raise SettingError("not a duration", field="duration_s", found=duration_s, expected="seconds, above 0")
    if start.shape != (3,) or not np.isfinite(start).all():
        raise DataError("not a position", field="start", found=np.array2string(start), expected="three finite numbers")
    if not region.contains(start):
        raise SettingError(
            "the object starts outside of its region",
            field="start",
            found=f"({start[0]:.3f}, {start[1]:.3f})",
            expected=f"x {region.low_m[0]:.3f} to {region.high_m[0]:.3f}, y {region.low_m[1]:.3f} to "
            f"{region.high_m[1]:.3f} m",
        )
