from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from sido import geometry
from sido.errors import DataError
from sido.geometry import (
    axis_angle_from_matrix,
    axis_angle_from_quat,
    euler_xyz_from_matrix,
    matrix_from_axis_angle,
    matrix_from_euler_xyz,
    matrix_from_quat,
    matrix_from_rot6d,
    quat_angle,
    quat_from_axis_angle,
    quat_from_matrix,
    rot6d_from_matrix,
    rotate,
)

FROM_MATRIX = {"quat": (4,), "rot6d": (6,), "axis_angle": (3,), "euler_xyz": (3,)}


def to_and_from(form: str):
    return getattr(geometry, f"{form}_from_matrix"), getattr(geometry, f"matrix_from_{form}")


def random_matrices(count: int, seed: int = 0) -> np.ndarray:
    return Rotation.random(count, rng=np.random.default_rng(seed)).as_matrix()


@given(data=st.data())
def test_a_matrix_is_orthonormal_and_right_handed(axis_angles, data):
    matrix = matrix_from_axis_angle(data.draw(axis_angles))
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), rtol=0, atol=2e-15)
    np.testing.assert_allclose(np.linalg.det(matrix), 1.0, rtol=0, atol=2e-15)


@given(data=st.data())
def test_the_matrix_is_the_exponential_series(axis_angles, data):
    x, y, z = axis_angle = data.draw(axis_angles)
    oracle = expm(np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]))
    np.testing.assert_allclose(matrix_from_axis_angle(axis_angle), oracle, rtol=0, atol=1e-14)


@given(data=st.data())
def test_a_matrix_turns_as_its_quaternion_does(axis_angles, points, data):
    quat, point = quat_from_axis_angle(data.draw(axis_angles)), data.draw(points)
    np.testing.assert_allclose(matrix_from_quat(quat) @ point, rotate(quat, point), rtol=0, atol=1e-14)


@pytest.mark.parametrize("form", FROM_MATRIX)
@given(data=st.data())
def test_every_form_rebuilds_its_matrix(axis_angles, form, data):
    from_matrix, to_matrix = to_and_from(form)
    matrix = matrix_from_axis_angle(data.draw(axis_angles))
    np.testing.assert_allclose(to_matrix(from_matrix(matrix)), matrix, rtol=0, atol=5e-15)


@given(data=st.data())
def test_the_logarithm_undoes_the_exponential_to_rounding(axis_angles, data):
    """Also relative to the angle: a turn of 1e-12 rad comes back with all its digits, and not as zero."""
    vector = data.draw(axis_angles)
    angle = np.linalg.norm(vector / max(np.abs(vector).max(), 1e-320)) * np.abs(vector).max()
    for back in (
        axis_angle_from_quat(quat_from_axis_angle(vector)),
        axis_angle_from_quat(-quat_from_axis_angle(vector)),
        axis_angle_from_matrix(matrix_from_axis_angle(vector)),
    ):
        # (Below 1e-308 a float has fewer digits.) At half a turn both ends of the axis are right, and rounding chooses.
        nearest = -back if angle > np.pi - 1e-14 and back @ vector < 0 else back
        np.testing.assert_allclose(nearest, vector, rtol=0, atol=1e-14 * angle + 1e-320)


@given(data=st.data())
def test_the_logarithm_is_never_longer_than_pi(axis_angles, data):
    vector = 2.5 * data.draw(axis_angles)
    back = axis_angle_from_quat(quat_from_axis_angle(vector))
    assert np.linalg.norm(back) <= np.pi + 1e-15
    np.testing.assert_allclose(matrix_from_axis_angle(back), matrix_from_axis_angle(vector), rtol=0, atol=5e-15)


@given(data=st.data())
def test_the_quaternion_of_a_matrix_is_unit_and_canonical(axis_angles, data):
    quat = quat_from_axis_angle(data.draw(axis_angles))
    found = quat_from_matrix(matrix_from_quat(quat))
    assert found[0] >= 0
    np.testing.assert_allclose(np.linalg.norm(found), 1.0, rtol=0, atol=1e-15)
    assert quat_angle(found, quat) < 1e-15 * 5


def test_every_branch_of_the_quaternion_is_taken(hard_axis_angles):
    quats = quat_from_matrix(matrix_from_axis_angle(hard_axis_angles))
    assert set(np.abs(quats).argmax(axis=-1)) == {0, 1, 2, 3}


