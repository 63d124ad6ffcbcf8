"""Positions read off pictures, for things that nobody tells the policy about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sido.policies.normaliser import Normaliser
from sido.policies.state_features import FAR_M

__all__ = ["Spotter"]

_WIDTH = 128


@final
class Spotter(nn.Module):
    """From image features and the hand to where each of some things is, by name: metres, base frame.

    It says ways from the hand: what the hand's camera sees is a way, and what a camera that stands still sees is one
    after a subtraction. It is taught by the positions that demonstrations have; at deployment it stands in for them.
    """

    def __init__(self, names: Sequence[str], features: int) -> None:
        super().__init__()
        self.names = tuple(names)
        self.layers = nn.Sequential(nn.Linear(features + 3, _WIDTH), nn.SiLU(), nn.Linear(_WIDTH, 3 * len(self.names)))

    def forward(
        self, images: Float[Tensor, "B O n"], normaliser: Normaliser, observations: Mapping[str, Tensor]
    ) -> dict[str, Float[Tensor, "B O 3"]]:
        """By the names that observations have: "landmark.<name>"."""
        hand = observations["eef_position"].to(normaliser.scale)
        place = normaliser.normalise("eef_position", hand)
        ways = FAR_M * self.layers(torch.cat([images, place], dim=-1)).to(hand).unflatten(-1, (-1, 3))
        return {f"landmark.{name}": hand + ways[:, :, k] for k, name in enumerate(self.names)}

    def loss(
        self, spotted: Mapping[str, Float[Tensor, "B O 3"]], observations: Mapping[str, Tensor]
    ) -> Float[Tensor, ""]:
        """Mean squared error of each coordinate, in units of `FAR_M`."""
        errors = [(there - observations[name].to(there)) / FAR_M for name, there in spotted.items()]
        return torch.stack(errors).square().mean()
