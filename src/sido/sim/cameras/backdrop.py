"""What never changes in a camera's pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float32, UInt8

from sido.arrays import Array
from sido.sim.stepper.native import native_entry

__all__ = ["Backdrop"]


@final
@dataclass(frozen=True, eq=False)
class Backdrop:
    """All that stands still before a camera that does, drawn once.

    For room, table, pedestal and the sky take most of the time that a picture takes. OpenGL keeps of each pixel what is
    nearest, and so do we, by the same depths: a picture is the same to the last bit, in whichever of the two it is put
    together, as long as everything is opaque and nothing casts shadows or is blended.
    """

    still: Bool[Array, "G"]
    """Which geoms are in it."""
    transparent: Bool[Array, "G"]
    """Which geoms show what is behind them: none of those that are still."""
    colours: UInt8[Array, "height width 3"]
    """RGB."""
    nearness: Float32[Array, "height width"]
    """As MuJoCo's depth buffer has it: 0 infinitely far, more nearer."""

    def mixes_with(self, geoms: Bool[Array, "G"]) -> bool:
        """Whether this shows through one of them, so that they cannot be drawn alone."""
        return bool((self.transparent & geoms).any())

    def behind(
        self, colours: UInt8[Array, "height width 3"], nearness: Float32[Array, "height width"]
    ) -> UInt8[Array, "height width 3"]:
        """A picture of what moves, drawn alone, with this behind it."""
        return nearest(colours, nearness, self.colours, self.nearness)


@native_entry
def nearest(colours: Array, nearness: Array, other_colours: Array, other_nearness: Array) -> Array:
    """Of each pixel, the nearer of two; the other one where they are equally near."""
    picture = np.empty_like(other_colours)
    for row in range(nearness.shape[0]):
        for column in range(nearness.shape[1]):
            nearer = nearness[row, column] > other_nearness[row, column]
            for k in range(3):
                picture[row, column, k] = colours[row, column, k] if nearer else other_colours[row, column, k]
    return picture
