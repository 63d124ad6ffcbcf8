from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sido.errors import DataError
from sido.geometry import (
    quat_about_z,
    quat_angle,
    quat_conjugate,
    quat_from_axis_angle,
    quat_multiply,
    rotate,
    unit_quat,
    wxyz_from_xyzw,
    xyzw_from_wxyz,
)

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def scipy_rotation(quat_wxyz: np.ndarray) -> Rotation:
    return Rotation.from_quat(quat_wxyz[..., [1, 2, 3, 0]])


def random_quats(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 4))


@given(data=st.data())
def test_multiplication_is_a_group(axis_angles, data):
    a, b, c = (quat_from_axis_angle(data.draw(axis_angles)) for _ in range(3))
    np.testing.assert_allclose(
        quat_multiply(quat_multiply(a, b), c), quat_multiply(a, quat_multiply(b, c)), rtol=0, atol=1e-15
    )
    np.testing.assert_array_equal(quat_multiply(a, IDENTITY), a)
    np.testing.assert_array_equal(quat_multiply(IDENTITY, a), a)
    np.testing.assert_allclose(quat_multiply(a, quat_conjugate(a)), IDENTITY, rtol=0, atol=1e-15)


@given(data=st.data())
def test_the_vector_part_of_undoing_cancels_to_exactly_zero(axis_angles, data):
    a = quat_from_axis_angle(data.draw(axis_angles))
    np.testing.assert_array_equal(quat_multiply(quat_conjugate(a), a)[1:], 0.0)


@given(data=st.data())
def test_rotating_by_a_product_is_rotating_twice(axis_angles, points, data):
    a, b = (quat_from_axis_angle(data.draw(axis_angles)) for _ in range(2))
    point = data.draw(points)
    np.testing.assert_allclose(rotate(quat_multiply(a, b), point), rotate(a, rotate(b, point)), rtol=0, atol=1e-14)


@given(data=st.data())
def test_rotation_keeps_lengths_angles_and_handedness(axis_angles, points, data):
    quat = quat_from_axis_angle(data.draw(axis_angles))
    u, v = data.draw(points), data.draw(points)
    turned_u, turned_v = rotate(quat, u), rotate(quat, v)
    np.testing.assert_allclose(turned_u @ turned_v, u @ v, rtol=0, atol=1e-13)
    np.testing.assert_allclose(np.cross(turned_u, turned_v), rotate(quat, np.cross(u, v)), rtol=0, atol=1e-13)


