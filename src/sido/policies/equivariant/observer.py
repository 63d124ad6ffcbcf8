"""State and images to fields: what is seen, from each direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sido.policies.config import EquivariantPolicyConfig
from sido.policies.encoders import build_encoder
from sido.policies.equivariant.image_encoder import EquivariantImageEncoder
from sido.policies.equivariant.linear import Views
from sido.policies.equivariant.representation import ORDER, Representation, regular_views

__all__ = ["ImageFeatures", "Observer"]


class ImageFeatures(NamedTuple):
    """What the cameras show; None where there is no such camera."""

    turning: Float[Tensor, "B O 8 fields"] | None
    """Fields, of the camera whose image turns with the scene."""
    carried: Float[Tensor, "B O n"] | None
    """Scalars, of those that move with the hand."""

    def repeat(self, times: int) -> ImageFeatures:
        """For several draws of the same observations, one after the other."""
        turning, carried = self
        return ImageFeatures(
            None if turning is None else turning.repeat(times, 1, 1, 1),
            None if carried is None else carried.repeat(times, 1, 1),
        )


@final
class Observer(nn.Module):
    """One linear layer on all that is seen, from each direction. Every equivariant linear map is of this form.

        fields[h] = W [turns[h].T state, turning[h], turning[h+1], ..., turning[h+7], carried] + b

    For each field that is 8 weights for a field of the image, 2 for a vector and 1 for a scalar.
    """

    def __init__(self, config: EquivariantPolicyConfig, state: Representation) -> None:
        super().__init__()
        cameras = {camera.name: camera for camera in config.observation.cameras}
        turned = None if config.turned_camera is None else cameras.pop(config.turned_camera)
        self._turned = config.turned_camera
        self.turning = None if turned is None else EquivariantImageEncoder(turned, config.crop, config.fields)
        carried = config.wrist_encoder
        self.carried = None if carried is None else build_encoder(carried, tuple(cameras.values()))
        self.views = Views(state)
        images = (0 if turned is None else ORDER * config.fields) + (self.carried.features if self.carried else 0)
        self.linear = nn.Linear(state.size + images, config.fields)

    def images(self, observations: Mapping[str, Tensor], generator: torch.Generator | None) -> ImageFeatures:
        """Features of the images, from random crops where there is a generator."""
        turning = carried = None
        if self.turning is not None:
            turning = self.turning(observations[f"image.{self._turned}"], generator)
        if self.carried is not None:
            carried = self.carried({name: observations[f"image.{name}"] for name in self.carried.cameras}, generator)
        return ImageFeatures(turning, carried)

    def forward(self, state: Float[Tensor, "B O n"], images: ImageFeatures) -> Float[Tensor, "B O 8 fields"]:
        parts = [cast(Tensor, self.views(state))]
        if images.turning is not None:
            parts.append(regular_views(images.turning).flatten(-2))
        if images.carried is not None:
            parts.append(images.carried[..., None, :].expand(-1, -1, ORDER, -1))
        return self.linear(torch.cat(parts, dim=-1))
