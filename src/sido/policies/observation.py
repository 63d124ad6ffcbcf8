"""What a policy sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from sido.demos.chunks import ChunkBatch

__all__ = ["ObservationWindow"]


@dataclass(frozen=True, eq=False)
class ObservationWindow:
    """What was observed at steps `t-O+1 .. t`, in raw units: metres in the base frame, images as recorded."""

    observations: Mapping[str, Tensor]
    """By name, `[B, O, ...]`: "eef_position", "eef_rot6d", "gripper", "landmark.<name>" (metres), "image.<camera>"
    (uint8, channels last `[B, O, height, width, 3]`)."""
    object_position: Float[Tensor, "B O 3"]
    """The pose channel: where the object is at each observation step, or will be."""

    @classmethod
    def of(cls, batch: ChunkBatch) -> ObservationWindow:
        """The part of a training batch that the policy sees."""
        return cls(batch.observations, batch.object_position)

    def __len__(self) -> int:
        return len(self.object_position)

    def to(self, device: torch.device | str) -> ObservationWindow:
        """The same window on another device."""
        observations = {name: tensor.to(device) for name, tensor in self.observations.items()}
        return ObservationWindow(observations, self.object_position.to(device))
