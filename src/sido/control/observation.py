"""What robots report at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from jaxtyping import Float, UInt8

from sido.arrays import Array
from sido.errors import DataError, SettingError

__all__ = ["Observation"]

_SHAPES: dict[str, tuple[int, ...]] = {
    "time_s": (),
    "eef_position": (3,),
    "eef_quat_wxyz": (4,),
    "gripper": (0,),  # any number of joints
    "object_position": (3,),
    "object_time_s": (),
}
"""After the sessions."""


@final
@dataclass(frozen=True, eq=False)
class Observation:
    """One row for each session: metres, base frame; the seconds of each session's own clock."""

    time_s: Float[Array, "N"]
    """Of this observation. It rises from one to the next."""
    eef_position: Float[Array, "N 3"]
    """Of the point that actions move."""
    eef_quat_wxyz: Float[Array, "N 4"]
    gripper: Float[Array, "N G"]
    """The fingers' joints."""
    object_position: Float[Array, "N 3"]
    """Where the pose estimator saw the object last; NaN where it has not seen it yet."""
    object_time_s: Float[Array, "N"]
    """When the object was there. An estimate that is handed in again, with its own time, counts once."""
    landmarks: Mapping[str, Float[Array, "N 3"]] = field(default_factory=dict[str, Array])
    """Where further things are, by the names that the policy has for them."""
    images: Mapping[str, UInt8[Array, "N height width 3"]] = field(default_factory=dict[str, Array])
    """By camera; only rows of sessions that want them (`Agent.wants_images`) are looked at."""

    def __len__(self) -> int:
        return len(self.time_s)

    def require(self, sessions: int, cameras: tuple[str, ...], looking: Array) -> None:
        """Raise unless it is an observation of so many sessions, with the pictures of those that are looking.

        Raises:
            DataError: wrong shapes, or numbers of the robot that are not finite.
            SettingError: a camera that the policy needs is missing.
        """
        for name, rest in _SHAPES.items():
            array: Any = getattr(self, name)
            if (
                array.ndim != 1 + len(rest)
                or len(array) != sessions
                or any(size != wanted for size, wanted in zip(array.shape[1:], rest, strict=True) if wanted)
            ):
                expected = [sessions, *(size or "G" for size in rest)]
                raise DataError("wrong shape", field=f"Observation.{name}", found=list(array.shape), expected=expected)
            broken = ~np.isfinite(array.reshape(sessions, -1)).all(axis=1)
            if not name.startswith("object") and broken.any():
                i = int(np.argmax(broken))
                raise DataError(f"session {i} reports what is not finite", field=f"Observation.{name}", found=array[i])
        for camera in cameras if looking.any() else ():
            if camera not in self.images:
                raise SettingError(
                    "the policy needs a camera that is not there",
                    field="Observation.images",
                    found=", ".join(self.images) or "none",
                    expected=camera,
                    fix="take its picture wherever `wants_images` says so",
                )
            if len(self.images[camera]) != sessions:
                raise DataError(
                    "wrong shape",
                    field=f"Observation.images[{camera!r}]",
                    found=list(self.images[camera].shape),
                    expected=f"[{sessions}, height, width, 3]",
                )
