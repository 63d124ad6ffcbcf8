"""The contract of an expert, and what is left open in how it plays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError

__all__ = ["Expert", "ExpertSettings"]


@runtime_checkable
class Expert(Protocol):
    """Plays every environment of a `VectorEnvironment`; made as `expert(world, settings)`."""

    def begin(self, envs: Sequence[int], seeds: Sequence[int]) -> None:
        """These environments were reset, and `seeds` decide the expert's own noise in them.

        The same seed gives the same actions in the same episode, whatever the batch.
        """
        ...

    def actions(self) -> Float[Array, "N A"]:
        """The next action of each environment, in the world's own spec; anything finite where an episode is over.

        To be asked once for each step of the world.
        """
        ...


@final
@dataclass(frozen=True)
class ExpertSettings:
    """How well it plays; without arguments as well as it can."""

    reaction_delay_s: float = 0.0
    """What it knows of the moving object is that old, place and velocity, and it reckons on from there at constant
    velocity. So it leads the object rightly, but is wrong for that long after every turn, as people are. What it holds
    it feels at once."""
    action_noise_m: float = 0.0
    """Standard deviation, along each axis, of noise on where the hand is sent; it wanders, and does not tremble."""
    grasp_offset_m: float = 0.0
    """Standard deviation, along x and along y, of how far beside the object's middle it grasps; drawn for each
    attempt, cut at twice itself. 6 mm makes demonstrations from which policies learn to cope with their errors."""
    speed: float = 1.0
    """Of the hand, as a share of its usual one."""

    def __post_init__(self) -> None:
        for name, least, expected in (
            ("reaction_delay_s", 0.0, "seconds, 0 or more"),
            ("action_noise_m", 0.0, "metres, 0 or more"),
            ("grasp_offset_m", 0.0, "metres, 0 or more"),
            ("speed", 0.1, "0.1 to 2"),
        ):
            value = getattr(self, name)
            most = 2.0 if name == "speed" else math.inf
            if not (math.isfinite(value) and least <= value <= most):
                raise SettingError("not usable", field=f"ExpertSettings.{name}", found=value, expected=expected)
