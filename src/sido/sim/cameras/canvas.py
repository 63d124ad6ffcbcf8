"""What there is to draw."""

from __future__ import annotations

import copy
from typing import final

import mujoco
import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array
from sido.sim.cameras.boxes import Boxes
from sido.sim.cameras.mesh import keep_faces, triangles, write_mesh
from sido.sim.cameras.quality import Quality
from sido.sim.cameras.sight import Sight

__all__ = ["VISUAL_GROUPS", "Canvas"]

VISUAL_GROUPS = (1, 2)
"""Geoms of these groups are drawn, as in robosuite: 0 is for collisions, 3 and above for what is hidden."""
HIDDEN_GROUP = 5
SHADOW_PIXELS, SHADOWED_M = 2048, 0.9
"""Of the map of what the lamp sees; and how far around `LIT_M` that reaches."""
LIT_M, LAMP_AWAY_M = np.array((0.0, 0.0, 0.85)), 1.5
"""The middle of what happens in all scenes, world frame; and how far from it the lamp hangs."""
AMBIENT, HEADLIGHT, LAMP = (0.25, 0.25, 0.25), (0.16, 0.16, 0.16), (0.56, 0.56, 0.56)
NEAREST_M = 1e-3
"""Nothing is simplified as if it were nearer than this."""


