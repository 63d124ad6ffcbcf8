"""Quaternions `(w, x, y, z)`, for rotations: their algebra, and what they do to vectors.

Leading axes broadcast, and the dtype of the input is kept. A rotation may be given by any multiple of its unit
quaternion but zero; `q` and `-q` are the same rotation.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from sido.arrays import Array, FloatArray, Quaternions
from sido.geometry.components import as_floats, components, join, norm, refuse_where

__all__ = [
    "quat_about_z",
    "quat_angle",
    "quat_conjugate",
    "quat_multiply",
    "rotate",
    "unit_quat",
    "wxyz_from_xyzw",
    "xyzw_from_wxyz",
]


def unit_quat(quat_wxyz: Quaternions) -> Quaternions:
    """`q / |q|`, its sign kept. What is of unit length to the last digits comes back bit for bit.

    Raises:
        DataError: a quaternion is zero or not finite, and so is no rotation.
    """
    quat_wxyz = as_floats(quat_wxyz, field="quat_wxyz")
    precision = np.finfo(quat_wxyz.dtype)
    length = norm(quat_wxyz)
    refuse_where(
        ~((length >= precision.tiny) & np.isfinite(length))[..., 0],  # numbers below `tiny` have lost digits
        quat_wxyz,
        "not a rotation",
        field="quat_wxyz",
        expected="finite numbers (w, x, y, z), not all zero",
    )
    # Dividing what is already unit could change its last bit: then no round trip through a file would be exact.
    is_unit = np.abs(length - 1) <= 4 * precision.eps
    return np.where(is_unit, quat_wxyz, quat_wxyz / length)


def quat_multiply(a_wxyz: Float[Array, "*#batch 4"], b_wxyz: Float[Array, "*#batch 4"]) -> FloatArray:
    """The Hamilton product `a b`: first rotate by `b`, then by `a`. `|a b| = |a| |b|`; nothing is normalised."""
    aw, ax, ay, az = components(a_wxyz)
    bw, bx, by, bz = components(b_wxyz)
    # Written so that the vector part of `conj(a) a` cancels to exactly zero, pair by pair.
    return join(
        aw * bw - ax * bx - ay * by - az * bz,
        (aw * bx + ax * bw) + (ay * bz - az * by),
        (aw * by + ay * bw) + (az * bx - ax * bz),
        (aw * bz + az * bw) + (ax * by - ay * bx),
    )


def quat_conjugate(quat_wxyz: Quaternions) -> Quaternions:
    """`(w, -x, -y, -z)`: of a unit quaternion, the inverse."""
    return join(quat_wxyz[..., :1], -quat_wxyz[..., 1:])


def rotate(quat_wxyz: Float[Array, "*#batch 4"], vectors: Float[Array, "*#batch 3"]) -> FloatArray:
    """`R(q) v = v + 2 w (u x v) + 2 u x (u x v)` with `q = (w, u)` of unit length."""
    unit = unit_quat(quat_wxyz)
    w, u = unit[..., :1], unit[..., 1:]
    twice = 2 * np.cross(u, vectors)
    return vectors + w * twice + np.cross(u, twice)


def quat_angle(a_wxyz: Float[Array, "*#batch 4"], b_wxyz: Float[Array, "*#batch 4"]) -> FloatArray:
    """The angle of the rotation from `a` to `b`, radians in [0, pi].

    `2 atan2(|u|, |w|)` of `conj(a) b = (w, u)`: unlike `2 acos(w)` it is exact for tiny angles and near pi, and
    exactly zero between equal quaternions.
    """
    relative = quat_multiply(quat_conjugate(unit_quat(a_wxyz)), unit_quat(b_wxyz))
    return (2 * np.arctan2(norm(relative[..., 1:]), np.abs(relative[..., :1])))[..., 0]


def quat_about_z(angle_rad: float | FloatArray) -> FloatArray:
    """The rotation by `angle_rad` about the z axis, counter-clockwise seen from above: a yaw."""
    half = np.asarray(angle_rad)[..., None] / 2
    zero = np.zeros_like(half)
    return join(np.cos(half), zero, zero, np.sin(half))


def wxyz_from_xyzw(quat_xyzw: Quaternions) -> Quaternions:
    """From the order of scipy, ROS and robosuite to sido's, which is MuJoCo's."""
    return np.roll(quat_xyzw, 1, axis=-1)


def xyzw_from_wxyz(quat_wxyz: Quaternions) -> Quaternions:
    """From sido's order to that of scipy, ROS and robosuite."""
    return np.roll(quat_wxyz, -1, axis=-1)
