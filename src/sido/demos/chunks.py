"""What one training step consumes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from sido.demos.action_spec import ActionSpec

__all__ = ["ChunkBatch"]


@dataclass(frozen=True, eq=False)
class ChunkBatch:
    """`B` transitions: what was observed at steps `t-O+1 .. t`, and the chunk of `H` actions that starts at `t`.

    Steps before the first of a demonstration repeat the first, actions after the last repeat the last; the masks
    say which. Nothing is normalised: positions are metres in the base frame, images uint8 as recorded.
    """

    observations: Mapping[str, Tensor]
    """By name, `[B, O, ...]`: "eef_position", "eef_rot6d", "gripper", "image.<camera>" (uint8, channels last)."""
    object_position: Float[Tensor, "B O 3"]
    """The pose channel: where the object is at each observation step, or, in a counterfactual, will be."""
    actions: Float[Tensor, "B H A"]
    observation_is_pad: Bool[Tensor, "B O"]
    action_is_pad: Bool[Tensor, "B H"]
    eligible: Bool[Tensor, " B"]
    """Whether the chunk may be displaced: it reaches for the object and ends before the grasp."""
    held: Bool[Tensor, " B"]
    """Whether the object is in the hand at `t`: from when the fingers have closed on it until they are told to open."""
    displacement: Float[Tensor, "B 3"]
    """By how much the sample has been displaced; zeros as demonstrated."""
    demo_index: Int64[Tensor, " B"]
    step: Int64[Tensor, " B"]
    """`t`, counted from the start of the demonstration."""
    action_spec: ActionSpec

    def __len__(self) -> int:
        return len(self.actions)

    def __getitem__(self, rows: slice | Int64[Tensor, " N"] | Bool[Tensor, " B"]) -> ChunkBatch:
        """Some of the samples, as a batch."""
        return self._map(lambda tensor: tensor[rows])

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> ChunkBatch:
        """The same batch on another device, its floating-point tensors as `dtype` when one is given."""
        return self._map(lambda tensor: tensor.to(device, dtype if tensor.is_floating_point() else None))

    def pin_memory(self) -> ChunkBatch:
        """The same batch in page-locked memory, from which copies to a GPU are asynchronous."""
        return self._map(torch.Tensor.pin_memory)

    def _map(self, change: Any) -> ChunkBatch:
        tensors = {
            field.name: change(value)
            for field in dataclasses.fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        observations = {name: change(tensor) for name, tensor in self.observations.items()}
        return dataclasses.replace(self, observations=observations, **tensors)
