"""The shape vocabulary: what the letters in sido's signatures mean.

Shapes stand in the signatures as jaxtyping annotations, `Float[Array, "T 3"]`. They cost nothing in use and are
checked under pytest only.

| letter | meaning |
|---|---|
| `B` | samples of a batch |
| `T` | control steps of one demonstration |
| `H` | prediction horizon `T_p`, the length of a chunk |
| `O` | observation steps |
| `A` | numbers in one action |
| `G` | gripper joints |
| `...`, `*batch` | any leading axes |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

__all__ = ["Array", "FloatArray", "Matrices", "Quaternions", "Rot6ds", "Vectors", "read_only"]

Array = np.ndarray[Any, np.dtype[Any]]
"""`numpy.typing.NDArray[Any]`, which jaxtyping does not take apart in numpy 2.5 and later."""

FloatArray = Float[Array, "..."]
Vectors = Float[Array, "*batch 3"]
Quaternions = Float[Array, "*batch 4"]
Rot6ds = Float[Array, "*batch 6"]
Matrices = Float[Array, "*batch 3 3"]


def read_only(array: Array) -> Array:
    """A view of `array` that refuses to be written to; `array` itself keeps its own flag."""
    view = array.view()
    view.flags.writeable = False
    return view
