"""Rotations in the forms that datasets, controllers and networks use, converted into each other.

| form | shape | where it comes from |
|---|---|---|
| `matrix` | `[..., 3, 3]` | columns are the turned axes: `R v` turns `v` |
| `quat` | `[..., 4]` | `(w, x, y, z)`, see `quaternions.py` |
| `rot6d` | `[..., 6]` | the first two rows of the matrix: what networks predict, as it has no jumps |
| `axis_angle` | `[..., 3]` | axis times angle, radians: what operational-space controllers take |
| `euler_xyz` | `[..., 3]` | angles about the fixed x, then y, then z axis, radians: DROID |

Leading axes are batch, and the dtype of floats is kept; matrices, rot6ds and quaternions of whole numbers are taken
as float64. No formula is patched by a small-angle threshold: all are exact to rounding at the identity, at half a
turn, and beside them. What is no rotation (zero quaternion, collinear rot6d, a matrix that is not orthonormal, a
number that is not finite) is a DataError, never a silent NaN.
"""

from __future__ import annotations

import numpy as np

from sido.arrays import Matrices, Quaternions, Rot6ds, Vectors
from sido.geometry.components import as_floats, components, join, norm, ratio, refuse_where
from sido.geometry.quaternions import unit_quat

__all__ = [
    "axis_angle_from_matrix",
    "axis_angle_from_quat",
    "euler_xyz_from_matrix",
    "matrix_from_axis_angle",
    "matrix_from_euler_xyz",
    "matrix_from_quat",
    "matrix_from_rot6d",
    "quat_from_axis_angle",
    "quat_from_matrix",
    "rot6d_from_matrix",
]

_ORTHONORMAL_TOLERANCE = 1e-3  # matrices stored as float32, or printed with four digits, are still rotations


