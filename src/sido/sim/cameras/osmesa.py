"""OpenGL on the processor alone: Mesa's offscreen library."""

from __future__ import annotations

import ctypes
from typing import final

from sido.sim.cameras.gl_library import NoContextError, load_library, make_global

__all__ = ["OSMesaContext"]

LIBRARIES = ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so")

OSMESA_RGBA = 0x1908
GL_UNSIGNED_BYTE = 0x1401
DEPTH_BITS, STENCIL_BITS, ACCUMULATION_BITS = 24, 8, 0
SIDE = 16
"""Pixels of the buffer that OSMesa demands. MuJoCo draws into framebuffers of its own."""


@final
class OSMesaContext:
    """An OpenGL context of OSMesa.

    Raises:
        NoContextError: there is none, and why.
    """

    name = "osmesa"

    def __init__(self) -> None:
        self._osmesa = load_library(LIBRARIES)
        self._osmesa.OSMesaCreateContextExt.restype = ctypes.c_void_p
        self._buffer = (ctypes.c_ubyte * (4 * SIDE * SIDE))()
        self._context = ctypes.c_void_p(
            self._osmesa.OSMesaCreateContextExt(OSMESA_RGBA, DEPTH_BITS, STENCIL_BITS, ACCUMULATION_BITS, None)
        )
        if not self._context:
            raise NoContextError("OSMesaCreateContextExt failed")
        self.make_current()
        make_global(self._osmesa)

    def make_current(self) -> None:
        """Let this thread's OpenGL calls go to this context."""
        if not self._osmesa.OSMesaMakeCurrent(self._context, self._buffer, GL_UNSIGNED_BYTE, SIDE, SIDE):
            raise NoContextError("OSMesaMakeCurrent failed")
