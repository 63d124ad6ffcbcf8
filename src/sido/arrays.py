"""The shape vocabulary: what the letters in sido's signatures mean.

Shapes stand in the signatures as jaxtyping annotations. They cost nothing in use and are checked under pytest only.

| letter | meaning |
|---|---|
| `B` | samples of a batch |
| `T` | control steps of one demonstration |
| `H` | prediction horizon `T_p`, the length of a chunk |
| `O` | observation steps `n_obs_steps` |
| `A` | numbers in one action |
| `G` | gripper joints |
| `...` | any leading axes |
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

__all__ = [
    "BoolArray",
    "FloatArray",
    "Image",
    "IntArray",
    "Matrices",
    "Quaternions",
    "Rot6ds",
    "Vectors",
    "read_only",
]

FloatArray = Float[np.ndarray, "..."]
IntArray = Int[np.ndarray, "..."]
BoolArray = Bool[np.ndarray, "..."]
Image = UInt8[np.ndarray, "height width 3"]

Vectors = Float[np.ndarray, "*batch 3"]
Quaternions = Float[np.ndarray, "*batch 4"]
Rot6ds = Float[np.ndarray, "*batch 6"]
Matrices = Float[np.ndarray, "*batch 3 3"]


def read_only(array: np.ndarray) -> np.ndarray:
    """A view of `array` that refuses to be written to; `array` itself keeps its own flag."""
    view = array.view()
    view.flags.writeable = False
    return view