@final
class Canvas:
    """A copy of a model to draw from: its views hide geoms and simplify meshes in it, one view at a time.

    Args:
        model: Stays as it is.
        home: A state of it, from which the cameras' distances to things are taken.
        size: Height and width of images.
        quality: How good they are to be.
    """

    def __init__(self, model: mujoco.MjModel, home: mujoco.MjData, size: tuple[int, int], quality: Quality) -> None:
        self.source = model
        self.home = home
        self.size = size
        self.quality = quality
        self.model = copy.copy(model)  # MuJoCo's own deep copy
        self.drawn = np.isin(model.geom_group, VISUAL_GROUPS)
        self.model.site_group[model.site_rgba[:, 3] <= 0] = HIDDEN_GROUP  # MuJoCo takes its time to draw nothing
        visual = self.model.vis
        visual.global_.offheight, visual.global_.offwidth = size
        visual.quality.offsamples = quality.samples
        visual.quality.numslices, visual.quality.numstacks = quality.slices, max(2, quality.slices * 4 // 7)
        visual.quality.numquads = quality.squares
        planes = model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
        self.model.geom_size[planes, 2] = np.maximum(model.geom_size[planes, 2], quality.tile_m)
        if quality.shadows:
            _light_softly(self.model)
        else:
            visual.quality.shadowsize = 0

    def show(self, seen: Bool[Array, "G"]) -> None:
        """Draw these geoms only."""
        self.model.geom_group[:] = np.where(seen & self.drawn, self.source.geom_group, HIDDEN_GROUP)

    def still_before(self, camera: int) -> Bool[Array, "G"]:
        """Geoms that look the same in every picture of a camera: none, unless it stands still, and all lamps do."""
        model = self.source
        carriers = np.append(model.light_bodyid, model.cam_bodyid[camera])
        still = (model.body_weldid[carriers] == 0) & ~self._by_hand(carriers)
        follows = model.light_mode != mujoco.mjtCamLight.mjCAMLIGHT_FIXED
        if not still.all() or follows.any():
            return np.zeros(model.ngeom, dtype=np.bool_)
        return self._rigid_with(camera) & self.drawn

    @staticmethod
    def hang_lamps(scene: mujoco.MjvScene) -> None:
        """Put the lamps that cast shadows over the table: where they hang is the middle of what they see."""
        for lamp in scene.lights[: scene.nlight]:
            if lamp.castshadow:
                lamp.pos[:] = LIT_M - LAMP_AWAY_M * lamp.dir

    def prepare(self, camera: int, focal_px: float, sight: Sight) -> None:
        """Bring the meshes to the detail that this camera can see from where it is at home."""
        eye = self.home.cam_xpos[camera]
        for mesh in range(self.source.nmesh):
            distances = self._distances(mesh, eye) if self.quality.detail_px else None
            cells = None if distances is None else self.quality.detail_px * distances / focal_px
            write_mesh(self.model, self.source, mesh, cells)
        if not self.quality.draws_all:
            self._drop_unseen_faces(camera, sight)

    def _drop_unseen_faces(self, camera: int, sight: Sight) -> None:
        """Of what never moves as seen from the camera, leave the faces that it can see."""
        rigid = self._rigid_with(camera)
        screens = sight.screens.at(self.home).take(rigid[sight.screens.geom])
        for mesh in range(self.source.nmesh):
            users = self._users(mesh)
            if len(users) == 1 and rigid[users[0]]:
                corners = self._in_world(users[0], triangles(self.model, mesh))
                low, high = corners.min(axis=1), corners.max(axis=1)
                boxes = Boxes((low + high) / 2, np.broadcast_to(np.eye(3), (len(low), 3, 3)), (high - low) / 2)
                facing = _facing(corners, self.home.cam_xpos[camera])
                keep_faces(self.model, mesh, facing & sight.may_see(boxes, self.home, screens))

    def _rigid_with(self, camera: int) -> Bool[Array, "G"]:
        """Geoms on the same rigid body as the camera: the world, or a link of the robot."""
        model, body = self.source, int(self.source.cam_bodyid[camera])
        if model.cam_mode[camera] != mujoco.mjtCamLight.mjCAMLIGHT_FIXED or self._by_hand(np.array([body]))[0]:
            return np.zeros(model.ngeom, dtype=np.bool_)
        same: Bool[Array, "B"] = model.body_weldid == model.body_weldid[body]
        return same[model.geom_bodyid] & ~self._by_hand(model.geom_bodyid)

    def _by_hand(self, bodies: Int[Array, "n"]) -> Bool[Array, "n"]:
        """Which of these bodies are moved by hand (`mocap`), whatever they are welded to."""
        moved: Bool[Array, "n"] = self.source.body_mocapid[self.source.body_rootid[bodies]] >= 0
        return moved

    def _users(self, mesh: int) -> Int[Array, "u"]:
        """Geoms that are drawn and have this mesh."""
        of_mesh = self.source.geom_type == mujoco.mjtGeom.mjGEOM_MESH
        return np.flatnonzero(of_mesh & (self.source.geom_dataid == mesh) & self.drawn)

    def _in_world(self, geom: int | np.int64, points: Float[Array, "*n 3"]) -> Float[Array, "*n 3"]:
        return points @ self.home.geom_xmat[geom].reshape(3, 3).T + self.home.geom_xpos[geom]

    def _distances(self, mesh: int, eye: Float[Array, "3"]) -> Float[Array, "n"] | None:
        """Metres from the eye to each vertex, in the nearest of the geoms that show this mesh; None if none does."""
        first, count = self.source.mesh_vertadr[mesh], self.source.mesh_vertnum[mesh]
        vertices = self.source.mesh_vert[first : first + count].astype(np.float64)
        distances = [np.linalg.norm(self._in_world(geom, vertices) - eye, axis=1) for geom in self._users(mesh)]
        return np.maximum(np.min(distances, axis=0), NEAREST_M) if distances else None


def _light_softly(model: mujoco.MjModel) -> None:
    """Light from above that casts shadows about the table's middle, and less of it from the camera."""
    visual = model.vis
    visual.quality.shadowsize = SHADOW_PIXELS
    visual.map.shadowclip = SHADOWED_M / model.stat.extent
    visual.headlight.ambient, visual.headlight.diffuse, visual.headlight.specular = AMBIENT, HEADLIGHT, (0.0, 0.0, 0.0)
    if model.nlight:
        model.light_castshadow[0] = True
        model.light_diffuse[0] = LAMP


def _facing(corners: Float[Array, "m 3 3"], eye: Float[Array, "3"]) -> Bool[Array, "m"]:
    """Faces that show the eye their outside; the others are never drawn."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return ((eye - corners[:, 0]) * normals).sum(axis=1) > 0
