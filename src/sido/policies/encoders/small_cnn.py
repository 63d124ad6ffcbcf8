"""Strided convolutions, a linear layer, LayerNorm: for laptops."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from torch import nn

from sido.policies.config import CameraConfig, SmallCnnConfig
from sido.policies.encoders.encoder import Encoder
from sido.policies.encoders.per_camera import PerCamera

__all__ = ["small_cnn", "small_cnn_encoder"]


def small_cnn_encoder(config: SmallCnnConfig, cameras: Sequence[CameraConfig]) -> Encoder:
    """One for each camera."""
    network = functools.partial(small_cnn, config.channels, config.features)
    return PerCamera(network, config.features, cameras, config.crop)


def small_cnn(channels: Sequence[int], features: int, height: int, width: int) -> nn.Sequential:
    """`[N, 3, height, width]` to `[N, features]`; every convolution halves the image."""
    layers: list[nn.Module] = []
    for before, after in zip((3, *channels), channels, strict=False):
        layers += [nn.Conv2d(before, after, kernel_size=3, stride=2, padding=1), nn.ReLU()]
        height, width = (height + 1) // 2, (width + 1) // 2
    flat = (channels[-1] if channels else 3) * height * width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(flat, features), nn.LayerNorm(features))
