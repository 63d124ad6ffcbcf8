"""When the object is still to be reached, and when it is in the hand.

```
gripper told to      open ............ close ................................ open
fingers              open            closing ..... stalled
phase                REACHING        CLOSING       HOLDING .................. REACHING
the channel holds    where it will be  where it is
commands follow it   yes             yes           no
```

A lifted object is being held whatever the gripper was told: it must not be extrapolated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array
from sido.errors import SettingError

__all__ = ["GraspGate", "GraspPhases", "Phase"]

_STALLED = 0.2
"""Fingers that move at less than this share of the fastest pace of their closing have met something."""
_FEWEST_STEPS = 2
"""They need a moment to start."""


class Phase(IntEnum):
    """Of a grasp."""

    REACHING = 0
    CLOSING = 1
    HOLDING = 2


@final
@dataclass(frozen=True)
class GraspGate:
    """How it is told. No contact sensor is needed."""

    closing_s: float = 0.4
    """Fingers that are told to close are closed after so long at the latest."""
    lifted_m: float = 0.03
    """An object so far above where it was first seen is held."""

    def __post_init__(self) -> None:
        for name in ("closing_s", "lifted_m"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise SettingError("not usable", field=f"GraspGate.{name}", found=value, expected="above 0")


@final
class GraspPhases:
    """Where the grasps of `N` sessions stand."""

    def __init__(self, sessions: int, gate: GraspGate) -> None:
        self._gate = gate
        self._closed = np.zeros(sessions, dtype=np.bool_)
        self._stalled = np.zeros(sessions, dtype=np.bool_)
        self._steps = np.zeros(sessions, dtype=np.int64)
        self._since_s = np.zeros(sessions)
        self._fastest = np.zeros(sessions)
        self._floor_m = np.full(sessions, np.nan)
        self._gripper: Array | None = None
        self.phases: Int[Array, "N"] = np.zeros(sessions, dtype=np.int64)
        """Of `Phase`."""

    @property
    def reaching(self) -> Bool[Array, "N"]:
        """Where the object is still to be reached."""
        return self.phases == Phase.REACHING

    @property
    def holding(self) -> Bool[Array, "N"]:
        """Where it is in the hand, or the fingers have closed on nothing."""
        return self.phases == Phase.HOLDING

    def forget(self, sessions: Sequence[int]) -> None:
        """Those begin anew, with the gripper open."""
        rows = list(sessions)
        self._closed[rows] = self._stalled[rows] = False
        self._floor_m[rows] = np.nan
        self.phases[rows] = Phase.REACHING

    def look(
        self,
        live: Bool[Array, "N"],
        time_s: Float[Array, "N"],
        gripper: Float[Array, "N G"],
        height_m: Float[Array, "N"],
    ) -> None:
        """What is seen now: the fingers, and the object's height (NaN where it was never seen)."""
        pace = np.zeros(len(live)) if self._gripper is None else np.abs(gripper - self._gripper).max(axis=1)
        self._gripper = gripper.copy()
        self._floor_m = np.where(live & np.isnan(self._floor_m), height_m, self._floor_m)
        self._fastest = np.where(self._closed, np.maximum(self._fastest, pace), 0.0)
        slow = (pace < _STALLED * self._fastest) & (self._steps > _FEWEST_STEPS)
        late = time_s - self._since_s >= self._gate.closing_s
        self._stalled |= live & self._closed & (slow | late)
        held = self._stalled | (height_m - self._floor_m > self._gate.lifted_m)
        phases = np.where(held, Phase.HOLDING, np.where(self._closed, Phase.CLOSING, Phase.REACHING))
        self.phases = np.where(live, phases, self.phases)

    def command(self, live: Bool[Array, "N"], time_s: Float[Array, "N"], closes: Bool[Array, "N"]) -> None:
        """What the grippers are told now."""
        begins = live & closes & ~self._closed
        self._since_s = np.where(begins, time_s, self._since_s)
        self._steps = np.where(begins, 0, self._steps) + (live & closes)
        self._closed = np.where(live, closes, self._closed)
        self._stalled &= self._closed