def test_scipy_multiplies_and_rotates_alike():
    a, b = random_quats(200), random_quats(200, seed=1)
    vectors = np.random.default_rng(2).normal(size=(200, 3))
    ours, theirs = quat_multiply(a, b), scipy_rotation(a) * scipy_rotation(b)
    np.testing.assert_allclose(scipy_rotation(ours).as_matrix(), theirs.as_matrix(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(rotate(a, vectors), scipy_rotation(a).apply(vectors), rtol=0, atol=1e-14)


@given(data=st.data(), scale=st.sampled_from([-3.0, -1.0, 1e-307, 1e-200, 0.5, 7.0, 1e150]))
def test_any_multiple_of_a_quaternion_is_the_same_rotation(axis_angles, points, data, scale):
    quat, point = quat_from_axis_angle(data.draw(axis_angles)), data.draw(points)
    np.testing.assert_allclose(rotate(scale * quat, point), rotate(quat, point), rtol=0, atol=2e-14)
    np.testing.assert_allclose(quat_angle(scale * quat, quat), 0.0, rtol=0, atol=4e-15)


@given(data=st.data(), dtype=st.sampled_from([np.float32, np.float64]))
def test_making_unit_twice_changes_nothing(axis_angles, data, dtype):
    # The product with a scale is not unit; what comes out must be, and must be a fixed point bit for bit.
    quat = (data.draw(st.floats(0.1, 10)) * quat_from_axis_angle(data.draw(axis_angles))).astype(dtype)
    once = unit_quat(quat)
    assert once.dtype == dtype
    np.testing.assert_allclose(np.linalg.norm(once), 1.0, rtol=0, atol=4 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(unit_quat(once), once)


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-12, 1e-9, 1e-8, 1e-5, 1e-3, 1.0, np.pi - 1e-9, np.pi])
def test_the_angle_is_exact_where_acos_is_not(angle):
    quat = quat_from_axis_angle(angle * np.array([0.6, 0.0, -0.8]))
    np.testing.assert_allclose(quat_angle(IDENTITY, quat), angle, rtol=1e-15, atol=0)
    np.testing.assert_allclose(quat_angle(IDENTITY, -quat), angle, rtol=1e-15, atol=0)


@given(data=st.data())
def test_the_angle_is_a_metric(axis_angles, data):
    a, b, c = (quat_from_axis_angle(data.draw(axis_angles)) for _ in range(3))
    assert quat_angle(a, a) == 0.0
    np.testing.assert_allclose(quat_angle(a, b), quat_angle(b, a), rtol=0, atol=1e-15)
    np.testing.assert_allclose(quat_angle(quat_multiply(c, a), quat_multiply(c, b)), quat_angle(a, b), atol=1e-14)
    assert 0 <= quat_angle(a, b) <= np.pi
    assert quat_angle(a, c) <= quat_angle(a, b) + quat_angle(b, c) + 1e-14


def test_scipy_measures_the_same_angle():
    a, b = random_quats(200), random_quats(200, seed=1)
    theirs = (scipy_rotation(a).inv() * scipy_rotation(b)).magnitude()
    np.testing.assert_allclose(quat_angle(a, b), theirs, rtol=0, atol=1e-14)


@given(angle=st.floats(-10, 10))
def test_a_yaw_turns_x_towards_y(angle):
    turned = rotate(quat_about_z(angle), np.array([1.0, 0.0, 5.0]))
    np.testing.assert_allclose(turned, [np.cos(angle), np.sin(angle), 5.0], rtol=0, atol=1e-14)


def test_yaws_come_in_batches_and_dtypes():
    angles = np.linspace(-4, 4, 6).reshape(2, 3)
    np.testing.assert_array_equal(quat_about_z(angles)[1, 2], quat_about_z(float(angles[1, 2])))
    assert quat_about_z(angles.astype(np.float32)).dtype == np.float32


def test_orders_of_the_numbers():
    quats = random_quats(5)
    np.testing.assert_array_equal(wxyz_from_xyzw(np.array([1.0, 2.0, 3.0, 4.0])), [4.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(xyzw_from_wxyz(wxyz_from_xyzw(quats)), quats)
    np.testing.assert_allclose(scipy_rotation(quats).as_quat(), xyzw_from_wxyz(unit_quat(quats)), rtol=0, atol=1e-15)


def test_leading_axes_broadcast():
    quats, vectors = random_quats(6).reshape(2, 3, 4), np.random.default_rng(0).normal(size=(7, 1, 1, 3))
    turned = rotate(quats, vectors)
    assert turned.shape == (7, 2, 3, 3)
    for n, i, j in np.ndindex(7, 2, 3):
        np.testing.assert_allclose(turned[n, i, j], rotate(quats[i, j], vectors[n, 0, 0]), rtol=0, atol=1e-15)
    assert quat_multiply(quats, quats[0, 0]).shape == (2, 3, 4)
    assert quat_angle(quats[:, :1], quats[:1]).shape == (2, 3)
    assert rotate(np.zeros((0, 4)), np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("batched", [False, True])
def test_float32_stays_float32(batched):
    quat, vector = np.float32([0.5, 0.1, -0.2, 0.9]), np.float32([1, 2, 3])
    if batched:
        quat, vector = np.stack([quat] * 2), np.stack([vector] * 2)
    assert rotate(quat, vector).dtype == np.float32
    assert quat_angle(quat, quat).dtype == np.float32
    assert quat_multiply(quat, quat_conjugate(quat)).dtype == np.float32


@pytest.mark.parametrize("bad", [[0] * 4, [np.nan, 0, 0, 1], [1, np.inf, 0, 0], [1e308] * 4, [5e-324, 5e-324, 0, 0]])
def test_what_is_no_rotation_is_refused(bad):
    quats = np.stack([IDENTITY, np.array(bad, dtype=float)])
    for refuse in (unit_quat, lambda quat: rotate(quat, np.ones(3)), lambda quat: quat_angle(quat, IDENTITY)):
        with pytest.raises(DataError, match=r"^quat_wxyz: not a rotation; found \[.*\] at \[1\]; expected finite"):
            refuse(quats)


def test_arguments_are_not_written_to():
    quats, vectors = random_quats(3), np.ones((3, 3))
    quats.flags.writeable = vectors.flags.writeable = False
    unit_quat(quats), rotate(quats, vectors), quat_multiply(quats, quats), quat_conjugate(quats)
