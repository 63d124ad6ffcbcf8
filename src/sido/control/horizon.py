"""How far ahead the object is predicted while it is still to be reached."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import DataError, SettingError

__all__ = ["ChunkHorizon", "ContactHorizon", "Horizon"]


@runtime_checkable
class Horizon(Protocol):
    """Chooses it, for each session."""

    def __call__(self, way_m: Float[Array, "N 3"], chunk_s: float) -> Float[Array, "N"]:
        """Seconds from the chunk's beginning.

        Args:
            way_m: From the hand to where the object was seen last.
            chunk_s: How long a whole chunk lasts.
        """
        ...


@final
@dataclass(frozen=True)
class ChunkHorizon:
    """To the chunk's end, `T_p` steps: the paper's."""

    def __call__(self, way_m: Float[Array, "N 3"], chunk_s: float) -> Float[Array, "N"]:
        return np.full(len(way_m), chunk_s)


@final
@dataclass(frozen=True)
class ContactHorizon:
    """To the chunk's end, or to the fingers' contact with the object where that comes sooner.

    Nothing is grasped where the object will be after it has been grasped: aiming there leads it too far (by 0.9 to 2 cm
    at 10 cm/s). The time to contact is taken to be linear in the way,

        base_s + planar_s_per_m |way_xy| + height_s_per_m |way_z|

    which `fit` learns from demonstrations. The defaults are those of the scripted expert on Stack.
    """

    base_s: float = 0.5
    planar_s_per_m: float = 5.0
    height_s_per_m: float = 5.0

    def __post_init__(self) -> None:
        for name in ("base_s", "planar_s_per_m", "height_s_per_m"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise SettingError("not usable", field=f"ContactHorizon.{name}", found=value, expected="0 or more")

    def __call__(self, way_m: Float[Array, "N 3"], chunk_s: float) -> Float[Array, "N"]:
        return np.minimum(_features(way_m) @ (self.base_s, self.planar_s_per_m, self.height_s_per_m), chunk_s)

    @staticmethod
    def fit(ways_m: Float[Array, "n 3"], until_contact_s: Float[Array, " n"]) -> ContactHorizon:
        """By least squares, none of the three below 0.

        Args:
            ways_m: From the hand to the object, at many moments before a contact.
            until_contact_s: How long it took from there.
        """
        if len(ways_m) < 3 or not (np.isfinite(ways_m).all() and np.isfinite(until_contact_s).all()):
            raise DataError("not enough to learn from", field="ways_m", found=len(ways_m), expected="3 finite ways")
        features, used = _features(ways_m), np.ones(3, dtype=np.bool_)
        while True:  # leave out what would be negative, the most negative first
            found = np.zeros(3)
            found[used] = np.linalg.lstsq(features[:, used], until_contact_s, rcond=None)[0]
            if (found >= 0.0).all():
                return ContactHorizon(*found.tolist())
            used[np.argmin(found)] = False


def _features(way_m: Float[Array, "n 3"]) -> Float[Array, "n 3"]:
    return np.stack([np.ones(len(way_m)), np.hypot(way_m[:, 0], way_m[:, 1]), np.abs(way_m[:, 2])], axis=1)
