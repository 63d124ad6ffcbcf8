"""The activation of Diffusion Policy's U-Net, in half the time on a CPU."""

from __future__ import annotations

from typing import Any, cast, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Mish"]

_LINEAR_FROM = 20.0
"""Beyond it `tanh(softplus(x))` is 1, to the last bit of float32."""


@final
class Mish(nn.Module):
    """`x tanh(log(1 + exp(x)))`.

    torch's own kernel for CPUs takes the logarithm, the hyperbolic tangent and the exponential of every number, number
    by number. With `n = e^x (e^x + 2)` it is `x n / (n + 2)`: one exponential, and the rest are vector operations. A
    sixth of a U-Net's training step went into this.
    """

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        if x.device.type != "cpu" or x.dtype != torch.float32:
            return functional.mish(x)
        return cast(Tensor, _FastMish.apply(x))


class _FastMish(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        exp = x.clamp(max=_LINEAR_FROM).exp_()
        ctx.save_for_backward(x, exp)
        n = exp.add(2).mul_(exp)
        return (n / n.add(2)).mul_(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        """`n / (n + 2) + x 4 e^x (e^x + 1) / (n + 2)^2`."""
        x, exp = ctx.saved_tensors
        n = exp.add(2).mul_(exp)
        inverse = n.add(2).reciprocal_()
        slope = exp.add(1).mul_(exp).mul_(4).mul_(inverse).mul_(x).add_(n).mul_(inverse)
        return slope.mul_(gradients[0])
