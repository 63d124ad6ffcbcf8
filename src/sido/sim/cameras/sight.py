"""What a camera may see."""

from __future__ import annotations

from typing import final

import mujoco
import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array
from sido.sim.cameras.boxes import Boxes, GeomBoxes
from sido.sim.cameras.lens import Lens

__all__ = ["Sight"]

SMALLEST_SCREEN_M = 0.2
"""Boxes with two sides at least so long hide things; smaller ones are not worth asking."""
MARGIN_M = 0.001
"""A screen hides a little less than it could, so that what touches it is never taken to be behind it."""


@final
class Sight:
    """Tells what cannot be in a camera's image: what lies beside the pyramid in front of it, or behind a large box.

    Both tests err on the side of drawing: what they exclude changes no pixel.
    """

    def __init__(self, model: mujoco.MjModel, camera: int, lens: Lens, drawn: Bool[Array, "G"]) -> None:
        self._camera = camera
        self._near = model.vis.map.znear * model.stat.extent
        # Inward normals of the left, right, lower and upper side, in MuJoCo's camera frame: y up, looking along -z.
        across, up = lens.width / 2 / lens.focal_px, lens.height / 2 / lens.focal_px
        sides = np.array([(1, 0, -across), (-1, 0, -across), (0, 1, -up), (0, -1, -up)])
        self._sides = sides / np.linalg.norm(sides, axis=1, keepdims=True)
        self.screens = GeomBoxes(model, np.flatnonzero(drawn & _screens(model)))
        """Around large opaque boxes, which are such boxes themselves."""

    def may_see(self, boxes: Boxes, data: mujoco.MjData, screens: Boxes) -> Bool[Array, "n"]:
        """Where something within a box may be seen in spite of the screens."""
        answer = self._ahead(boxes, data)
        eye = data.cam_xpos[self._camera]
        for screen in self._useful(screens.take(self._ahead(screens, data)), eye):
            rest = np.flatnonzero(answer)
            answer[rest] = ~_hidden(boxes.take(rest).corners(), eye, screen)
        return answer

    def _ahead(self, boxes: Boxes, data: mujoco.MjData) -> Bool[Array, "n"]:
        """False where a box lies wholly beyond one side of the pyramid.

        With `n` a side's inward normal, a box of centre `c`, axes `R` and half sizes `h` has its innermost point at
        `n . (c - eye) + |R^T n| . h`.
        """
        normals = self._sides @ data.cam_xmat[self._camera].reshape(3, 3).T
        reach = (np.abs(normals @ boxes.axes) @ boxes.halves[:, :, None])[:, :, 0]
        return ((boxes.centres - data.cam_xpos[self._camera]) @ normals.T + reach > 0).all(axis=1)

    def _useful(self, screens: Boxes, eye: Float[Array, "3"]) -> list[Boxes]:
        """Those that the eye is not in, nor so near that they are cut open; one by one."""
        own = ((eye - screens.centres)[:, None, :] @ screens.axes)[:, 0, :]
        outside = (np.abs(own) > screens.halves + 2 * self._near).any(axis=1)
        return [screens.take(np.array([k])) for k in np.flatnonzero(outside)]


def _screens(model: mujoco.MjModel) -> Bool[Array, "G"]:
    material: Int[Array, "G"] = model.geom_matid
    alpha = model.mat_rgba[material, 3] if model.nmat else np.ones(model.ngeom)
    opaque = (model.geom_rgba[:, 3] == 1) & ((material < 0) | (alpha == 1))
    large = np.sort(model.geom_size, axis=1)[:, 1] >= SMALLEST_SCREEN_M / 2
    return (model.geom_type == mujoco.mjtGeom.mjGEOM_BOX) & opaque & large


def _hidden(corners: Float[Array, "n 8 3"], eye: Float[Array, "3"], screen: Boxes) -> Bool[Array, "n"]:
    """Where the lines of sight to all eight corners pass through a screen.

    What a convex body hides from an eye is a convex set, so then the whole box is hidden.
    """
    axes, halves = screen.axes[0], screen.halves[0] - MARGIN_M
    start, ends = (eye - screen.centres[0]) @ axes, (corners - screen.centres[0]) @ axes
    with np.errstate(divide="ignore", invalid="ignore"):  # NaN and infinities compare as they should
        one, other = (-halves - start) / (ends - start), (halves - start) / (ends - start)
    enters, leaves = np.minimum(one, other).max(axis=2), np.maximum(one, other).min(axis=2)
    return ((enters <= leaves) & (enters > 0) & (enters <= 1)).all(axis=1)
