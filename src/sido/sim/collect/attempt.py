"""One try at a demonstration, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, final

from sido.arrays import Array
from sido.sim.ending import Ending

__all__ = ["NO_GRASP", "Attempt", "Played"]

NO_GRASP = "success without a grasp"
"""How an attempt ended that reached the goal by luck: it shows nobody how to grasp."""


class Attempt(NamedTuple):
    """What is to be played."""

    number: int
    """`k`: 0, 1, 2, ..."""
    seed: int
    start_m: tuple[float, float] | None = None
    """Where the object begins, x and y, base frame; where the task draws it, if None."""


@final
@dataclass(frozen=True, eq=False)
class Played:
    """What became of it."""

    number: int
    seed: int
    steps: int
    ending: str
    """One of `Ending`'s values, or `NO_GRASP`."""
    arrays: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Of a usable attempt, what makes the demonstration (see `sido.sim.collect.recorder`); of another, nothing."""

    @property
    def usable(self) -> bool:
        """Whether it is a demonstration."""
        return self.ending == Ending.SUCCESS.value
