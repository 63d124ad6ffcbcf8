"""How much trouble to take over a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from sido.errors import SettingError

__all__ = ["FAST", "PRETTY", "Quality"]


@final
@dataclass(frozen=True)
class Quality:
    """What a picture costs, beside its size. On a processor the cost is that of mesh faces, times the passes.

    `samples` blends edges; every reflecting surface draws the whole scene once more, and every light that casts
    shadows twice more. Without reflections and shadows, what is out of a camera's sight is not drawn.
    """

    samples: int
    """Of each pixel, for smooth edges; 0 takes the middle alone."""
    shadows: bool
    """The scene's first lamp casts them, and lights softer than robosuite's, which leave a white table no shade."""
    reflections: bool
    detail_px: float
    """Meshes are simplified to cells of so many pixels, each as seen with the robot in its rest posture; 0: none."""
    slices: int
    """Flat faces around a sphere, a capsule, a cylinder."""
    squares: int
    """Along each edge of a box. Light falls on their corners, and is blended between them."""
    tile_m: float
    """The least side of the squares of a plane, likewise."""

    def __post_init__(self) -> None:
        for name, value, least in (
            ("samples", self.samples, 0),
            ("detail_px", self.detail_px, 0),
            ("slices", self.slices, 3),
            ("squares", self.squares, 1),
            ("tile_m", self.tile_m, 0),
        ):
            if not (math.isfinite(value) and value >= least):
                raise SettingError(
                    "not a usable number", field=f"Quality.{name}", found=value, expected=f"a number from {least}"
                )

    @property
    def draws_all(self) -> bool:
        """Whether what no camera sees directly can show nevertheless."""
        return self.shadows or self.reflections


FAST = Quality(samples=0, shadows=False, reflections=False, detail_px=1.0, slices=16, squares=2, tile_m=1.0)
"""For policies: the right colours and shapes to about a pixel; hard edges, no mirror images, no shadows."""

PRETTY = Quality(samples=4, shadows=True, reflections=True, detail_px=0.5, slices=28, squares=4, tile_m=0.0)
"""For people: everything that the model has, and shadows."""