def test_scipy_agrees_on_every_hard_rotation(hard_axis_angles):
    batch = np.concatenate([hard_axis_angles, Rotation.random(500, rng=np.random.default_rng(0)).as_rotvec()])
    rotation, matrices = Rotation.from_rotvec(batch), matrix_from_axis_angle(batch)
    np.testing.assert_allclose(matrices, rotation.as_matrix(), rtol=0, atol=2e-15)
    assert quat_angle(quat_from_matrix(matrices), rotation.as_quat()[:, [3, 0, 1, 2]]).max() < 1e-14
    inside = np.linalg.norm(batch, axis=-1) < np.pi - 1e-9  # at half a turn the axis has two ends
    np.testing.assert_allclose(axis_angle_from_matrix(matrices)[inside], rotation.as_rotvec()[inside], atol=1e-14)


def test_scipy_agrees_on_fixed_axis_euler_angles():
    angles = np.random.default_rng(0).uniform((-3.1, -1.5, -3.1), (3.1, 1.5, 3.1), size=(500, 3))
    matrices = matrix_from_euler_xyz(angles)
    np.testing.assert_allclose(matrices, Rotation.from_euler("xyz", angles).as_matrix(), rtol=0, atol=1e-15)
    assert np.abs(matrices - Rotation.from_euler("XYZ", angles).as_matrix()).max() > 1  # it is not the intrinsic order
    np.testing.assert_allclose(euler_xyz_from_matrix(matrices), angles, rtol=0, atol=1e-13)


@given(
    a=st.floats(-np.pi, np.pi),
    c=st.floats(-np.pi, np.pi),
    sign=st.sampled_from([-1, 1]),
    off=st.sampled_from([0.0, 1e-16, 1e-12, 1e-8, 1e-4]),
)
def test_euler_angles_rebuild_the_matrix_at_the_gimbal_lock(a, c, sign, off):
    exact = matrix_from_euler_xyz(np.array([a, sign * (np.pi / 2 - off), c]))
    matrix = matrix_from_quat(quat_from_matrix(exact))  # with the rounding noise that a matrix from elsewhere has
    angles = euler_xyz_from_matrix(matrix)
    assert (np.abs(angles) <= np.array([np.pi, np.pi / 2, np.pi]) + 1e-15).all()
    np.testing.assert_allclose(matrix_from_euler_xyz(angles), matrix, rtol=0, atol=2e-15)


def test_rot6d_is_the_first_two_rows():
    matrix = matrix_from_axis_angle(np.array([0.3, -0.2, 0.9]))
    np.testing.assert_array_equal(rot6d_from_matrix(matrix), [*matrix[0], *matrix[1]])
    rot6d_from_matrix(matrix)[:] = 0.0  # a copy
    assert matrix[0, 0] != 0.0


@given(data=st.data(), stretch=st.tuples(st.floats(1e-6, 1e6), st.floats(-5, 5), st.floats(1e-6, 1e6)))
def test_gram_schmidt_undoes_any_shear_of_the_rows(axis_angles, data, stretch):
    matrix = matrix_from_axis_angle(data.draw(axis_angles))
    first, along, across = stretch
    rows = np.concatenate([first * matrix[0], across * (along * matrix[0] + matrix[1])])
    np.testing.assert_allclose(matrix_from_rot6d(rows), matrix, rtol=0, atol=1e-13)


def test_gram_schmidt_is_the_qr_decomposition():
    rows = np.random.default_rng(0).normal(size=(200, 2, 3))
    for pair, matrix in zip(rows, matrix_from_rot6d(rows.reshape(-1, 6)), strict=True):
        q, r = np.linalg.qr(pair.T)
        np.testing.assert_allclose(matrix[:2], (q * np.sign(np.diag(r))).T, rtol=0, atol=1e-13)


@pytest.mark.parametrize("apart", [1e-1, 1e-4, 1e-7])
def test_nearly_collinear_rows_still_give_an_orthonormal_matrix(apart):
    matrix = matrix_from_rot6d(np.array([0.6, 0.7, -0.4, 0.6, 0.7, -0.4 + apart]))
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), rtol=0, atol=1e-15)


