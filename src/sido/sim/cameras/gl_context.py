"""Where MuJoCo draws when there is no screen: EGL or OSMesa, whichever works here.

MuJoCo's own choice is made by `MUJOCO_GL` before its first import, and robosuite sets that variable to `egl` whether
or not EGL works. Here the context is made directly, when the first camera is, whatever was imported before.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from sido.errors import SidoError
from sido.sim.cameras.egl import EglContext
from sido.sim.cameras.gl_library import NoContextError
from sido.sim.cameras.osmesa import OSMesaContext

__all__ = ["PACKAGES", "GLContext", "thread_context"]

PACKAGES = "libegl1 libosmesa6 libgl1"
"""What to install, as Debian and Ubuntu call it."""

BACKENDS: dict[str, Callable[[], GLContext]] = {"egl": EglContext, "osmesa": OSMesaContext}
"""In the order in which they are tried: EGL knows graphics cards."""


@runtime_checkable
class GLContext(Protocol):
    """An OpenGL context of one thread."""

    name: str

    def make_current(self) -> None: ...


class _Contexts(threading.local):
    context: GLContext | None = None


_here = _Contexts()
_choice: list[str] = []  # MuJoCo looks up OpenGL's functions once in a process: what worked first is used ever after
_opened_in: list[int] = []  # the process that did


def thread_context() -> GLContext:
    """This thread's context, made when it is first asked for and kept: all cameras of a thread share it.

    `MUJOCO_GL` set to `egl` or `osmesa` says which to try first.

    Raises:
        SidoError: there is neither, why, and what to install; or this process is a fork of one that had made its own.
    """
    if _opened_in and _opened_in != [os.getpid()]:
        # Mesa draws on threads of its own, which a fork has not: it would wait for them forever.
        raise SidoError(
            "a forked process cannot draw where its parent has drawn before",
            fix="start processes with the method 'spawn', or make the parent's cameras after the fork",
        )
    if _here.context is None:
        _here.context = _open(_choice or _order())
        _choice[:], _opened_in[:] = [_here.context.name], [os.getpid()]
    return _here.context


def _order() -> list[str]:
    wish = os.environ.get("MUJOCO_GL", "").strip().lower()
    return sorted(BACKENDS, key=lambda name: name != wish)  # a stable sort: the rest keep their order


def _open(names: list[str]) -> GLContext:
    reasons: list[str] = []
    for name in names:
        try:
            return BACKENDS[name]()
        except NoContextError as error:
            reasons.append(f"{name}: {error}")
    raise SidoError(
        "images cannot be rendered on this machine: it has neither EGL nor OSMesa",
        found=" | ".join(reasons),
        fix=f"sudo apt-get install {PACKAGES}",
    )
