"""What an agent had in mind at one step: for logs and for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from jaxtyping import Bool, Float, Int

from sido.arrays import Array

__all__ = ["Insight"]


@final
@dataclass(frozen=True, eq=False)
class Insight:
    """One row for each session."""

    planned: Bool[Array, "N"]
    """A new chunk begins with this action."""
    chunk_step: Int[Array, "N"]
    """Which action of its chunk this is, from 0."""
    phase: Int[Array, "N"]
    """Of `sido.control.Phase`."""
    channel: Float[Array, "N 3"]
    """What the policy was told of the object's position when it planned this chunk; metres, base frame."""
    channel_time_s: Float[Array, "N"]
    """Of when that is. A prediction's lies in the future, an observation's is its stamp."""
    shift_m: Float[Array, "N 3"]
    """By how much the action was shifted after the object."""