def matrix_from_quat(quat_wxyz: Quaternions) -> Matrices:
    """`R = I + 2 w [u]x + 2 [u]x^2` of the unit quaternion `(w, u)` along `quat_wxyz`."""
    w, x, y, z = components(unit_quat(quat_wxyz))
    rows = join(
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip
    return rows.reshape(*quat_wxyz.shape[:-1], 3, 3)


def quat_from_matrix(matrix: Matrices) -> Quaternions:
    """The unit quaternion with `w >= 0` that turns as `matrix` does.

    The matrix gives all products `4 q_i q_j` linearly. Row `i` of that table is `q` times `4 q_i`: the row with the
    largest diagonal, `4 q_i^2 >= 1`, loses no digits.
    """
    matrix = as_floats(matrix, field="matrix")
    _require_rotation(matrix)
    batch = matrix.shape[:-2]
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = components(matrix.reshape(*batch, 9))
    products = join(
        1 + m00 + m11 + m22, m21 - m12, m02 - m20, m10 - m01,
        m21 - m12, 1 + m00 - m11 - m22, m10 + m01, m02 + m20,
        m02 - m20, m10 + m01, 1 - m00 + m11 - m22, m21 + m12,
        m10 - m01, m02 + m20, m21 + m12, 1 - m00 - m11 + m22,
    ).reshape(*batch, 4, 4)  # fmt: skip
    best = np.diagonal(products, axis1=-2, axis2=-1).argmax(axis=-1)
    quat = unit_quat(np.take_along_axis(products, best[..., None, None], axis=-2)[..., 0, :])
    return np.where(quat[..., :1] < 0, -quat, quat)


def matrix_from_rot6d(rot6d: Rot6ds) -> Matrices:
    """The rotation whose first row lies along `a` and whose second row lies in the plane of `a` and `b`.

    Gram-Schmidt on `rot6d = (a, b)`: `r_0 = a/|a|`, `r_1 = (b - (r_0 . b) r_0)` made unit, `r_2 = r_0 x r_1`.

    Raises:
        DataError: `a` or `b` is zero, or they are collinear (their angle is below the root of the dtype's precision,
            1.5e-8 rad in float64).
    """
    rot6d = as_floats(rot6d, field="rot6d")
    first, second = _direction(rot6d[..., :3], of=rot6d), _direction(rot6d[..., 3:], of=rot6d)
    across = _rejection(second, first)
    refuse_where(
        norm(across)[..., 0] < np.sqrt(np.finfo(rot6d.dtype).eps),
        rot6d,
        "the two rows are collinear and span no rotation",
        field="rot6d",
        expected="two rows that point apart",
    )
    # Nearly collinear rows lose digits in the subtraction; a second pass removes what was left along the first.
    across = _rejection(across / norm(across), first)
    second = across / norm(across)
    return np.stack([first, second, np.cross(first, second)], axis=-2)


def rot6d_from_matrix(matrix: Matrices) -> Rot6ds:
    """The first two rows, `(R_00, R_01, R_02, R_10, R_11, R_12)`."""
    return matrix[..., :2, :].reshape(*matrix.shape[:-2], 6).copy()


def quat_from_axis_angle(axis_angle: Vectors) -> Quaternions:
    """The exponential `(cos |r|/2, sin(|r|/2) r/|r|)`; continuous in `r`, so `w < 0` for angles beyond pi."""
    angle = norm(axis_angle)
    refuse_where(~np.isfinite(angle)[..., 0], axis_angle, "not finite", field="axis_angle", expected="radians")
    half = angle / 2
    return join(np.cos(half), axis_angle * ratio(np.sin(half), angle))


def axis_angle_from_quat(quat_wxyz: Quaternions) -> Vectors:
    """The logarithm: axis times angle, the angle `2 atan2(|u|, |w|)` in [0, pi]."""
    unit = unit_quat(quat_wxyz)
    w, u = unit[..., :1], unit[..., 1:]
    sine = norm(u)
    angle = 2 * np.arctan2(sine, np.abs(w))
    return np.where(w < 0, -u, u) * ratio(angle, sine)


def matrix_from_axis_angle(axis_angle: Vectors) -> Matrices:
    """The exponential `exp([r]x) = I + sin(t)/t [r]x + (1 - cos(t))/t^2 [r]x^2`, `t = |r|` (Rodrigues)."""
    return matrix_from_quat(quat_from_axis_angle(axis_angle))


def axis_angle_from_matrix(matrix: Matrices) -> Vectors:
    """The logarithm: axis times angle, the angle in [0, pi]."""
    return axis_angle_from_quat(quat_from_matrix(matrix))


def matrix_from_euler_xyz(euler_xyz: Vectors) -> Matrices:
    """`R = R_z(c) R_y(b) R_x(a)` of the angles `(a, b, c)`, radians: first about x, each about the *fixed* axis."""
    finite = np.isfinite(euler_xyz).all(axis=-1)
    refuse_where(~finite, euler_xyz, "not finite", field="euler_xyz", expected="radians")
    (ca, cb, cc), (sa, sb, sc) = components(np.cos(euler_xyz)), components(np.sin(euler_xyz))
    rows = join(
        cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa,
        sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa,
        -sb, cb * sa, cb * ca,
    )  # fmt: skip
    return rows.reshape(*euler_xyz.shape[:-1], 3, 3)


def euler_xyz_from_matrix(matrix: Matrices) -> Vectors:
    """The angles `(a, b, c)` with `R = R_z(c) R_y(b) R_x(a)`, radians: `b` in [-pi/2, pi/2], the others in [-pi, pi].

    At `b = +-pi/2` only `a -+ c` matters (gimbal lock), and `c` is what rounding makes of it, or 0. `a` and `b` are
    read off `R_z(c)^T R`, not off `R`, so that the three rebuild the matrix to rounding at the lock and beside it.
    """
    matrix = as_floats(matrix, field="matrix")
    _require_rotation(matrix)
    m00, m01, m02, m10, m11, m12, m20, _, _ = components(matrix.reshape(*matrix.shape[:-2], 9))
    c = np.arctan2(m10, m00)
    cos_c, sin_c = np.cos(c), np.sin(c)
    b = np.arctan2(-m20, cos_c * m00 + sin_c * m10)
    a = np.arctan2(sin_c * m02 - cos_c * m12, cos_c * m11 - sin_c * m01)
    return join(a, b, c)


def _direction(row: Vectors, *, of: Rot6ds) -> Vectors:
    length = norm(row)
    usable = ((length > 0) & np.isfinite(length))[..., 0]
    refuse_where(~usable, of, "a row is no direction", field="rot6d", expected="two finite rows that are not zero")
    return row / length


def _rejection(vector: Vectors, unit: Vectors) -> Vectors:
    """What is left of `vector` when its part along `unit` is taken away."""
    return vector - (vector * unit).sum(axis=-1, keepdims=True) * unit


def _require_rotation(matrix: Matrices) -> None:
    with np.errstate(over="ignore", invalid="ignore"):  # NaN and infinity fail the comparisons, as they should
        defect = np.abs(matrix @ np.swapaxes(matrix, -1, -2) - np.eye(3)).max(axis=(-2, -1))
        handedness = (np.cross(matrix[..., 0, :], matrix[..., 1, :]) * matrix[..., 2, :]).sum(axis=-1)
    tolerance = max(_ORTHONORMAL_TOLERANCE, 16 * float(np.finfo(matrix.dtype).eps))
    is_rotation = (defect < tolerance) & (handedness > 0)
    refuse_where(
        ~is_rotation,
        matrix,
        "not a rotation matrix",
        field="matrix",
        expected="three orthonormal rows, right-handed",
    )