def test_the_exponential_has_the_right_derivative_at_the_identity():
    step = 1e-6
    for axis, generator in zip(np.eye(3), np.cross(np.eye(3)[:, None], np.eye(3)), strict=True):
        difference = (matrix_from_axis_angle(step * axis) - matrix_from_axis_angle(-step * axis)) / (2 * step)
        np.testing.assert_allclose(difference @ np.eye(3), generator.T, rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", FROM_MATRIX)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batches_are_stacks_and_dtypes_are_kept(form, dtype):
    from_matrix, to_matrix = to_and_from(form)
    matrices = random_matrices(6).reshape(2, 3, 3, 3).astype(dtype)
    forms = from_matrix(matrices)
    assert forms.dtype == from_matrix(matrices[0, 0]).dtype == dtype
    assert forms.shape == (2, 3, *FROM_MATRIX[form])
    back = to_matrix(forms)
    assert back.dtype == to_matrix(forms[0, 0]).dtype == dtype
    np.testing.assert_allclose(back, matrices, rtol=0, atol=20 * np.finfo(dtype).eps)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(forms[index], from_matrix(matrices[index]), rtol=0, atol=4 * np.finfo(dtype).eps)
    assert to_matrix(from_matrix(matrices[:0])).shape == (0, 3, 3, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_axis_angles_and_quaternions_keep_their_dtype(dtype):
    for vectors in (np.zeros(3, dtype), np.ones((2, 3), dtype)):
        quats = quat_from_axis_angle(vectors)
        assert quats.dtype == axis_angle_from_quat(quats).dtype == dtype


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((3, 3)),
        -np.eye(3),
        np.diag([1.0, 1.0, -1.0]),
        1.01 * np.eye(3),
        np.full((3, 3), np.nan),
        np.diag([1, 1, np.inf]),
        np.full((3, 3), 1e200),
    ],
)
@pytest.mark.parametrize("form", ["quat", "axis_angle", "euler_xyz"])
def test_a_matrix_that_is_no_rotation_is_refused(form, bad):
    from_matrix, _ = to_and_from(form)
    with pytest.raises(DataError, match=r"^matrix: not a rotation matrix; found .* at \[1\]; expected three orthonorm"):
        from_matrix(np.stack([np.eye(3), bad]))


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ([0, 0, 0, 0, 1, 0], "a row is no direction"),
        ([1, 0, 0, 0, 0, 0], "a row is no direction"),
        ([1, 0, 0, np.nan, 0, 0], "a row is no direction"),
        ([1, 2, 3, 2, 4, 6], "the two rows are collinear"),
        ([1, 2, 3, -1, -2, -3], "the two rows are collinear"),
        ([0.1, 0.2, 0.3, 0.1, 0.2, 0.3 + 1e-9], "the two rows are collinear"),
    ],
)
def test_degenerate_rot6d_is_refused(bad, problem):
    with pytest.raises(DataError, match=f"rot6d: {problem}"):
        matrix_from_rot6d(np.array(bad, dtype=float))


def test_a_zero_quaternion_and_infinite_angles_are_refused():
    with pytest.raises(DataError, match="quat_wxyz: not a rotation"):
        matrix_from_quat(np.zeros(4))
    with pytest.raises(DataError, match="quat_wxyz: not a rotation"):
        axis_angle_from_quat(np.zeros((2, 4)))
    with pytest.raises(DataError, match=r"axis_angle: not finite; found .*inf"):
        quat_from_axis_angle(np.array([0.0, np.inf, 0.0]))
    with pytest.raises(DataError, match=r"euler_xyz: not finite; found .*nan.* at \[0\]"):
        matrix_from_euler_xyz(np.array([[0.0, np.nan, 0.0]]))


@pytest.mark.usefixtures("as_user")
def test_whole_numbers_are_rotations_like_others():
    quarter_turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    for form, size in FROM_MATRIX.items():
        from_matrix, to_matrix = to_and_from(form)
        found = from_matrix(quarter_turn)
        assert found.shape == size
        np.testing.assert_array_equal(found, from_matrix(quarter_turn.astype(float)))
        whole = np.arange(size[0]) % 2
        np.testing.assert_array_equal(to_matrix(whole), to_matrix(whole.astype(float)))
    with pytest.raises(DataError, match="rot6d: not real numbers; found <U3"):
        matrix_from_rot6d("abc")


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_matrix_made_in_a_coarse_dtype_is_taken_back_in_it(dtype):
    matrices = matrix_from_axis_angle(np.random.default_rng(0).normal(size=(2000, 3)).astype(dtype))
    assert matrices.dtype == dtype
    for form in FROM_MATRIX:
        from_matrix, to_matrix = to_and_from(form)
        again = to_matrix(from_matrix(matrices)).astype(float)
        np.testing.assert_allclose(again, matrices.astype(float), rtol=0, atol=16 * np.finfo(dtype).eps)
