"""What a policy is told besides images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from sido.policies.config import ObservationConfig
from sido.policies.normaliser import Normaliser

__all__ = ["FAR_M", "NEAR_M", "StateFeatures"]

NEAR_M = 0.02
"""The way to a position is squashed by `tanh(way / 2 cm)`: the last centimetres fill the range."""
FAR_M = 0.10
"""The plain way is shown in units of this."""


@final
@dataclass(frozen=True)
class StateFeatures:
    """One vector for each observation step: hand, gripper, pose channel if any, landmarks, and the ways between these.

    Nothing is clipped: however far an object has been displaced, its channel says where it is. The ways are taken in
    metres, before anything is normalised.
    """

    config: ObservationConfig

    @property
    def size(self) -> int:
        """How many numbers that is, for one step."""
        ways = 6 * len(self.ways) if self.config.offset_features else 0
        return 3 + 6 + self.config.gripper_joints + 3 * len(self.positions) + ways

    def __call__(
        self, normaliser: Normaliser, observations: Mapping[str, Tensor], object_position: Float[Tensor, "B O 3"]
    ) -> Float[Tensor, "B O features"]:
        """Observations are raw, as in an `ObservationWindow`."""
        raw = {**observations, "object_position": object_position}
        names = ("eef_position", "eef_rot6d", "gripper", *self.positions)
        parts = [normaliser.normalise(name, raw[name].to(normaliser.scale)) for name in names]
        if self.config.offset_features and self.ways:
            ways = torch.cat([(raw[end] - raw[begin]).to(normaliser.scale) for begin, end in self.ways], dim=-1)
            parts += [ways / FAR_M, torch.tanh(ways / NEAR_M)]
        return torch.cat(parts, dim=-1)

    @property
    def positions(self) -> tuple[str, ...]:
        """What there is to reach for."""
        channel = () if self.config.pose_channel == "none" else ("object_position",)
        return (*channel, *(f"landmark.{name}" for name in self.config.landmarks))

    @property
    def ways(self) -> tuple[tuple[str, str], ...]:
        """From where to where: from the hand to all positions, from the object to the landmarks."""
        hand = tuple(("eef_position", name) for name in self.positions)
        if self.config.pose_channel == "none":
            return hand
        return (*hand, *(("object_position", f"landmark.{name}") for name in self.config.landmarks))
