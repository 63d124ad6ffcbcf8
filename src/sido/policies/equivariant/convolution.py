"""Convolutions of images, and of fields over an image, that turn with it."""

from __future__ import annotations

import math
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from sido.policies.equivariant.harmonics import harmonics
from sido.policies.equivariant.representation import ORDER

__all__ = ["SteerableConvolution"]


@final
class SteerableConvolution(nn.Module):
    """From scalars (an image's colours) or fields over the image to fields over the image.

    Field `h` of the output looks at the input with filters that are turned by `h`, and, where the input has fields,
    at these from `h` on. With `w` the weights and `b[h]` the turned filters:

        kernel[h, k] = sum_i w[k - h, i] b[h, i]

    Turn the input, and the output turns: exactly for quarters, for eighths up to what a square grid shows of them.
    Channels are ordered by element first: `[N, 8 * fields, height, width]` is `[N, 8, fields, height, width]`.
    """

    filters: Tensor
    steps: Tensor

    def __init__(
        self, before: int, fields: int, side: int, *, of_scalars: bool = False, padding: int = 0, bias: bool = True
    ) -> None:
        """`before` scalars, or fields, in; `fields` out; a kernel of `side` pixels."""
        super().__init__()
        self._padding = padding
        filters = harmonics(side)
        # Of fields, a kernel for each pair of elements, by the steps from one to the other; of scalars just one.
        elements = torch.arange(ORDER)
        steps = torch.zeros(ORDER, 1, dtype=torch.int64) if of_scalars else (elements - elements[:, None]) % ORDER
        self.register_buffer("filters", filters, persistent=False)
        self.register_buffer("steps", steps, persistent=False)
        shape = (fields, steps.shape[1], before, filters.shape[1])
        # He's: what comes out of a ReLU keeps its mean square.
        self.weight = nn.Parameter(torch.randn(shape) * math.sqrt(2 / math.prod(shape[1:])))
        self.bias = nn.Parameter(torch.zeros(fields)) if bias else None

    @property
    def kernel(self) -> Float[Tensor, "out into side side"]:
        """The ordinary convolution's that this is."""
        kernel = torch.einsum("ohkni,hiyx->hoknyx", self.weight[:, self.steps], self.filters)
        return kernel.flatten(2, 3).flatten(0, 1)

    def forward(self, x: Float[Tensor, "N into height width"]) -> Float[Tensor, "N out height2 width2"]:
        bias = None if self.bias is None else self.bias.repeat(ORDER)
        return functional.conv2d(x, self.kernel, bias, padding=self._padding)
