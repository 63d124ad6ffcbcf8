"""Relative commands that ask for more than the controller gives."""

from __future__ import annotations

from dataclasses import dataclass

from sido.demos.chunks import ChunkBatch

__all__ = ["Saturation"]

_RANGE_TOLERANCE = 1e-4  # as in Demo: commands stored as float32 overshoot their range by a hair


@dataclass(frozen=True)
class Saturation:
    """How many position commands of the displaced chunks leave `[-1, 1]`, where the controller clips them.

    The morph does not clip: its invariant is on the commanded waypoints. But a clipped command falls short of them,
    so a share above a few per cent says that the displacement is too far, or the gain too small, for the robot.
    Counts of several batches add up. Absolute actions have no such range, and none of theirs saturates.
    """

    steps: int = 0
    """Steps of the displaced chunks, those past the end of a demonstration left out."""
    saturated: int = 0
    """How many of them command a position increment beyond the range, on any axis."""

    @classmethod
    def of(cls, batch: ChunkBatch) -> Saturation:
        """Count one batch, as `Counterfactual` returned it."""
        counted = (batch.displacement != 0).any(1)[:, None] & ~batch.action_is_pad
        if batch.action_spec.kind == "absolute":
            return cls(int(counted.sum()))
        beyond = (batch.actions[..., :3].abs() > 1.0 + _RANGE_TOLERANCE).any(2)
        return cls(int(counted.sum()), int((counted & beyond).sum()))

    @property
    def share(self) -> float:
        """Saturated steps over steps; 0 where nothing was displaced."""
        return self.saturated / self.steps if self.steps else 0.0

    def __add__(self, other: Saturation) -> Saturation:
        return Saturation(self.steps + other.steps, self.saturated + other.saturated)

    def __str__(self) -> str:
        return f"{self.saturated} of {self.steps} displaced steps ({100 * self.share:.2g} %) saturate the controller"
