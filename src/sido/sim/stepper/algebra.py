"""Small matrices, compiled."""

from __future__ import annotations

import math

import numpy as np

from sido.arrays import Array
from sido.sim.stepper.native import native

__all__ = ["dot", "factor", "increment_of", "multiply", "rotation_of", "solve", "solve_lower"]


@native
def factor(matrix: Array) -> bool:
    """Cholesky, in place, of the lower triangle: `A <- L` with `L L^T = A`; False where `A` is not positive.

    On the diagonal stands `1 / L_kk`: solving then multiplies, which is several times as fast as to divide.
    """
    size = matrix.shape[0]
    for column in range(size):
        total = matrix[column, column]
        for k in range(column):
            total -= matrix[column, k] * matrix[column, k]
        if not total > 0.0:
            return False
        inverse = 1.0 / math.sqrt(total)
        matrix[column, column] = inverse
        for row in range(column + 1, size):
            total = matrix[row, column]
            for k in range(column):
                total -= matrix[row, k] * matrix[column, k]
            matrix[row, column] = total * inverse
    return True


@native
def dot(a: Array, b: Array) -> float:
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@native
def solve_lower(lower: Array, vector: Array) -> None:
    """`vector <- L^-1 vector`, of what `factor` made."""
    for row in range(lower.shape[0]):
        total = vector[row]
        for k in range(row):
            total -= lower[row, k] * vector[k]
        vector[row] = total * lower[row, row]


@native
def solve(lower: Array, vector: Array) -> None:
    """`vector <- (L L^T)^-1 vector`, of what `factor` made."""
    solve_lower(lower, vector)
    for row in range(lower.shape[0] - 1, -1, -1):
        total = vector[row]
        for k in range(row + 1, lower.shape[0]):
            total -= lower[k, row] * vector[k]
        vector[row] = total * lower[row, row]


@native
def multiply(a: Array, b: Array) -> Array:
    product = np.zeros((3, 3))
    for row in range(3):
        for column in range(3):
            for k in range(3):
                product[row, column] += a[row, k] * b[k, column]
    return product


@native
def rotation_of(axis_angle: Array) -> Array:
    """Rodrigues' formula `I + sin(t) K + (1 - cos(t)) K^2`, `t = |axis_angle|`, radians."""
    angle = math.sqrt(axis_angle[0] ** 2 + axis_angle[1] ** 2 + axis_angle[2] ** 2)
    rotation = np.eye(3)
    if angle == 0.0:
        return rotation
    x, y, z = axis_angle[0] / angle, axis_angle[1] / angle, axis_angle[2] / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    square = multiply(cross, cross)
    for row in range(3):
        for column in range(3):
            # 1 - cos(t) as 2 sin^2(t / 2): exact for small angles too
            rotation[row, column] += (
                math.sin(angle) * cross[row, column] + 2.0 * math.sin(0.5 * angle) ** 2 * square[row, column]
            )
    return rotation


@native
def increment_of(axis_angle: Array) -> Array:
    """The rotation of a relative action, by way of a quaternion in single precision, rounded just as robosuite does.

    The 1e-8 rad that it loses are nothing to a robot. But a simulation under relative actions forgets no difference:
    without this, a recorded demonstration would not replay.
    """
    angle = math.sqrt(axis_angle[0] ** 2 + axis_angle[1] ** 2 + axis_angle[2] ** 2)
    quat = np.zeros(4, dtype=np.float32)
    quat[0] = math.cos(angle / 2.0)
    if angle > 0.0:
        for axis in range(3):
            quat[1 + axis] = axis_angle[axis] / angle * math.sin(angle / 2.0)
    square = 0.0  # as OpenBLAS takes it: products in single precision, their sum in double
    for part in quat:
        square += np.float64(part * part)
    scale = math.sqrt(2.0 / np.float32(square))
    for k in range(4):
        quat[k] = quat[k] * scale
    products = np.empty((4, 4), dtype=np.float32)
    for row in range(4):
        for column in range(4):
            products[row, column] = quat[row] * quat[column]
    rotation = np.empty((3, 3))
    for axis in range(3):
        after, last = 1 + (axis + 1) % 3, 1 + (axis + 2) % 3
        rotation[axis, axis] = 1.0 - products[after, after] - products[last, last]
        rotation[after - 1, last - 1] = products[after, last] - products[1 + axis, 0]
        rotation[last - 1, after - 1] = products[after, last] + products[1 + axis, 0]
    return rotation
