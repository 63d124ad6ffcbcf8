"""Diffusion Policy's image encoder: ResNet18 with GroupNorm for BatchNorm, and a spatial softmax."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from sido.errors import SettingError
from sido.policies.config import CameraConfig, ResNet18Config
from sido.policies.encoders.encoder import Encoder
from sido.policies.encoders.per_camera import PerCamera
from sido.policies.encoders.spatial_softmax import SpatialSoftmax

__all__ = ["resnet18", "resnet18_encoder", "resnet18_trunk"]

_SMALLEST = 33  # pixels: on less, the trunk's map is a single place, and all keypoints are there


def resnet18_encoder(config: ResNet18Config, cameras: Sequence[CameraConfig]) -> Encoder:
    """One for each camera."""
    network = functools.partial(resnet18, config.keypoints, normalised=config.normalised)
    return PerCamera(network, 2 * config.keypoints, cameras, config.crop)


def resnet18(keypoints: int, height: int, width: int, *, normalised: bool = True) -> nn.Sequential:
    """`[N, 3, height, width]` to `[N, 2 * keypoints]`: the keypoints' places, linearly mixed as in robomimic."""
    if min(height, width) < _SMALLEST:
        raise SettingError(
            "too small for ResNet18, which divides images by 32",
            field="image size, or crop",
            found=f"{height} x {width}",
            expected=f"at least {_SMALLEST} x {_SMALLEST}",
            fix="use larger images, or the small CNN",
        )
    size = 2 * keypoints
    trunk = resnet18_trunk(normalised=normalised)
    return nn.Sequential(trunk, SpatialSoftmax(512, keypoints), nn.Flatten(), nn.Linear(size, size))


def resnet18_trunk(*, normalised: bool = True) -> nn.Sequential:
    """`[N, 3, height, width]` to `[N, 512, height / 32, width / 32]`, rounded up: 11.2 M weights."""
    norm = _group_norm if normalised else _as_it_is
    stem = [nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False), norm(64), nn.ReLU(inplace=True)]
    stages = [
        _Block(before, after, stride, norm)
        for before, after, stride in (
            (64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1),
            (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1),
        )
    ]  # fmt: skip
    trunk = nn.Sequential(*stem, nn.MaxPool2d(kernel_size=3, stride=2, padding=1), *stages)
    for module in trunk.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return trunk


@final
class _Block(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    def __init__(self, before: int, after: int, stride: int, norm: Callable[[int], nn.Module]) -> None:
        super().__init__()
        self.change = nn.Sequential(
            nn.Conv2d(before, after, kernel_size=3, stride=stride, padding=1, bias=False),
            norm(after),
            nn.ReLU(inplace=True),
            nn.Conv2d(after, after, kernel_size=3, padding=1, bias=False),
            norm(after),
        )
        same = before == after and stride == 1
        self.shortcut = (
            nn.Identity()
            if same
            else nn.Sequential(nn.Conv2d(before, after, kernel_size=1, stride=stride, bias=False), norm(after))
        )
        self.last = nn.ReLU(inplace=True)

    def forward(self, x: Float[Tensor, "N before h w"]) -> Float[Tensor, "N after h2 w2"]:
        return self.last(self.change(x) + self.shortcut(x))


def _group_norm(channels: int) -> nn.Module:
    """In groups of 16 channels, as diffusion_policy has it: batch statistics and an average of weights do not agree."""
    return nn.GroupNorm(channels // 16, channels)


def _as_it_is(_channels: int) -> nn.Module:
    return nn.Identity()
