"""How much of a workspace some places cover."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import DataError

__all__ = ["coverage", "hull_area_m2"]


def coverage(places: Float[Array, "n D"], reference: Float[Array, "m D"]) -> float:
    """The area of the places' convex hull over that of the reference's, in the plane: the paper's "extent"."""
    whole = hull_area_m2(reference)
    if whole == 0.0:
        raise DataError("the reference covers no area", field="reference", found=f"{len(reference)} places")
    return hull_area_m2(places) / whole


def hull_area_m2(places: Float[Array, "n D"]) -> float:
    """The area of the convex hull of their first two coordinates."""
    points = np.unique(places[:, :2].astype(float), axis=0)
    if len(points) < 3:
        return 0.0
    hull = np.array(_half(points)[:-1] + _half(points[::-1])[:-1])
    x, y = hull[:, 0], hull[:, 1]
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def _half(points: Float[Array, "n 2"]) -> list[tuple[float, float]]:
    """One side of the hull of points in order of x: Andrew's monotone chain."""
    side: list[tuple[float, float]] = []
    for x, y in points.tolist():
        while len(side) > 1:
            (ax, ay), (bx, by) = side[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                break
            side.pop()
        side.append((x, y))
    return side
