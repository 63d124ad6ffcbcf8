"""Where the object may be: an upright rectangle in the horizontal plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.motion.settings import require_above

__all__ = ["GANTRY_SIZE_M", "TABLETOP_SIZE_M", "Axis", "Region"]

Axis = Literal["x", "y"]

TABLETOP_SIZE_M = (0.25, 0.25)
"""The simulated tasks of the paper (appendix, Object Motion Patterns)."""
GANTRY_SIZE_M = (0.23, 0.43)
"""The paper's gantry (appendix, Hardware Setup)."""

_ROUNDING_M = 1e-9


@dataclass(frozen=True)
class Region:
    """The rectangle that the object's centre stays in, edges included, in the frame of the positions it is used with.

    Motions are reflected at its edges: the heading's component across the edge changes its sign.
    """

    centre_m: tuple[float, float]
    size_m: tuple[float, float] = TABLETOP_SIZE_M
    """Full extent along x and along y."""

    def __post_init__(self) -> None:
        for size in self.size_m:
            require_above(0.0, size, "Region.size_m")
        if not all(map(np.isfinite, self.centre_m)):
            raise SettingError("not a place", field="Region.centre_m", found=self.centre_m, expected="finite numbers")

    @property
    def low_m(self) -> tuple[float, float]:
        """The corner with the lowest x and y."""
        return self.centre_m[0] - self.size_m[0] / 2, self.centre_m[1] - self.size_m[1] / 2

    @property
    def high_m(self) -> tuple[float, float]:
        """The corner with the highest x and y."""
        return self.centre_m[0] + self.size_m[0] / 2, self.centre_m[1] + self.size_m[1] / 2

    def contains(
        self, positions: Float[Array, "*batch D"], *, tolerance_m: float = _ROUNDING_M
    ) -> Bool[Array, "*batch"]:
        """Which positions (their first two numbers) lie inside, or within the tolerance of it."""
        flat = np.asarray(positions)[..., :2]
        low, high = np.array(self.low_m), np.array(self.high_m)
        return np.asarray(((flat >= low - tolerance_m) & (flat <= high + tolerance_m)).all(-1))

    def extent_m(self, axis: Axis) -> float:
        """The length of the side along `axis`."""
        return self.size_m["xy".index(axis)]

    def holds(self, point: complex) -> bool:
        """`contains` for one point of the plane, written `x + iy`."""
        return bool(self.contains(np.array([point.real, point.imag])))

    def nearest(self, point: complex) -> complex:
        """The point of the region that is nearest to `point`."""
        (x_low, y_low), (x_high, y_high) = self.low_m, self.high_m
        return complex(min(max(point.real, x_low), x_high), min(max(point.imag, y_low), y_high))
