"""What an equivariant policy is told besides images, and how that turns with the scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from sido.policies.config import ObservationConfig
from sido.policies.equivariant.representation import POSITION, ROT6D, Representation, scalars
from sido.policies.normaliser import Normaliser
from sido.policies.state_features import FAR_M, NEAR_M, StateFeatures

__all__ = ["EquivariantState"]


@final
@dataclass(frozen=True)
class EquivariantState:
    """One vector for each observation step, of what `StateFeatures` has, too: hand, gripper, positions, ways to these.

    The normaliser must be symmetric: all positions share its scale and its axis. Near ways are squashed as
    `tanh(length / 2 cm)` along their own direction in the plane, since squashing x and y each would not turn.
    """

    config: ObservationConfig

    @property
    def representation(self) -> Representation:
        """How the numbers turn, in their order."""
        told = StateFeatures(self.config)
        hand = (POSITION, ROT6D, scalars(self.config.gripper_joints))
        ways = 2 * len(told.ways) if self.config.offset_features else 0
        return Representation.beside((*hand, *[POSITION] * (len(told.positions) + ways)))

    def __call__(
        self, normaliser: Normaliser, observations: Mapping[str, Tensor], object_position: Float[Tensor, "B O 3"]
    ) -> Float[Tensor, "B O features"]:
        """Observations are raw, as in an `ObservationWindow`."""
        raw = {**observations, "object_position": object_position}
        told = StateFeatures(self.config)
        names = ("eef_position", "eef_rot6d", "gripper", *told.positions)
        parts = [normaliser.normalise(name, raw[name].to(normaliser.scale)) for name in names]
        if self.config.offset_features:
            ways = [(raw[end] - raw[begin]).to(normaliser.scale) for begin, end in told.ways]
            parts += [way / FAR_M for way in ways] + [_squashed(way / NEAR_M) for way in ways]
        return torch.cat(parts, dim=-1)


def _squashed(way: Float[Tensor, "*batch 3"]) -> Float[Tensor, "*batch 3"]:
    """Shorter than 1, in the plane and along the vertical."""
    plane, height = way[..., :2], way[..., 2:]
    length = torch.linalg.vector_norm(plane, dim=-1, keepdim=True)
    return torch.cat([plane * (length.tanh() / length.clamp(min=1e-9)), height.tanh()], dim=-1)
