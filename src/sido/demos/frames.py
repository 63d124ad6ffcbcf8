"""Camera images that are read when they are asked for, and not before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64, UInt8

from sido.arrays import Array
from sido.errors import DataError

__all__ = ["Frames"]


@dataclass(frozen=True)
class Frames:
    """The images of one camera through one demonstration: `[T, height, width, 3]`, uint8, RGB, upright.

    Index it like an array along its first axis; only the images that are asked for are read and decoded.
    """

    shape: tuple[int, int, int, int]
    read: Callable[[Int64[Array, " N"]], UInt8[Array, "N height width 3"]]
    """Reads the images at the given steps, in the given order. Steps lie in `[0, T)` and may repeat."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, steps: int | slice | Int64[Array, " N"]) -> UInt8[Array, "*N height width 3"]:
        if isinstance(steps, slice):
            return self._read(np.arange(len(self))[steps])
        if isinstance(steps, np.ndarray):
            return self._read(steps)
        return self._read(np.array([steps]))[0]

    def _read(self, steps: Array) -> Array:
        length = len(self)
        if steps.size and (steps.min() < -length or steps.max() >= length):
            raise IndexError(f"step {int(steps.max())} of a demonstration of {length} steps")
        images = self.read(np.where(steps < 0, steps + length, steps).astype(np.int64))
        if images.shape != (len(steps), *self.shape[1:]) or images.dtype != np.uint8:
            raise DataError(
                "the images are not what the file announced",
                found=f"{images.dtype}{list(images.shape)}",
                expected=f"uint8{[len(steps), *self.shape[1:]]}",
            )
        return images

    @classmethod
    def of_array(cls, images: UInt8[Array, "T height width 3"]) -> Frames:
        """Images that are already in memory."""
        length, height, width, channels = images.shape
        return cls((length, height, width, channels), lambda steps: images[steps])
