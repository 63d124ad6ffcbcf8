"""The control law against robosuite's own functions and against its own equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sido.sim.silence import silence
from sido.sim.stepper import algebra
from sido.sim.stepper.torques import osc_torques, scratch

JOINTS = 7
seeds = st.integers(0, 2**32 - 1)


def problem(seed: int) -> Any:
    """A random arm in a random state."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((JOINTS, JOINTS))
    work = scratch(JOINTS)
    work.mass[:] = root @ root.T + 0.1 * np.eye(JOINTS)
    for array in (work.jacobian, work.bias, work.rest, work.wrench):
        array[:] = rng.standard_normal(array.shape)
    return work


def copies(work: Any) -> Any:
    return type(work)(*(np.array(array) for array in work))


@given(seeds)
def test_equal_to_the_textbook(seed: int):
    with silence():
        from robosuite.utils.control_utils import opspace_matrices

    work = problem(seed)
    given_ = copies(work)
    torques = np.empty(JOINTS)
    assert osc_torques(work, torques)
    mass, jacobian = given_.mass, given_.jacobian
    _, position, rotation, null_space = opspace_matrices(mass, jacobian, jacobian[:3].copy(), jacobian[3:].copy())
    force = np.concatenate([position @ given_.wrench[:3], rotation @ given_.wrench[3:]])
    expected = jacobian.T @ force + given_.bias + null_space.T @ (mass @ given_.rest)
    np.testing.assert_allclose(torques, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@given(seeds)
def test_the_rest_posture_does_not_move_the_hand(seed: int):
    work = problem(seed)
    work.wrench[:], work.bias[:] = 0.0, 0.0
    given_ = copies(work)
    torques = np.empty(JOINTS)
    assert osc_torques(work, torques)
    hand = given_.jacobian @ np.linalg.solve(given_.mass, torques)
    assert np.abs(torques).max() > 1e-6
    np.testing.assert_allclose(hand, 0.0, atol=1e-6 * max(1.0, np.abs(torques).max()))


def test_a_singular_arm_is_reported():
    work = problem(0)
    work.jacobian[5] = 0.0
    assert not osc_torques(work, np.empty(JOINTS))
    work = problem(0)
    work.mass[:] = 0.0
    assert not osc_torques(work, np.empty(JOINTS))


axis_angles = st.tuples(*[st.floats(-3.0, 3.0)] * 3).map(np.array)


@given(st.one_of(axis_angles, axis_angles.map(lambda vector: vector * 1e-9)))
def test_rotations(axis_angle: Any):
    expected = Rotation.from_rotvec(axis_angle).as_matrix()
    np.testing.assert_allclose(algebra.rotation_of(axis_angle), expected, atol=1e-14)
    np.testing.assert_allclose(algebra.increment_of(axis_angle), expected, atol=5e-7)


@given(axis_angles.map(lambda vector: vector / 6))
def test_increments_are_rounded_as_robosuite_rounds_them(axis_angle: Any):
    with silence():
        from robosuite.utils.transform_utils import axisangle2quat, quat2mat

    theirs = quat2mat(axisangle2quat(axis_angle))
    # Another BLAS may take its sums in another order; then the last bit of single precision may differ.
    np.testing.assert_allclose(algebra.increment_of(axis_angle), theirs, atol=1.2e-7)


def test_no_rotation_is_the_identity():
    np.testing.assert_array_equal(algebra.rotation_of(np.zeros(3)), np.eye(3))
    np.testing.assert_array_equal(algebra.increment_of(np.zeros(3)), np.eye(3))


@pytest.mark.parametrize("size", [1, 3, 7])
def test_cholesky(size: int):
    root = np.random.default_rng(size).standard_normal((size, size))
    matrix = root @ root.T + np.eye(size)
    vector = np.arange(1.0, size + 1)
    lower, solved = matrix.copy(), vector.copy()
    assert algebra.factor(lower)
    root = np.tril(lower, -1) + np.diag(1 / np.diag(lower))
    np.testing.assert_allclose(root @ root.T, matrix, rtol=1e-12)
    algebra.solve(lower, solved)
    np.testing.assert_allclose(matrix @ solved, vector, rtol=1e-10)
