"""The contract: the images of some cameras in, one vector of features for each observation step out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

__all__ = ["Encoder", "Images"]

Images = Mapping[str, UInt8[Tensor, "B O _ _ 3"]]
"""By the camera's name ("agentview"): as recorded, channels last. Cameras may differ in size."""


class Encoder(nn.Module, ABC):
    """What all cameras show, as features."""

    cameras: tuple[str, ...]
    """Those that it reads, in the order of their features; images of others may be there, too."""
    features: int
    """How many numbers come out for an observation step, of all cameras together."""

    @abstractmethod
    def forward(self, images: Images, generator: torch.Generator | None) -> Float[Tensor, "B O features"]:
        """Features of each observation step for itself.

        With a generator, of any device, images are cropped at random (in training); without, in the middle.
        """
