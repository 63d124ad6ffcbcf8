"""Boxes around what is drawn, to tell quickly what cannot be seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import mujoco
import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array
from sido.sim.cameras.mesh import triangles

__all__ = ["Boxes", "GeomBoxes"]

LONGEST_M = 0.3
"""A mesh with a longer box gets several, each around the faces in a part of it."""
ENDLESS_M = 1e6


@final
@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes in the world, turned as they like."""

    centres: Float[Array, "n 3"]
    axes: Float[Array, "n 3 3"]
    """Columns are a box's own axes."""
    halves: Float[Array, "n 3"]
    """Half its size along each."""

    def beside(self, other: Boxes) -> Boxes:
        """These, and then those."""
        return Boxes(
            np.concatenate([self.centres, other.centres]),
            np.concatenate([self.axes, other.axes]),
            np.concatenate([self.halves, other.halves]),
        )

    def take(self, which: Bool[Array, "n"] | Int[Array, "m"]) -> Boxes:
        return Boxes(self.centres[which], self.axes[which], self.halves[which])


@final
class GeomBoxes:
    """The boxes around some geoms of a model, in each geom's own frame: one or several each."""

    def __init__(self, model: mujoco.MjModel, geoms: Int[Array, "g"]) -> None:
        parts = [(geom, *part) for geom in geoms.tolist() for part in _parts(model, geom)]
        self.geom = np.array([geom for geom, _, _ in parts], dtype=np.int64)
        """Which geom each box belongs to."""
        lows = np.array([low for _, low, _ in parts]).reshape(-1, 3)
        highs = np.array([high for _, _, high in parts]).reshape(-1, 3)
        self._middles, self._halves = (lows + highs) / 2, (highs - lows) / 2

    def at(self, data: mujoco.MjData) -> Boxes:
        """Where they are."""
        axes = data.geom_xmat[self.geom].reshape(-1, 3, 3)
        centres = data.geom_xpos[self.geom] + (axes @ self._middles[:, :, None])[:, :, 0]
        return Boxes(centres, axes, self._halves)


def _parts(model: mujoco.MjModel, geom: int) -> list[tuple[Array, Array]]:
    """Lowest and highest corner of each of a geom's boxes, in its frame."""
    kind, size = model.geom_type[geom], model.geom_size[geom]
    if kind == mujoco.mjtGeom.mjGEOM_PLANE:
        # MuJoCo's box around a plane is the half-space below it; what is drawn is a rectangle, or has no end.
        half = np.array([*np.where(size[:2] > 0, size[:2], ENDLESS_M), 0.0])
        return [(-half, half)]
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        return _mesh_parts(model, int(model.geom_dataid[geom]))
    middle, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    return [(middle - half, middle + half)]


def _mesh_parts(model: mujoco.MjModel, mesh: int) -> list[tuple[Array, Array]]:
    corners = triangles(model, mesh)
    if len(corners) == 0:
        return []
    middles = corners.mean(axis=1)
    cells = np.floor((middles - middles.min(axis=0)) / LONGEST_M).astype(np.int64)
    _, place = np.unique(cells, axis=0, return_inverse=True)
    place = place.reshape(-1)
    members = [corners[place == part].reshape(-1, 3) for part in range(place.max() + 1)]
    return [(points.min(axis=0), points.max(axis=0)) for points in members]
