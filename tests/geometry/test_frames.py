from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.errors import SettingError
from sido.geometry import Pose, Transform, quat_about_z, quat_from_axis_angle

WORLD_FROM_BASE = Transform("world", "base", Pose([1, 0, 0], quat_about_z(np.pi / 2)))
BASE_FROM_CAMERA = Transform("base", "camera", Pose([0, 2, 0], [1, 0, 0, 0]))


def test_a_chain_takes_points_through_its_frames():
    world_from_camera = WORLD_FROM_BASE @ BASE_FROM_CAMERA
    assert (world_from_camera.into, world_from_camera.of) == ("world", "camera")
    assert world_from_camera.name == "world_from_camera"
    # camera (0, 1, 0) -> base (0, 3, 0) -> a quarter turn and a metre along x: world (-2, 0, 0)
    np.testing.assert_allclose(world_from_camera.apply(np.array([[0.0, 1.0, 0.0]])), [[-2.0, 0.0, 0.0]], atol=1e-15)


@given(data=st.data())
def test_the_inverse_leads_back(points, axis_angles, data):
    transform = Transform("a", "b", Pose(data.draw(points), quat_from_axis_angle(data.draw(axis_angles))))
    point, back = data.draw(points), transform.inverse()
    assert (back.into, back.of) == ("b", "a")
    np.testing.assert_allclose(back.apply(transform.apply(point)), point, rtol=0, atol=1e-13)
    there_and_back = transform @ back
    assert (there_and_back.into, there_and_back.of) == ("a", "a")
    np.testing.assert_allclose(there_and_back.apply(point), point, rtol=0, atol=1e-13)


def test_frames_that_do_not_meet_are_refused():
    with pytest.raises(SettingError) as caught:
        BASE_FROM_CAMERA @ WORLD_FROM_BASE
    assert str(caught.value) == (
        "base_from_camera @ world_from_base does not chain; found inner frames 'camera' and 'world'; "
        "expected the same frame on both sides of the @; to mend it: swap the two, or take the inverse of one"
    )


def test_equality_is_by_frames_and_pose():
    assert Transform("world", "base", Pose([1, 0, 0], quat_about_z(np.pi / 2))) == WORLD_FROM_BASE
    assert Transform("world", "tool", WORLD_FROM_BASE.pose) != WORLD_FROM_BASE
    assert Transform("world", "base", Pose.identity()) != WORLD_FROM_BASE
