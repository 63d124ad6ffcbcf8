"""One network for each camera."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sido.policies.config import CameraConfig
from sido.policies.encoders.crop import crop_squares, cropped_size
from sido.policies.encoders.encoder import Encoder, Images

__all__ = ["PerCamera"]


@final
class PerCamera(Encoder):
    """Crops, pixels in [-1, 1], and a network of its own for each camera, from `[N, 3, height, width]` to `[N, n]`."""

    def __init__(
        self, network: Callable[[int, int], nn.Module], features: int, cameras: Sequence[CameraConfig], crop: int | None
    ) -> None:
        """`network(height, width)` makes the network for crops of that size, with `features` numbers out."""
        super().__init__()
        self.cameras = tuple(camera.name for camera in cameras)
        self.features = features * len(cameras)
        self._crop = crop
        # A list: names of cameras may have dots, which names of modules may not.
        self.networks = nn.ModuleList(network(*cropped_size(camera, crop)) for camera in cameras)

    def forward(self, images: Images, generator: torch.Generator | None) -> Float[Tensor, "B O features"]:
        """Each camera's features, side by side."""
        parts: list[Tensor] = []
        for camera, network in zip(self.cameras, self.networks, strict=True):
            seen = images[camera]
            pixels = crop_squares(seen.flatten(0, 1), self._crop, generator)
            parts.append(network(pixels / 127.5 - 1.0).unflatten(0, seen.shape[:2]))
        return torch.cat(parts, dim=-1)
