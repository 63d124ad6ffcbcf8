"""What a frozen backbone makes of an image, kept: each image goes through it once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import final

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

__all__ = ["TokenCache"]


@final
class TokenCache:
    """By content: an image that comes again, in whatever batch, has the token that it had.

    Kept in memory for as long as the encoder lives: 1.5 kB for each image of a dataset, whose pixels are some 20 kB.
    Every image goes through the backbone alone. What others are in its batch would change its token's last bits, and
    a run that goes on after it was killed would not be the run that was never killed.
    """

    def __init__(self, backbone: Callable[[UInt8[Tensor, "1 height width 3"]], Float[Tensor, "1 size"]]) -> None:
        self._backbone = backbone
        self._tokens: dict[bytes, Tensor] = {}

    def __len__(self) -> int:
        return len(self._tokens)

    def __call__(self, images: UInt8[Tensor, "N height width 3"]) -> Float[Tensor, "N size"]:
        """On the images' device."""
        tokens: list[Tensor] = []
        for image, pixels in zip(images, images.cpu().contiguous().numpy(), strict=True):
            key = hashlib.blake2b(pixels, digest_size=16).digest()
            if key not in self._tokens:
                self._tokens[key] = self._backbone(image[None])[0].cpu()
            tokens.append(self._tokens[key])
        return torch.stack(tokens).to(images.device)

    def clear(self) -> None:
        """Forget all: the backbone's weights are others now."""
        self._tokens.clear()
