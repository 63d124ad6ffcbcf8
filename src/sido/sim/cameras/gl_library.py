"""The system's OpenGL libraries."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

__all__ = ["NoContextError", "load_library", "make_global"]


class NoContextError(Exception):
    """This way of drawing is not to be had here; the text says why. Never leaves `sido.sim.cameras`."""


def load_library(names: Sequence[str]) -> ctypes.CDLL:
    """The first of these libraries that the system has.

    Raises:
        NoContextError: it has none of them.
    """
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise NoContextError(f"the system has no {names[0]}")


def make_global(library: ctypes.CDLL) -> None:
    """Show the library's names to the whole process: MuJoCo looks there for whose OpenGL it is to call.

    Only for the one that gave a context: with two of them in sight, MuJoCo might call the other, and draw noise.
    """
    ctypes.CDLL(library._name, mode=ctypes.RTLD_GLOBAL)
