"""Where a point of the world lands in an image."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import mujoco
import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError

__all__ = ["Lens", "lens_of"]


@final
@dataclass(frozen=True)
class Lens:
    """A pinhole camera without distortion.

    In the camera's frame x points right in the image, y down, z away from the camera. The point `(x, y, z)`, metres,
    is seen at `u = focal_px x / z + width / 2` from the left edge and `v = focal_px y / z + height / 2` from the top;
    the pixel in row `i`, column `j` covers `u` in [j, j + 1) and `v` in [i, i + 1).
    """

    width: int
    height: int
    focal_px: float
    """`height / (2 tan(fovy / 2))`."""

    @property
    def fovy_rad(self) -> float:
        """The angle from the top of the image to its bottom."""
        return 2 * math.atan2(self.height / 2, self.focal_px)

    @property
    def matrix(self) -> Float[Array, "3 3"]:
        """`K`, with `(u, v, 1) ~ K (x, y, z)`."""
        return np.array([[self.focal_px, 0, self.width / 2], [0, self.focal_px, self.height / 2], [0, 0, 1.0]])

    def project(self, points: Float[Array, "*batch 3"]) -> Float[Array, "*batch 2"]:
        """`(u, v)` of points in the camera's frame; NaN for those not in front of it."""
        ahead = points[..., 2:] > 0
        depth = np.where(ahead, points[..., 2:], np.nan)
        return self.focal_px * points[..., :2] / depth + (self.width / 2, self.height / 2)


def lens_of(model: mujoco.MjModel, camera: int, width: int, height: int) -> Lens:
    """The lens of a model's camera for images of that size.

    Raises:
        SettingError: it is not a pinhole given by its field of view.
    """
    name = repr(model.camera(camera).name)
    if model.cam_sensorsize[camera].any():
        raise SettingError("sido knows no cameras with a sensor size", found=name, expected="a camera with fovy alone")
    # Called cam_orthographic by MuJoCo up to 3.3; 0 is a perspective in both.
    projections = model.cam_projection if hasattr(model, "cam_projection") else model.cam_orthographic
    if projections[camera]:
        raise SettingError("sido knows no orthographic cameras", found=name, expected="a camera with fovy")
    fovy = math.radians(float(model.cam_fovy[camera]))
    return Lens(width, height, height / (2 * math.tan(fovy / 2)))
