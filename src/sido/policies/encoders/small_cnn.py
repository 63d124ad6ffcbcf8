"""Strided convolutions, and then a linear layer or keypoints: for laptops."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from torch import nn

from sido.policies.config import CameraConfig, SmallCnnConfig
from sido.policies.encoders.encoder import Encoder
from sido.policies.encoders.per_camera import PerCamera
from sido.policies.encoders.spatial_softmax import SpatialSoftmax

__all__ = ["small_cnn", "small_cnn_encoder"]


def small_cnn_encoder(config: SmallCnnConfig, cameras: Sequence[CameraConfig]) -> Encoder:
    """One for each camera."""
    network = functools.partial(small_cnn, config.channels, config.features, keypoints=config.keypoints)
    return PerCamera(network, config.features, cameras, config.crop)


def small_cnn(
    channels: Sequence[int], features: int, height: int, width: int, *, keypoints: int | None = None
) -> nn.Sequential:
    """`[N, 3, height, width]` to `[N, features]`; every convolution halves the image, but the last before keypoints."""
    layers: list[nn.Module] = []
    for number, (before, after) in enumerate(zip((3, *channels), channels, strict=False), start=1):
        stride = 1 if keypoints is not None and number == len(channels) else 2
        layers += [nn.Conv2d(before, after, kernel_size=3, stride=stride, padding=1), nn.ReLU()]
        height, width = (height + stride - 1) // stride, (width + stride - 1) // stride
    if keypoints is not None:
        points = SpatialSoftmax(channels[-1], keypoints)
        return nn.Sequential(*layers, points, nn.Flatten(), nn.Linear(2 * keypoints, features))
    flat = (channels[-1] if channels else 3) * height * width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(flat, features), nn.LayerNorm(features))
