"""Squares cut out of images."""

from __future__ import annotations

import torch
from jaxtyping import UInt8
from torch import Tensor

from sido.errors import SettingError
from sido.policies.config import CameraConfig

__all__ = ["crop_squares", "cropped_size"]


def crop_squares(
    images: UInt8[Tensor, "N height width 3"], side: int | None, generator: torch.Generator | None
) -> UInt8[Tensor, "N 3 rows columns"]:
    """A square of every image, channels first: each at its own random place, or in the middle without a generator.

    As in diffusion_policy every image has its own place: those of one window, or of two cameras, do not share it.
    (Its places leave out the last one, at the lower and right edge; here all are as likely.) `side` None cuts nothing.
    """
    if side is None:
        return images.permute(0, 3, 1, 2)
    count, height, width, _ = images.shape
    down, right = height - side, width - side
    if generator is None:
        top, left = down // 2, right // 2
        return images[:, top : top + side, left : left + side].permute(0, 3, 1, 2)
    top, left = (
        torch.randint(room + 1, (count,), generator=generator, device=generator.device).to(images.device)
        for room in (down, right)
    )
    # Every square that there is, without a copy: [N, down + 1, right + 1, 3, side, side].
    squares = images.unfold(1, side, 1).unfold(2, side, 1)
    return squares[torch.arange(count, device=images.device), top, left]


def cropped_size(camera: CameraConfig, side: int | None) -> tuple[int, int]:
    """Height and width of what is left of a camera's images; an error where the square does not fit in."""
    if side is None:
        return camera.height, camera.width
    if side > min(camera.height, camera.width):
        raise SettingError(
            "the crop is larger than the image",
            field=f"crop of camera {camera.name!r}",
            found=side,
            expected=f"at most {min(camera.height, camera.width)}",
        )
    return side, side
