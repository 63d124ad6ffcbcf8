"""The denoiser of an equivariant policy: one ordinary denoiser, that looks from each direction."""

from __future__ import annotations

from typing import cast, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sido.policies.denoiser import Denoiser
from sido.policies.equivariant.linear import FromFields, ToFields
from sido.policies.equivariant.representation import ORDER, Representation

__all__ = ["ActionField", "within_reach"]

_REACH = 2**0.5
"""Of a vector in the plane whose x and y are within [-1, 1]."""


@final
class ActionField(nn.Module):
    """Actions to fields, a denoiser on each direction's field of the chunk, and back to actions.

        field[h] = relu(W turns[h].T noisy + b)       answer = mean over h of turns[h] W' denoiser(field[h], seen[h])

    The denoiser's weights are shared by all directions, so that turning what goes in turns what comes out.
    """

    def __init__(self, actions: Representation, fields: int, denoiser: Denoiser) -> None:
        """`denoiser` has chunks of `fields` numbers an action."""
        super().__init__()
        self.enter = ToFields(actions, fields)
        self.denoiser = denoiser
        self.leave = FromFields(fields, actions)

    def forward(
        self, noisy: Float[Tensor, "B H C"], time: Float[Tensor, " B"], seen: Float[Tensor, "B 8 D"]
    ) -> Float[Tensor, "B H C"]:
        fields = cast(Tensor, self.enter(noisy)).relu().transpose(1, 2)  # [B, 8, H, fields]
        denoised = self.denoiser(fields.flatten(0, 1), time.repeat_interleave(ORDER), seen.flatten(0, 1))
        return self.leave(denoised.unflatten(0, (-1, ORDER)).transpose(1, 2))


def within_reach(actions: Representation, clean: Float[Tensor, "*batch C"]) -> Float[Tensor, "*batch C"]:
    """Actions that are cut to [-1, 1], and vectors to the circle around that: turning before or after is the same."""
    clipped = clean.clamp(-1, 1)
    for pair in map(list, actions.vectors):
        length = torch.linalg.vector_norm(clean[..., pair], dim=-1, keepdim=True)
        clipped[..., pair] = clean[..., pair] * (_REACH / length.clamp(min=_REACH))
    return clipped
