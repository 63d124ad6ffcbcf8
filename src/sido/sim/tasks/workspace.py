"""Where a robot can work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.errors import SettingError

__all__ = ["Workspace"]


@final
@dataclass(frozen=True)
class Workspace:
    """An upright box in the robot's base frame; metres."""

    low_m: tuple[float, float, float]
    high_m: tuple[float, float, float]

    def __post_init__(self) -> None:
        if not (np.isfinite((self.low_m, self.high_m)).all() and (np.array(self.low_m) < np.array(self.high_m)).all()):
            raise SettingError(
                "not a box",
                field="Workspace",
                found=f"{self.low_m} to {self.high_m}",
                expected="finite corners, the low one below the high one",
            )

    def contains(self, positions: Float[Array, "*batch 3"]) -> Bool[Array, "*batch"]:
        """Which positions, base frame, lie inside, its faces included."""
        return np.asarray(((positions >= np.array(self.low_m)) & (positions <= np.array(self.high_m))).all(axis=-1))
