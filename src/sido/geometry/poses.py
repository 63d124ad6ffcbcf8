"""Where a thing is and how it is turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array, FloatArray, read_only
from sido.errors import DataError
from sido.geometry.components import refuse_where
from sido.geometry.quaternions import quat_conjugate, quat_multiply, rotate, unit_quat
from sido.geometry.rotations import matrix_from_quat, quat_from_matrix

__all__ = ["Pose"]

# Not numpy's ArrayLike: as a run-time type that is a protocol which tuples fail (they have no `__reversed__`).
Numbers = Array | Sequence[Any]


@final
@dataclass(frozen=True, init=False, eq=False)
class Pose:
    """A rigid motion `p -> R(q) p + t`, or a batch of them along leading axes.

    Built from anything that numpy takes for numbers; leading axes of the two parts broadcast. The quaternion is
    made unit, its sign kept (a stream of poses has no jumps that its source had not); one that is unit already is
    kept bit for bit, so writing a pose and reading it back gives an equal one. Two poses are equal when all their
    positions are, and all their quaternions up to sign.
    """

    position: Float[Array, "*batch 3"]
    """`t`, metres, float64, read-only."""
    quat_wxyz: Float[Array, "*batch 4"]
    """`q = (w, x, y, z)`, unit, float64, read-only."""

    def __init__(self, position: Numbers, quat_wxyz: Numbers) -> None:
        translation = _numbers(position, "position", (3,))
        rotation = unit_quat(_numbers(quat_wxyz, "quat_wxyz", (4,)))
        finite = np.isfinite(translation).all(axis=-1)
        refuse_where(~finite, translation, "not finite", field="position", expected="metres")
        try:
            batch = np.broadcast_shapes(translation.shape[:-1], rotation.shape[:-1])
        except ValueError as error:
            raise DataError(
                "positions and quaternions do not pair up",
                field="position, quat_wxyz",
                found=f"{list(translation.shape)} and {list(rotation.shape)}",
                expected="leading axes that broadcast",
            ) from error
        object.__setattr__(self, "position", read_only(np.broadcast_to(translation, (*batch, 3))))
        object.__setattr__(self, "quat_wxyz", read_only(np.broadcast_to(rotation, (*batch, 4))))

    @classmethod
    def identity(cls) -> Pose:
        """The pose that leaves every point where it is."""
        return cls((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))

    @classmethod
    def from_matrix(cls, matrix: Numbers) -> Pose:
        """The pose that the homogeneous matrices `[[R, t], [0, 1]]` say, shape `[..., 4, 4]`."""
        matrices = _numbers(matrix, "matrix", (4, 4))
        last_row_off = (matrices[..., 3, :] != (0.0, 0.0, 0.0, 1.0)).any(axis=-1)
        refuse_where(last_row_off, matrices, "not a rigid motion", field="matrix", expected="the last row 0, 0, 0, 1")
        return cls(matrices[..., :3, 3], quat_from_matrix(matrices[..., :3, :3]))

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes: `()` for one pose."""
        return self.position.shape[:-1]

    @property
    def matrix(self) -> Float[Array, "*batch 4 4"]:
        """The homogeneous matrices `[[R, t], [0, 1]]`."""
        matrix = np.zeros((*self.shape, 4, 4))
        matrix[..., :3, :3] = matrix_from_quat(self.quat_wxyz)
        matrix[..., :3, 3] = self.position
        matrix[..., 3, 3] = 1.0
        return matrix

    def __matmul__(self, other: Pose) -> Pose:
        """First `other`, then this: `(a @ b).apply(p) = a.apply(b.apply(p))`. Leading axes broadcast."""
        return Pose(self.apply(other.position), quat_multiply(self.quat_wxyz, other.quat_wxyz))

    def inverse(self) -> Pose:
        """The pose that undoes this one: `p -> R^T (p - t)`."""
        back = quat_conjugate(self.quat_wxyz)
        return Pose(-rotate(back, self.position), back)

    def apply(self, points: Float[Array, "... 3"]) -> FloatArray:
        """`R p + t`, metres. The leading axes of `points` and of the pose broadcast: one pose moves a whole cloud."""
        return rotate(self.quat_wxyz, points) + self.position

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pose):
            return NotImplemented
        if self.shape != other.shape:
            return False
        mine, theirs = self.quat_wxyz, other.quat_wxyz
        same_rotation = (mine == theirs).all(axis=-1) | (mine == -theirs).all(axis=-1)
        return bool(np.array_equal(self.position, other.position) and same_rotation.all())

    def __hash__(self) -> int:
        # Of the position only: the quaternion's sign does not tell poses apart. (`+ 0.0` makes -0.0 into 0.0.)
        return hash((self.shape, (self.position + 0.0).tobytes()))


def _numbers(values: Numbers, field: str, item: tuple[int, ...]) -> FloatArray:
    """A float64 copy of `values`, whose last axes are `item`."""
    expected = f"numbers of shape [..., {', '.join(map(str, item))}]"
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError("not numbers", field=field, found=repr(values)[:80], expected=expected) from error
    if array.shape[-len(item) :] != item:
        raise DataError("wrong shape", field=field, found=list(array.shape), expected=expected)
    return array
