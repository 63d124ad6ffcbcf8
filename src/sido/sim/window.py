"""A window on a performance: MuJoCo's viewer, on a machine with a screen."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

import mujoco

from sido.errors import SidoError
from sido.sim.cameras import VISUAL_GROUPS
from sido.sim.performance import Moment
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["Window", "open_window", "show"]

_LINGER_S = 1.0
"""For so long the window stands still when an episode is over."""
_CLOSING_S = 5.0
"""For so long the viewer's threads are waited for."""
_AZIMUTH_DEG, _ELEVATION_DEG, _DISTANCE_M = 125.0, -25.0, 1.7
_LOOKED_AT_M = (0.0, 0.0, 0.95)
"""The middle of what happens in all scenes; world frame."""


@runtime_checkable
class Window(Protocol):
    """What MuJoCo's viewer gives: it shows one `MjData`, and is closed by whoever looks at it."""

    def is_running(self) -> bool: ...

    def sync(self) -> None: ...


@contextmanager
def open_window(model: mujoco.MjModel, data: mujoco.MjData) -> Generator[Window]:
    """MuJoCo's viewer, looking at the table as the spectator does; a mouse turns the view. Closed as the block ends.

    Raises:
        SidoError: this machine has no screen, or none that can be used.
    """
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise _no_screen("neither DISPLAY nor WAYLAND_DISPLAY is set")
    import glfw
    import mujoco.viewer

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        works = glfw.init()  # the viewer's own thread would wait for ever
    if not works:
        raise _no_screen("; ".join(str(warning.message) for warning in told) or "GLFW cannot be initialised")
    others = set(threading.enumerate())
    try:
        window = mujoco.viewer.launch_passive(model, data, show_left_ui=False, show_right_ui=False)
    except RuntimeError as error:  # macOS wants `mjpython`
        raise _no_screen(str(error)) from error
    try:
        with window.lock():
            window.opt.geomgroup[:] = [group in VISUAL_GROUPS for group in range(len(window.opt.geomgroup))]
            window.cam.lookat[:] = _LOOKED_AT_M
            window.cam.azimuth, window.cam.elevation, window.cam.distance = _AZIMUTH_DEG, _ELEVATION_DEG, _DISTANCE_M
        yield window
    finally:
        window.close()
        for thread in set(threading.enumerate()) - others:  # a program that ends while the viewer draws crashes
            thread.join(_CLOSING_S)


def show(moments: Iterable[Moment], world: VectorEnvironment, data: mujoco.MjData, window: Window) -> Iterator[Moment]:
    """Let a window follow a performance at the speed of life, until it is closed.

    Args:
        moments: What `perform` yields.
        world: What is performed in.
        data: What the window shows: a copy, so that nothing that is done in the window touches the simulation.
        window: Open.

    Yields:
        The moments, as they are shown.
    """
    due = time.monotonic()
    for moment in moments:
        if not window.is_running():
            return
        mujoco.mj_copyData(data, world.scene.model, world.scenery(0))
        window.sync()
        yield moment
        due = max(due + (world.period_s if moment.ending is None else _LINGER_S), time.monotonic() - world.period_s)
        time.sleep(max(due - time.monotonic(), 0.0))


def _no_screen(why: str) -> SidoError:
    return SidoError(
        "there is no screen to open a window on", found=why, fix="record a film instead, with `sido play TASK`"
    )
