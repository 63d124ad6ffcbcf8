"""Feature maps to keypoints."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["SpatialSoftmax"]


@final
class SpatialSoftmax(nn.Module):
    """Where each keypoint is: a softmax over the places of its own map, and the place that is expected.

    (x, y) in [-1, 1] from the first column and row of the feature maps to the last.
    """

    def __init__(self, channels: int, keypoints: int) -> None:
        super().__init__()
        self.maps = nn.Conv2d(channels, keypoints, kernel_size=1)

    def forward(self, features: Float[Tensor, "N channels rows columns"]) -> Float[Tensor, "N keypoints 2"]:
        """The expected places."""
        maps = self.maps(features)
        rows, columns = (torch.linspace(-1, 1, size, device=maps.device, dtype=maps.dtype) for size in maps.shape[-2:])
        shares = maps.flatten(2).softmax(dim=-1).view(maps.shape)
        # Not as matrix products: mixed precision would round these, and with them the places to eighths of a pixel.
        return torch.stack([(shares.sum(2) * columns).sum(2), (shares.sum(3) * rows).sum(2)], dim=-1)
