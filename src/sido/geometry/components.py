"""The numbers of a small vector, taken apart and put together.

A component keeps its last axis, of length 1: it stays an array of the input's dtype even where there is no batch
(a numpy scalar times a Python float would be promoted to float64).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array, FloatArray
from sido.errors import DataError

__all__ = ["as_floats", "components", "join", "norm", "ratio", "refuse_where"]

Component = Float[Array, "*batch 1"]


def as_floats(values: object, *, field: str) -> FloatArray:
    """`values` as they are where they are floats; whole numbers as float64, so that no result is cut to one."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise DataError("not an array of numbers", field=field, found=repr(values)[:80]) from error
    if array.dtype.kind not in "fiu":
        raise DataError("not real numbers", field=field, found=array.dtype, expected="floats or whole numbers")
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def components(array: Float[Array, "*batch n"]) -> tuple[Float[Array, "*batch 1"], ...]:
    """The entries along the last axis, each with its own last axis of length 1."""
    return tuple(array[..., index : index + 1] for index in range(array.shape[-1]))


def join(*parts: Float[Array, "... _"]) -> Float[Array, "... n"]:
    """Entries side by side along the last axis, their leading axes broadcast."""
    batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return np.concatenate([np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts], axis=-1)


def norm(array: Float[Array, "*batch n"]) -> Component:
    """The Euclidean length, without underflow or overflow on the way: `|1e-200 e_x|` is 1e-200, not 0."""
    with np.errstate(over="ignore"):  # beyond the dtype's range the length is infinite, and refused as such
        return np.hypot.reduce(array, axis=-1, keepdims=True)


def ratio(numerator: Component, denominator: Component) -> Component:
    """`numerator / denominator`, and 0 where the denominator is zero: for factors of a vector that is zero there."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)


def refuse_where(
    bad: Bool[Array, "*batch"] | np.bool_, values: Array, problem: str, *, field: str, expected: str
) -> None:
    """Raise a DataError that shows the first of `values` (leading axes as `bad`) for which `bad` holds.

    Without a batch, numpy's comparisons give a scalar, so `bad` may be one.
    """
    if np.any(bad):
        index = tuple(int(place) for place in np.argwhere(bad)[0])
        where = f" at {list(index)}" if index else ""
        raise DataError(problem, field=field, found=f"{values[index].tolist()}{where}", expected=expected)
