"""An image that turns with the scene, to fields that turn with it."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn
from torch.nn import functional

from sido.errors import SettingError
from sido.policies.config import CameraConfig
from sido.policies.encoders.crop import crop_squares, cropped_size
from sido.policies.equivariant.convolution import SteerableConvolution
from sido.policies.equivariant.representation import ORDER

__all__ = ["EquivariantImageEncoder"]

_BLOCKS = 8
_SMALLEST_CROP = 28  # pixels: what becomes 3 x 3 before the last convolution


@final
class EquivariantImageEncoder(nn.Module):
    """The equivariant residual network of Equivariant Diffusion Policy, without normalisation layers.

    | | a crop of 76 | fields |
    |---|---|---|
    | 5x5, no padding | 72 | n/8 |
    | two residual blocks, halve | 36 | n/8 |
    | two residual blocks, halve | 18 | n/4 |
    | two residual blocks, halve | 9 | n/2 |
    | two residual blocks, pool | 3 | n |
    | 3x3, no padding | 1 | n |

    It takes crops of any size: pooling windows overlap where they do not divide an image, so that they keep its
    symmetry. Turning the crop counter-clockwise by quarters turns the fields; by eighths, roughly.
    """

    def __init__(self, camera: CameraConfig, crop: int, fields: int) -> None:
        super().__init__()
        side, _ = cropped_size(camera, crop)
        if side < _SMALLEST_CROP:
            raise SettingError("too small a crop", field="crop", found=side, expected=f"at least {_SMALLEST_CROP}")
        if (camera.height - side) % 2 or (camera.width - side) % 2:
            raise SettingError(
                "no crop of this size lies in the very middle of the image, about which it turns",
                field="crop",
                found=side,
                expected=f"even and odd as the image is, {camera.height} x {camera.width}",
            )
        self._crop = crop
        narrow, middle, wide = (max(1, fields // divisor) for divisor in (8, 4, 2))
        self.network = nn.Sequential(
            SteerableConvolution(3, narrow, 5, of_scalars=True), nn.ReLU(inplace=True),
            _Block(narrow, narrow), _Block(narrow, narrow), _Halve(),
            _Block(narrow, middle), _Block(middle, middle), _Halve(),
            _Block(middle, wide), _Block(wide, wide), _Halve(),
            _Block(wide, fields), _Block(fields, fields), nn.AdaptiveMaxPool2d(3),
            SteerableConvolution(fields, fields, 3), nn.ReLU(inplace=True),
        )  # fmt: skip

    def forward(
        self, images: UInt8[Tensor, "B O height width 3"], generator: torch.Generator | None
    ) -> Float[Tensor, "B O 8 fields"]:
        """Fields of each observation step; crops at random with a generator, else in the middle."""
        pixels = crop_squares(images.flatten(0, 1), self._crop, generator)
        return self.network(pixels / 127.5 - 1.0).view(*images.shape[:2], ORDER, -1)


@final
class _Block(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        first, second = (
            SteerableConvolution(before, after, 3, padding=1),
            SteerableConvolution(after, after, 3, padding=1),
        )
        self.change = nn.Sequential(first, nn.ReLU(inplace=True), second)
        self.shortcut = nn.Identity() if before == after else SteerableConvolution(before, after, 1, bias=False)
        # There are no normalisation layers: eight blocks at their full weight would make numbers of 1 into ones of 50.
        with torch.no_grad():
            second.weight.mul_(_BLOCKS**-0.5)

    def forward(self, x: Float[Tensor, "N before h w"]) -> Float[Tensor, "N after h w"]:
        return functional.relu(self.change(x) + self.shortcut(x), inplace=True)


@final
class _Halve(nn.Module):
    """The largest value of each 2 x 2 pixels; the windows of an odd side overlap, alike from both ends."""

    def forward(self, x: Float[Tensor, "N channels h w"]) -> Float[Tensor, "N channels h2 w2"]:
        if x.shape[-1] % 2:
            return functional.adaptive_max_pool2d(x, (x.shape[-1] + 1) // 2)
        return functional.max_pool2d(x, 2)
