"""OpenGL without a screen on a graphics card, or on Mesa's software renderer: EGL."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any, final

from sido.sim.cameras.gl_library import NoContextError, load_library, make_global

__all__ = ["EglContext"]

LIBRARIES = ("libEGL.so.1",)

# Names and values of EGL 1.5 and of its extension EGL_EXT_platform_device.
EGL_NONE = 0x3038
EGL_PLATFORM_DEVICE_EXT = 0x313F
EGL_OPENGL_API = 0x30A2
ATTRIBUTES = (
    *(0x3024, 8),  # EGL_RED_SIZE
    *(0x3023, 8),  # EGL_GREEN_SIZE
    *(0x3022, 8),  # EGL_BLUE_SIZE
    *(0x3033, 0x0001),  # EGL_SURFACE_TYPE: EGL_PBUFFER_BIT
    *(0x3040, 0x0008),  # EGL_RENDERABLE_TYPE: EGL_OPENGL_BIT
    EGL_NONE,
)
MOST_DEVICES = 64


@final
class EglContext:
    """An OpenGL context on the first EGL device that gives one, or on number `MUJOCO_EGL_DEVICE_ID`.

    It has no surface: MuJoCo draws into framebuffers of its own.

    Raises:
        NoContextError: no device gives one, and why.
    """

    name = "egl"

    def __init__(self) -> None:
        self._egl = load_library(LIBRARIES)
        reasons: list[str] = []
        for number, device in self._devices():
            reason = self._open(device)
            if reason is None:
                make_global(self._egl)
                return
            reasons.append(f"device {number}: {reason}")
        raise NoContextError("; ".join(reasons) or "EGL lists no device")

    def make_current(self) -> None:
        """Let this thread's OpenGL calls go to this context."""
        if not self._egl.eglMakeCurrent(self._display, None, None, self._context):
            raise NoContextError(f"eglMakeCurrent failed with {self._egl.eglGetError():#x}")

    def _open(self, device: int) -> str | None:
        """Make a context on the device; or say why there is none."""
        egl, config, found = self._egl, ctypes.c_void_p(), ctypes.c_int()
        get_display = self._extension(b"eglGetPlatformDisplayEXT", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        egl.eglCreateContext.restype = ctypes.c_void_p
        self._display = ctypes.c_void_p(get_display(EGL_PLATFORM_DEVICE_EXT, device, None))
        if not self._display or not egl.eglInitialize(self._display, None, None):
            return "its display cannot be initialised"
        attributes = (ctypes.c_int * len(ATTRIBUTES))(*ATTRIBUTES)
        egl.eglChooseConfig(self._display, attributes, ctypes.byref(config), 1, ctypes.byref(found))
        if found.value < 1 or not egl.eglBindAPI(EGL_OPENGL_API):
            return "it has no OpenGL"
        self._context = ctypes.c_void_p(egl.eglCreateContext(self._display, config, None, None))
        if not self._context:
            return f"eglCreateContext failed with {egl.eglGetError():#x}"
        try:
            self.make_current()
        except NoContextError as error:
            return str(error)
        return None

    def _devices(self) -> list[tuple[int, int]]:
        """Number and handle of each device to try."""
        query = self._extension(b"eglQueryDevicesEXT", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        handles, count = (ctypes.c_void_p * MOST_DEVICES)(), ctypes.c_int()
        if not query(MOST_DEVICES, handles, ctypes.byref(count)):
            return []
        devices = [(number, handle) for number, handle in enumerate(handles[: count.value]) if handle]
        wanted = os.environ.get("MUJOCO_EGL_DEVICE_ID")
        return devices if wanted is None else [pair for pair in devices if str(pair[0]) == wanted.strip()]

    def _extension(self, name: bytes, *arguments: Any) -> Callable[..., Any]:
        self._egl.eglGetProcAddress.restype = ctypes.c_void_p
        address = self._egl.eglGetProcAddress(name)
        if not address:
            raise NoContextError(f"EGL lacks {name.decode()}")
        return ctypes.CFUNCTYPE(ctypes.c_void_p, *arguments)(address)
