"""Where sampling takes its noise from: one generator for a whole batch, or one for each sample."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from sido.errors import SettingError

__all__ = ["Generators", "standard_normal"]

Generators = torch.Generator | Sequence[torch.Generator]
"""With one for each sample, what a sample draws is the same whatever else is in its batch: a robot that is evaluated
beside others acts as it would alone."""


def standard_normal(
    shape: Sequence[int],
    generators: Generators,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """`[B, ...]` numbers from N(0, 1), drawn on the generators' own devices.

    Raises:
        SettingError: as many generators as samples were expected.
    """
    if isinstance(generators, torch.Generator):
        return torch.randn(*shape, generator=generators, device=generators.device, dtype=dtype).to(device)
    if len(generators) != shape[0]:
        raise SettingError("one generator for each sample", found=len(generators), expected=shape[0])
    rows = [torch.randn(*shape[1:], generator=each, device=each.device, dtype=dtype).to(device) for each in generators]
    return torch.stack(rows)
