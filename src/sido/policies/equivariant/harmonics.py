"""Small filters whose turned copies are exact: rings times circular harmonics."""

from __future__ import annotations

import itertools
import math

import torch
from jaxtyping import Float
from torch import Tensor

from sido.errors import SettingError
from sido.policies.equivariant.representation import ORDER

__all__ = ["harmonics"]

_RING_WIDTH, _OUTERMOST_WIDTH, _CENTRE_WIDTH = 0.6, 0.4, 0.005
_HIGHEST_FREQUENCY = 2


def harmonics(side: int) -> Float[Tensor, "8 filters side side"]:
    """Filters on a grid of odd side, each turned by each element of the group: `[g]` is turned by `g * 45` degrees.

    Around the grid's middle, at whole radii `r`, Gaussian rings `exp(-(|y| - r)^2 / 2 s^2)` times `cos(m phi)` and
    `sin(m phi)`, with `m` up to 2 (0 at the centre): e2cnn's choice of radii, widths and frequencies, beyond which a
    grid shows one harmonic as another. `phi` is counter-clockwise from the right, in the image as it is displayed.
    A turned copy is the same function of `phi` minus the turn. For quarters that is the turned grid, to rounding;
    for eighths as near to one as a square grid allows.

    Both of a pair have the same scale, such that their mean square norm is 1.
    """
    if side % 2 == 0:
        raise SettingError("the grid has no middle", field="kernel size", found=side, expected="an odd number")
    reach = side // 2
    across = torch.arange(-reach, reach + 1, dtype=torch.float64)
    x, y = across[None, :], -across[:, None]
    radius, angle = torch.hypot(x, y), torch.atan2(y.expand(side, side), x.expand(side, side))
    turn = torch.arange(ORDER, dtype=torch.float64)[:, None, None] * (2 * math.pi / ORDER)
    filters: list[Tensor] = []
    for ring in range(reach + 1):
        width = _CENTRE_WIDTH if ring == 0 else _OUTERMOST_WIDTH if ring == reach else _RING_WIDTH
        envelope = torch.exp(-((radius - ring) ** 2) / (2 * width**2))
        filters.append((envelope / envelope.norm()).expand(ORDER, side, side))
        frequencies = range(1, (_HIGHEST_FREQUENCY if ring else 0) + 1)
        for frequency, wave in itertools.product(frequencies, (torch.cos, torch.sin)):
            # In the very middle there is no angle, and a wave is 0.
            around = torch.where(radius > 0, envelope, 0.0)
            filters.append(math.sqrt(2) * around / around.norm() * wave(frequency * (angle - turn)))
    return torch.stack(filters, dim=1).to(torch.get_default_dtype())
