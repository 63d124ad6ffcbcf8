"""One camera's pictures."""

from __future__ import annotations

from typing import final

import mujoco
import numpy as np
from jaxtyping import Bool, Float32, UInt8

from sido.arrays import Array
from sido.errors import SettingError, SidoError
from sido.sim.cameras.backdrop import Backdrop
from sido.sim.cameras.boxes import GeomBoxes
from sido.sim.cameras.canvas import VISUAL_GROUPS, Canvas
from sido.sim.cameras.gl_context import PACKAGES
from sido.sim.cameras.lens import lens_of
from sido.sim.cameras.sight import Sight

__all__ = ["View"]

MOST_GEOMS = 10_000
TEST_COLOURS = ((255, 0, 102), (0, 153, 255))


@final
class View:
    """What one camera sees, drawn into a framebuffer of its own. Its thread's OpenGL context must be current."""

    def __init__(self, canvas: Canvas, camera: int) -> None:
        self.lens = lens_of(canvas.source, camera, canvas.size[1], canvas.size[0])
        self._canvas = canvas
        self._sight = Sight(canvas.source, camera, self.lens, canvas.drawn)
        canvas.prepare(camera, self.lens.focal_px, self._sight)
        try:
            self.context = mujoco.MjrContext(canvas.model, mujoco.mjtFontScale.mjFONTSCALE_100)
        except mujoco.FatalError as error:
            raise SettingError(
                "MuJoCo cannot draw with this machine's OpenGL",
                found=str(error),
                fix=f"try another: set MUJOCO_GL=osmesa; or sudo apt-get install {PACKAGES}",
            ) from error
        self.context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._rectangle = mujoco.MjrRect(0, 0, self.lens.width, self.lens.height)
        self._scene = mujoco.MjvScene(canvas.model, MOST_GEOMS)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = canvas.quality.shadows
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = canvas.quality.reflections
        self._options = mujoco.MjvOption()
        self._options.geomgroup[:] = [group in VISUAL_GROUPS for group in range(len(self._options.geomgroup))]
        self._camera = mujoco.MjvCamera()
        self._camera.type, self._camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, camera
        self._check()
        self._backdrop = self._still_parts(camera)
        moving = canvas.drawn if self._backdrop is None else canvas.drawn & ~self._backdrop.still
        self._boxes = GeomBoxes(canvas.model, np.flatnonzero(moving))

    def render(self, data: mujoco.MjData, caption: str = "") -> UInt8[Array, "height width 3"]:
        """The image, RGB, its first row on top; a caption stands in the lower left corner."""
        seen, sky = self._canvas.drawn, True
        if not (caption or self._canvas.quality.draws_all):
            may_be, sky_may_be = self.may_see(data)
            if self._backdrop is None:
                seen, sky = may_be, sky_may_be
            elif not self._backdrop.mixes_with(may_be):
                self._draw(data, may_be, sky=False)
                return self._backdrop.behind(*self._pixels_and_nearness())
        self._draw(data, seen, sky=sky)
        if caption:
            font, corner = mujoco.mjtFont.mjFONT_NORMAL, mujoco.mjtGridPos.mjGRID_BOTTOMLEFT
            mujoco.mjr_overlay(font, corner, self._rectangle, caption, "", self.context)
        return self._pixels().copy()

    def may_see(self, data: mujoco.MjData) -> tuple[Bool[Array, "G"], bool]:
        """Which geoms may be in the image, and whether the sky may, beside what is in the backdrop."""
        boxes = self._boxes.at(data).beside(self._sight.sky(data))
        *parts, sky = self._sight.may_see(boxes, data, self._sight.screens.at(data)).tolist()
        seen = np.zeros(len(self._canvas.drawn), dtype=np.bool_)
        seen[self._boxes.geom[np.array(parts, dtype=np.bool_)]] = True
        return seen, sky

    def _draw(self, data: mujoco.MjData, geoms: Bool[Array, "G"], *, sky: bool) -> None:
        canvas = self._canvas
        self._take_up()
        canvas.show(geoms)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SKYBOX] = sky
        mujoco.mjv_updateScene(
            canvas.model, data, self._options, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene
        )
        canvas.hang_lamps(self._scene)
        mujoco.mjr_render(self._rectangle, self._scene, self.context)

    def _still_parts(self, camera: int) -> Backdrop | None:
        """What need not be drawn again, where pictures can be put together of parts."""
        canvas, still = self._canvas, self._canvas.still_before(camera)
        if canvas.quality.draws_all or canvas.quality.samples or not still.any():
            return None
        self._draw(canvas.home, canvas.drawn, sky=True)
        shown = self._scene.geoms[: self._scene.ngeom]
        transparent = np.zeros_like(still)
        transparent[[thing.objid for thing in shown if thing.transparent]] = True
        if (transparent & still).any() or any(thing.objtype != mujoco.mjtObj.mjOBJ_GEOM for thing in shown):
            return None
        self._draw(canvas.home, still, sky=True)
        return Backdrop(still, transparent, *self._pixels_and_nearness())

    def _pixels(self) -> UInt8[Array, "height width 3"]:
        upside_down = np.empty((self.lens.height, self.lens.width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(upside_down, None, self._rectangle, self.context)
        return upside_down[::-1]

    def _pixels_and_nearness(self) -> tuple[UInt8[Array, "height width 3"], Float32[Array, "height width"]]:
        shape = (self.lens.height, self.lens.width)
        colours, nearness = np.empty((*shape, 3), dtype=np.uint8), np.empty(shape, dtype=np.float32)
        mujoco.mjr_readPixels(colours, nearness, self._rectangle, self.context)
        return colours[::-1], nearness[::-1]

    def _take_up(self) -> None:
        """Draw here from now on: OpenGL goes on drawing into whatever framebuffer was used last."""
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self.context)

    def _check(self) -> None:
        """Paint two colours and look: a context that is not MuJoCo's own gives noise, or what was there before."""
        self._take_up()
        for colour in TEST_COLOURS:
            red, green, blue = (value / 255 for value in colour)
            mujoco.mjr_rectangle(self._rectangle, red, green, blue, 1.0)
            off = np.abs(self._pixels().astype(np.int64) - colour).max()
            if off > 1:
                raise SidoError(
                    "the OpenGL of this machine does not draw what it is told",
                    found=f"a colour {off} of 255 off",
                    fix="render in a process of its own, where nothing else has used OpenGL; or set MUJOCO_GL=osmesa",
                )
