"""A way over the table, by distance travelled: stretches of constant curvature, end to end.

Points of the plane are complex numbers `x + iy` in this room, headings are of length 1, and turning left is
multiplication by `i`. From `p` with heading `h` and curvature `k` (in 1/m, positive to the left), a way of `u` metres
leads to

    p + h (e^{iku} - 1) / (ik)  =  p + h u sinc(ku / 2) e^{iku/2},      sinc(x) = sin(x) / x

with heading `h e^{iku}`. The right-hand side holds for the straight line, `k = 0`, too.
"""

from __future__ import annotations

import cmath
from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from sido.arrays import Array

__all__ = ["Path", "Piece", "advance", "turn"]


class Piece(NamedTuple):
    """A stretch of a path; it ends where the next begins."""

    distance_m: float
    """Travelled when it begins."""
    start: complex
    heading: complex
    curvature: float = 0.0


class Path(NamedTuple):
    """The stretches as arrays, in order. The last has no end."""

    distances_m: Float[Array, " S"]
    starts: Complex[Array, " S"]
    headings: Complex[Array, " S"]
    curvatures: Float[Array, " S"]
    chances_m: Float[Array, " K"]
    """The distances at which a draw changed the heading: what comes after could not be known before."""

    @staticmethod
    def of(pieces: list[Piece], chances_m: list[float]) -> Path:
        """Gather stretches that were laid one by one."""
        distances, starts, headings, curvatures = (np.array(column) for column in zip(*pieces, strict=True))
        return Path(
            distances.astype(float), starts.astype(complex), headings.astype(complex), curvatures.astype(float),
            np.array(chances_m, dtype=float),
        )  # fmt: skip


def advance(
    heading: Complex[Array, "*batch"], curvature: Float[Array, "*batch"], way_m: Float[Array, "*batch"]
) -> Complex[Array, "*batch"]:
    """`h u sinc(ku/2) e^{iku/2}`: how far, and which way, a stretch leads. numpy's sinc has the pi inside."""
    bend = curvature * way_m
    return np.asarray(heading * way_m * np.sinc(bend / (2 * np.pi)) * np.exp(0.5j * bend))


def turn(heading: complex, curvature: float, way_m: float) -> complex:
    """`h e^{iku}`: the heading at the end of a stretch."""
    return heading * cmath.exp(1j * curvature * way_m)
