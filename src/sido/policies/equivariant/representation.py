"""How numbers change when the scene turns.

The group is C8, turns by eighths about the vertical; element `g` turns by `g * 45` degrees, counter-clockwise seen
from above. Three kinds of numbers matter here:

- *scalars* stay as they are (z, the gripper): the trivial representation;
- *vectors* `(x, y)` turn: `irrep(1)`;
- *fields* are 8 numbers, one for each direction that one may look in. A turn by `g` moves them on by `g`:
  `field[h]` becomes `field[h - g]`. This is the regular representation; tensors have it as an axis of length 8.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from sido.errors import SettingError

__all__ = ["ORDER", "POSITION", "ROT6D", "Representation", "regular_views", "scalars"]

ORDER = 8
"""How many elements the group has."""


@final
@dataclass(frozen=True)
class Representation:
    """Which of `size` numbers turn together as vectors `(x, y)`, by their places. The others are scalars."""

    size: int
    vectors: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        places = list(itertools.chain(*self.vectors))
        if len(set(places)) != len(places) or not all(0 <= place < self.size for place in places):
            raise SettingError("not places of different numbers", field="vectors", found=places, expected=self.size)

    @property
    def scalars(self) -> tuple[int, ...]:
        """The places of the numbers that stay as they are."""
        turning = set(itertools.chain(*self.vectors))
        return tuple(place for place in range(self.size) if place not in turning)

    @property
    def turns(self) -> Float[Tensor, "8 size size"]:
        """The matrix of each element: `turns[g] @ x` is `x` of the turned scene."""
        turns = torch.eye(self.size, dtype=torch.float64).repeat(ORDER, 1, 1)
        for element, (x, y) in itertools.product(range(ORDER), self.vectors):
            cosine, sine = (wave(2 * math.pi * element / ORDER) for wave in (math.cos, math.sin))
            turns[element, x, x] = turns[element, y, y] = cosine
            turns[element, y, x], turns[element, x, y] = sine, -sine
        return turns.to(torch.get_default_dtype())

    def __add__(self, other: Representation) -> Representation:
        """Of the numbers of both, side by side."""
        shifted = tuple((x + self.size, y + self.size) for x, y in other.vectors)
        return Representation(self.size + other.size, self.vectors + shifted)

    @staticmethod
    def beside(parts: Iterable[Representation]) -> Representation:
        """Of the numbers of all, side by side."""
        return functools.reduce(Representation.__add__, parts, Representation(0))


POSITION = Representation(3, ((0, 1),))
"""Metres from a point of the axis, or a way, or an axis angle in the base frame: `exp(w) R` turned is
`Rz exp(w) R = exp(Rz w) Rz R`."""

ROT6D = Representation(6, ((0, 3), (1, 4), (2, 5)))
"""The first two rows of a matrix `R`. `Rz R` mixes rows: every column's `(R[0, j], R[1, j])` turns as a vector."""


def scalars(size: int) -> Representation:
    """Numbers that stay as they are."""
    return Representation(size)


def regular_views(fields: Float[Tensor, "*batch 8 n"]) -> Float[Tensor, "*batch 8 8 n"]:
    """Fields as they are seen from each direction: `views[h, k] = fields[h + k]`."""
    steps = torch.arange(ORDER, device=fields.device)
    return fields[..., (steps[:, None] + steps) % ORDER, :]
