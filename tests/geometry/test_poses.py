from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from sido.errors import DataError
from sido.geometry import Pose, quat_angle, quat_from_axis_angle


def draw_pose(data, points, axis_angles) -> Pose:
    return Pose(data.draw(points), quat_from_axis_angle(data.draw(axis_angles)))


def random_poses(count: int, seed: int = 0) -> Pose:
    rng = np.random.default_rng(seed)
    return Pose(rng.normal(size=(count, 3)), rng.normal(size=(count, 4)))


def assert_same(a: Pose, b: Pose, tolerance: float = 1e-13) -> None:
    np.testing.assert_allclose(a.position, b.position, rtol=0, atol=tolerance)
    np.testing.assert_allclose(quat_angle(a.quat_wxyz, b.quat_wxyz), 0.0, rtol=0, atol=tolerance)


@given(data=st.data())
def test_poses_are_a_group(points, axis_angles, data):
    a, b, c = (draw_pose(data, points, axis_angles) for _ in range(3))
    assert_same((a @ b) @ c, a @ (b @ c))
    assert_same(a @ a.inverse(), Pose.identity())
    assert_same(a.inverse() @ a, Pose.identity())
    assert a @ Pose.identity() == a
    assert Pose.identity() @ a == a


@given(data=st.data())
def test_composing_is_applying_in_turn(points, axis_angles, data):
    a, b, point = draw_pose(data, points, axis_angles), draw_pose(data, points, axis_angles), data.draw(points)
    np.testing.assert_allclose((a @ b).apply(point), a.apply(b.apply(point)), rtol=0, atol=1e-13)
    np.testing.assert_allclose(a.inverse().apply(a.apply(point)), point, rtol=0, atol=1e-13)


@given(data=st.data())
def test_the_matrix_does_what_the_pose_does(points, axis_angles, data):
    a, b, point = draw_pose(data, points, axis_angles), draw_pose(data, points, axis_angles), data.draw(points)
    np.testing.assert_allclose((a.matrix @ [*point, 1.0])[:3], a.apply(point), rtol=0, atol=1e-13)
    np.testing.assert_allclose(a.matrix @ b.matrix, (a @ b).matrix, rtol=0, atol=1e-13)
    assert_same(Pose.from_matrix(a.matrix), a)


def test_scipy_composes_and_inverts_alike():
    a, b = random_poses(50), random_poses(50, seed=1)
    x, y = (
        RigidTransform.from_components(pose.position, Rotation.from_quat(pose.quat_wxyz[:, [1, 2, 3, 0]]))
        for pose in (a, b)
    )
    np.testing.assert_allclose((a @ b).matrix, (x * y).as_matrix(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(a.inverse().matrix, x.inv().as_matrix(), rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_given_is_copied_read_only_and_float64(dtype):
    position, quat = np.zeros(3, dtype), np.array([2, 0, 0, 0])
    pose = Pose(position, quat)
    position[:] = 9.0
    np.testing.assert_array_equal(pose.position, 0.0)
    np.testing.assert_array_equal(pose.quat_wxyz, [1.0, 0.0, 0.0, 0.0])
    for array in (pose.position, pose.quat_wxyz):
        assert array.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        pose.position = np.ones(3)


def test_the_sign_of_a_quaternion_is_kept_but_poses_do_not_differ_by_it():
    quat = np.array([-0.5, 0.5, -0.5, 0.5])
    pose, opposite = Pose([1, 2, -0.0], quat), Pose([1, 2, 0.0], -quat)
    np.testing.assert_array_equal(pose.quat_wxyz, quat)
    assert pose == opposite
    assert hash(pose) == hash(opposite)


def test_equality_is_by_value():
    pose = random_poses(4)
    assert pose == Pose(pose.position, pose.quat_wxyz)
    assert pose != Pose(pose.position + 1e-15, pose.quat_wxyz)
    assert pose != Pose(pose.position, pose.quat_wxyz[::-1])
    assert pose != random_poses(5)
    assert pose != "pose"
    assert Pose.identity() in {Pose([0, 0, 0], [1, 0, 0, 0])}


@given(data=st.data())
def test_a_pose_survives_json_bit_for_bit(points, data):
    quat = data.draw(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(map(abs, q)) > 1e-3))
    pose = Pose(data.draw(points), quat)
    written = json.loads(json.dumps([pose.position.tolist(), pose.quat_wxyz.tolist()]))
    read = Pose(*written)
    np.testing.assert_array_equal(read.position, pose.position)
    np.testing.assert_array_equal(read.quat_wxyz, pose.quat_wxyz)
    assert dataclasses.replace(pose, position=[0, 0, 0]) == Pose([0, 0, 0], quat)


def test_batches_broadcast():
    many, one = random_poses(5), random_poses(1, seed=3)
    assert Pose(np.zeros((5, 3)), (1, 0, 0, 0)).shape == (5,)
    assert Pose([0, 0, 0], np.ones((2, 5, 4))).shape == (2, 5)
    assert (many @ Pose.identity()).shape == (5,)
    assert Pose.identity().shape == ()
    single = Pose(one.position[0], one.quat_wxyz[0])
    cloud = np.random.default_rng(0).normal(size=(7, 3))
    np.testing.assert_allclose(single.apply(cloud)[4], single.apply(cloud[4]), rtol=0, atol=1e-15)
    moved = many.apply(cloud[:5])
    for index in range(5):
        alone = Pose(many.position[index], many.quat_wxyz[index])
        np.testing.assert_allclose(moved[index], alone.apply(cloud[index]), rtol=0, atol=1e-15)
        assert_same(Pose(*((alone @ single).position, (alone @ single).quat_wxyz)), alone @ single, 0)


@pytest.mark.parametrize(
    ("position", "quat_wxyz", "message"),
    [
        ([0, 0], [1, 0, 0, 0], r"position: wrong shape; found \[2\]; expected numbers of shape \[\.\.\., 3\]"),
        ([0, 0, 0], [1, 0, 0], r"quat_wxyz: wrong shape; found \[3\]; expected numbers of shape \[\.\.\., 4\]"),
        ([0, 0, "far"], [1, 0, 0, 0], "position: not numbers; found .*far"),
        ([[0, 0, 0], [0]], [1, 0, 0, 0], "position: not numbers"),
        ([0, np.nan, 0], [1, 0, 0, 0], "position: not finite; found .*nan"),
        ([0, 0, 0], [0, 0, 0, 0], r"quat_wxyz: not a rotation; found \[0.0, 0.0, 0.0, 0.0\]; expected finite"),
        ([0, 0, 0], [np.inf, 0, 0, 0], "quat_wxyz: not a rotation; found .*inf"),
        (np.zeros((3, 3)), np.ones((2, 4)), r"do not pair up; found \[3, 3\] and \[2, 4\]"),
    ],
)
def test_what_is_no_pose_is_refused(position, quat_wxyz, message):
    with pytest.raises(DataError, match=message):
        Pose(position, quat_wxyz)


def test_a_matrix_that_is_no_rigid_motion_is_refused():
    with pytest.raises(DataError, match=r"matrix: not a rigid motion; .* expected the last row 0, 0, 0, 1"):
        Pose.from_matrix(np.diag([1.0, 1.0, 1.0, 2.0]))
    with pytest.raises(DataError, match="matrix: not a rotation matrix"):
        Pose.from_matrix(np.diag([2.0, 1.0, 1.0, 1.0]))
    with pytest.raises(DataError, match=r"matrix: wrong shape; found \[3, 3\]; expected .*, 4, 4\]"):
        Pose.from_matrix(np.eye(3))
