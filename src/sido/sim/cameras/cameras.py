"""Images of a scene, without a screen."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import final

import mujoco
import numpy as np
from jaxtyping import UInt8

from sido.arrays import Array
from sido.errors import SettingError
from sido.geometry import Pose, Transform
from sido.sim.cameras.canvas import Canvas
from sido.sim.cameras.gl_context import GLContext, thread_context
from sido.sim.cameras.lens import Lens
from sido.sim.cameras.quality import FAST, Quality
from sido.sim.cameras.view import View
from sido.sim.scene import Scene

__all__ = ["Cameras"]

LARGEST_PX = 16384
"""No OpenGL draws more; most stop at less, and then say so."""
MUJOCO_FROM_CAMERA = np.diag((1.0, -1.0, -1.0))
"""MuJoCo's cameras look along their -z, with y up; ours along +z, with y down, as computer vision has it."""


@final
class Cameras:
    """A scene's cameras, for any number of its environments.

        with Cameras(scene, ["agentview", "robot0_eye_in_hand"]) as cameras:
            image = cameras.render(world.scenery(0))["agentview"]

    Images show the moment of which `data` has the positions of bodies (robosuite's are 2 ms older than its `qpos`).
    Rendering is the same to the last bit for the same state, on one machine.

    They belong to the thread that made them; any number of them live side by side, and those of one thread share an
    OpenGL context. A process that was forked after the first cameras were made can make none: it is told so.

    Args:
        scene: What is there.
        names: Which of its model's cameras.
        size: Height and width of the images in pixels, as in their arrays.
        quality: `FAST` for policies, `PRETTY` for people.

    Raises:
        SettingError: there is no such camera, or the size is none.
        SidoError: this machine has neither EGL nor OSMesa, or its OpenGL cannot draw so large an image; or this
            process is a fork of one that had cameras.
    """

    def __init__(
        self,
        scene: Scene,
        names: Sequence[str] = ("agentview", "robot0_eye_in_hand"),
        *,
        size: tuple[int, int] = (84, 84),
        quality: Quality = FAST,
    ) -> None:
        whole = all(isinstance(side, (int, np.integer)) for side in size)  # pyright: ignore[reportUnnecessaryIsInstance]
        if len(size) != 2 or not whole or not 1 <= min(size) <= max(size) <= LARGEST_PX:
            raise SettingError(
                "not the size of an image",
                field="size",
                found=size,
                expected=f"(height, width) in pixels, whole numbers from 1 to {LARGEST_PX}",
            )
        if isinstance(names, str) or not names or len(set(names)) != len(names):
            raise SettingError("not a list of cameras", field="names", found=names, expected="one or more, each once")
        self.scene = scene
        self.names = tuple(names)
        self.size = size
        self._ids = {name: _camera(scene, name) for name in names}
        self._owner = (os.getpid(), threading.get_ident())
        self._gl = thread_context()
        self._gl.make_current()
        home = mujoco.MjData(scene.model)
        home.qpos[:] = scene.home_qpos
        mujoco.mj_forward(scene.model, home)
        canvas = Canvas(scene.model, home, size, quality)
        self._views = {name: View(canvas, camera) for name, camera in self._ids.items()}
        contexts = [view.context for view in self._views.values()]
        self._release = weakref.finalize(self, _free, self._gl, contexts, self._owner)

    def __enter__(self) -> Cameras:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def backend(self) -> str:
        """`"egl"` or `"osmesa"`."""
        return self._gl.name

    def render(
        self, data: mujoco.MjData, names: Sequence[str] | None = None, *, caption: str = ""
    ) -> dict[str, UInt8[Array, "height width 3"]]:
        """Images of one environment: RGB, the first row on top.

        Args:
            data: Of the scene's model; it is not changed.
            names: Which cameras; all, if not given.
            caption: Written into the first of the images; ASCII.

        Raises:
            SettingError: not of this scene; no such camera; not in the thread that made the cameras; closed.
        """
        if not self._release.alive:
            raise SettingError("these cameras are closed", fix="render inside their `with` block")
        if self._owner != (os.getpid(), threading.get_ident()):
            raise SettingError(
                "cameras can be used only in the thread that made them",
                fix="make a Cameras object in each thread or process that renders",
            )
        self._check(data)
        wanted = self.names if names is None else names
        views = [(name, self._view(name)) for name in wanted]
        self._gl.make_current()  # another library may have made its own so
        return {name: view.render(data, caption if k == 0 else "") for k, (name, view) in enumerate(views)}

    def lens(self, name: str) -> Lens:
        """How that camera projects points of its frame (x right, y down, z ahead) to pixels."""
        return self._view(name).lens

    def base_from_camera(self, name: str, data: mujoco.MjData) -> Transform:
        """Where that camera stands and looks, at the moment that the images show."""
        view = self._ids[self._known(name)]
        matrix = np.eye(4)
        matrix[:3, :3] = data.cam_xmat[view].reshape(3, 3) @ MUJOCO_FROM_CAMERA
        matrix[:3, 3] = data.cam_xpos[view]
        return self.scene.arm.world_from_base.inverse() @ Transform("world", "camera", Pose.from_matrix(matrix))

    def close(self) -> None:
        """Give the graphics memory back."""
        self._release()

    def _view(self, name: str) -> View:
        return self._views[self._known(name)]

    def _known(self, name: str) -> str:
        if name not in self._ids:
            raise SettingError("no such camera here", found=repr(name), expected=", ".join(self.names))
        return name

    def _check(self, data: mujoco.MjData) -> None:
        model = self.scene.model
        found = (len(data.qpos), len(data.geom_xpos), len(data.site_xpos), len(data.cam_xpos))
        expected = (model.nq, model.ngeom, model.nsite, model.ncam)
        if found != expected:
            raise SettingError(
                f"not a state of {self.scene.name}",
                field="data",
                found=f"{found} positions, geoms, sites, cameras",
                expected=expected,
            )


def _camera(scene: Scene, name: str) -> int:
    known = [str(scene.model.camera(i).name) for i in range(scene.model.ncam)]
    if name not in known:
        raise SettingError(f"{scene.name} has no such camera", found=repr(name), expected=", ".join(known))
    return known.index(name)


def _free(gl: GLContext, contexts: list[mujoco.MjrContext], owner: tuple[int, int]) -> None:
    # Names of OpenGL's things mean something in their own context only. From another thread or process they cannot
    # be freed at all; then they go with the process.
    if owner == (os.getpid(), threading.get_ident()):
        gl.make_current()
        for context in contexts:
            context.free()
