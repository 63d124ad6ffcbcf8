"""What a camera may see."""

from __future__ import annotations

from typing import final

import mujoco
import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array
from sido.sim.cameras.boxes import Boxes, GeomBoxes
from sido.sim.cameras.hiding import may_be_seen
from sido.sim.cameras.lens import Lens

__all__ = ["Sight"]

SMALLEST_SCREEN_M = 0.2
"""Boxes with two sides at least so long hide things; smaller ones are not worth asking."""
FAR_M = 1e4
MARGIN_M = 0.001
"""A screen hides a little less than it could, so that what touches it is never taken to be behind it."""


@final
class Sight:
    """Tells what cannot be in a camera's image: what lies beside the pyramid in front of it, or behind a large box.

    It errs on the side of drawing: what it excludes changes no pixel.
    """

    def __init__(self, model: mujoco.MjModel, camera: int, lens: Lens, drawn: Bool[Array, "G"]) -> None:
        self._camera = camera
        self._near = model.vis.map.znear * model.stat.extent
        # Inward normals of the left, right, lower and upper side, in MuJoCo's camera frame: y up, looking along -z.
        across, up = lens.width / 2 / lens.focal_px, lens.height / 2 / lens.focal_px
        sides = np.array([(1, 0, -across), (-1, 0, -across), (0, 1, -up), (0, -1, -up)])
        self._sides = sides / np.linalg.norm(sides, axis=1, keepdims=True)
        self._sky_halves = FAR_M * np.array([[across, up, 0.0]])
        self.screens = GeomBoxes(model, np.flatnonzero(drawn & _screens(model)))
        """Around large opaque boxes, which are such boxes themselves."""

    def may_see(self, boxes: Boxes, data: mujoco.MjData, screens: Boxes) -> Bool[Array, "n"]:
        """Where something within a box may be seen in spite of the screens."""
        eye = data.cam_xpos[self._camera].copy()
        normals = self._sides @ data.cam_xmat[self._camera].reshape(3, 3).T
        spans = np.ascontiguousarray((boxes.axes * boxes.halves[:, None, :]).swapaxes(1, 2))
        return may_be_seen(boxes.centres, spans, eye, normals, self._rows(screens, eye))

    def sky(self, data: mujoco.MjData) -> Boxes:
        """A box as far away as the sky, flat, and as large as the image."""
        axes = data.cam_xmat[self._camera].reshape(1, 3, 3)
        return Boxes(data.cam_xpos[self._camera] - FAR_M * axes[:, :, 2], axes, self._sky_halves)

    def _rows(self, screens: Boxes, eye: Float[Array, "3"]) -> Float[Array, "m 18"]:
        """As `may_be_seen` wants them; without those that the eye is in, or so near that they are cut open."""
        own = ((eye - screens.centres)[:, None, :] @ screens.axes)[:, 0, :]
        outside = (np.abs(own) > screens.halves + 2 * self._near).any(axis=1)
        axes = screens.axes.reshape(-1, 9)
        return np.concatenate([screens.centres, axes, screens.halves - MARGIN_M, own], axis=1)[outside]


def _screens(model: mujoco.MjModel) -> Bool[Array, "G"]:
    material: Int[Array, "G"] = model.geom_matid
    alpha = model.mat_rgba[material, 3] if model.nmat else np.ones(model.ngeom)
    opaque = (model.geom_rgba[:, 3] == 1) & ((material < 0) | (alpha == 1))
    large = np.sort(model.geom_size, axis=1)[:, 1] >= SMALLEST_SCREEN_M / 2
    return (model.geom_type == mujoco.mjtGeom.mjGEOM_BOX) & opaque & large
