"""The contract of a pace: how fast an object goes, whatever its course."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from sido.motion.schedule import Schedule

__all__ = ["Pace"]


@runtime_checkable
class Pace(Protocol):
    """A frozen value. The speed that a person commands is its mean over time."""

    @property
    def mean_speed_mps(self) -> float:
        """Way over time, in the long run."""
        ...

    @property
    def peak_speed_mps(self) -> float: ...

    def at_speed(self, mean_speed_mps: float) -> Pace:
        """The same pace, with another mean speed."""
        ...

    def schedule(self, rng: np.random.Generator, duration_s: float, /) -> Schedule:
        """The way travelled from 0 to `duration_s`.

        A longer duration continues a shorter one: whatever is drawn must not depend on `duration_s`.
        """
        ...
