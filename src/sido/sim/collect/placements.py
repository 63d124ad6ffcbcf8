"""Where the object begins: as the task draws it, or spread evenly over its region."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sido.errors import SettingError
from sido.motion import Region

__all__ = ["PLACEMENTS", "Places"]

Places = tuple[tuple[float, float], ...]
"""x and y, metres, base frame; empty: the task draws."""


def drawn(_region: Region, _count: int) -> Places:
    """The task's own."""
    return ()


def along_x(region: Region, count: int) -> Places:
    """From end to end, at the middle of y."""
    return tuple((x, region.centre_m[1]) for x in _spread(region.low_m[0], region.high_m[0], count))


def along_y(region: Region, count: int) -> Places:
    """From end to end, at the middle of x."""
    return tuple((region.centre_m[0], y) for y in _spread(region.low_m[1], region.high_m[1], count))


def grid(region: Region, count: int) -> Places:
    """Row by row; as many rows as columns.

    Raises:
        SettingError: no square number.
    """
    side = math.isqrt(count)
    if side * side != count:
        raise SettingError(
            "a grid has as many rows as columns",
            field="demos",
            found=count,
            expected="a square number, such as 64 for 8 x 8",
            fix=f"-n {side**2} or -n {(side + 1) ** 2}",
        )
    (x_low, y_low), (x_high, y_high) = region.low_m, region.high_m
    return tuple((x, y) for x in _spread(x_low, x_high, side) for y in _spread(y_low, y_high, side))


PLACEMENTS: dict[str, Callable[[Region, int], Places]] = {
    "random": drawn,
    "x": along_x,
    "y": along_y,
    "grid": grid,
}
"""By the name that `--placements` takes: one place for each demonstration."""


def _spread(low: float, high: float, count: int) -> list[float]:
    return [(low + high) / 2] if count == 1 else np.linspace(low, high, count).tolist()
