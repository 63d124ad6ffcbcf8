"""Bodies of primitives, as MuJoCo understands them."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, fromstring, tostring

import mujoco
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sido.errors import SettingError
from sido.sim.mjcf import Body, Look, Matter, aim_camera, leave_apart, light_from, numbers

WHITE = Look((1.0, 0.5, 0.25))
OPTIONS = '<compiler angle="radian" inertiagrouprange="0 0" autolimits="true"/>'


def empty() -> Element:
    return fromstring(f"<mujoco>{OPTIONS}<worldbody><camera name='agentview' quat='1 0 0 0'/></worldbody></mujoco>")


def world_of(root: Element) -> Element:
    world = root.find("worldbody")
    assert world is not None
    return world


def compiled(root: Element) -> tuple[Any, Any]:
    model = mujoco.MjModel.from_xml_string(tostring(root, encoding="unicode"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


coordinate = st.floats(-2.0, 2.0, allow_nan=False)
place = st.tuples(coordinate, coordinate, coordinate)


@given(position=place, target=place)
def test_a_camera_looks_at_its_target_upright(position: Any, target: Any):
    away = np.subtract(target, position)
    if np.hypot(away[0], away[1]) < 0.05:  # straight down, there is no upright
        return
    root = empty()
    aim_camera(root, "agentview", position, target, fovy_deg=30.0)
    model, data = compiled(root)
    right, up, back = data.cam_xmat[0].reshape(3, 3).T
    np.testing.assert_allclose(-back, away / np.linalg.norm(away), atol=1e-6)
    assert abs(right[2]) < 1e-6
    assert up[2] > 0
    np.testing.assert_allclose(data.cam_xpos[0], position, atol=1e-6)
    assert model.cam_fovy[0] == 30.0


def test_a_camera_that_is_not_there_is_named():
    with pytest.raises(SettingError, match="sideview"):
        aim_camera(empty(), "sideview", (0, 0, 1), (1, 0, 0))


def test_a_solid_weighs_once_and_has_a_look():
    root = empty()
    body = Body.within(world_of(root), "brick", (0, 0, 1), free=True)
    matter = Matter(density=1000.0, friction=(0.7, 0.02, 0.003), contact_axes=6)
    body.solid("brick", "box", (0.05, 0.1, 0.2), (0, 0, 0.01), matter, WHITE, yaw_rad=0.3)
    model, data = compiled(root)
    assert model.body_mass[1] == pytest.approx(1000.0 * 0.1 * 0.2 * 0.4)
    solid, seen = model.geom("brick").id, model.geom("brick_visual").id
    np.testing.assert_allclose(data.geom_xmat[solid], data.geom_xmat[seen])
    np.testing.assert_allclose(data.geom_xmat[solid].reshape(3, 3)[:2, 0], (np.cos(0.3), np.sin(0.3)), atol=1e-6)
    np.testing.assert_allclose(model.geom_size[solid], model.geom_size[seen])
    np.testing.assert_allclose(model.geom_friction[solid], matter.friction)
    assert model.geom_condim[solid] == 6
    assert (model.geom_contype[solid], model.geom_contype[seen]) == (1, 0)
    assert (model.geom_group[solid], model.geom_group[seen]) == (0, 1)
    np.testing.assert_allclose(model.geom_rgba[seen], (1.0, 0.5, 0.25, 1.0))
    assert model.jnt_type[model.joint("brick").id] == mujoco.mjtJoint.mjJNT_FREE


def test_a_solid_without_a_look_is_not_seen():
    root = empty()
    Body.within(world_of(root), "ghost").solid("ghost", "sphere", (0.1,), (0, 0, 0), Matter())
    model, _ = compiled(root)
    assert model.geom_group.tolist() == [0]


def test_a_rod_goes_from_point_to_point():
    root = empty()
    start, end = np.array([0.1, 0.2, 0.3]), np.array([0.4, -0.1, 0.8])
    body = Body.within(world_of(root), "tree", carried=True)
    body.rod("rod", start.tolist(), end.tolist(), 0.01, WHITE)
    model, data = compiled(root)
    np.testing.assert_allclose(data.geom_xpos[0], (start + end) / 2, atol=1e-9)
    assert model.geom_size[0, 1] == pytest.approx(np.linalg.norm(end - start) / 2)
    assert model.nmocap == 1
    assert model.geom_contype[0] == model.geom_conaffinity[0] == 0


def test_a_body_hangs_on_its_parent():
    root = empty()
    Body.within(world_of(root), "cabinet", (1, 0, 0)).body("drawer", (0, 2, 0))
    _, data = compiled(root)
    np.testing.assert_allclose(data.body("drawer").xpos, (1, 2, 0))


@pytest.mark.parametrize("apart", [False, True])
def test_bodies_that_are_left_apart_do_not_touch(apart: bool):
    root = empty()
    for name in ("one", "two"):
        body = Body.within(world_of(root), name, free=True)
        body.solid(name, "sphere", (0.1,), (0, 0, 0), Matter())
    if apart:
        leave_apart(root, "one", "two")
    _, data = compiled(root)
    assert (data.ncon == 0) is apart


def test_light_adds_a_lamp_that_throws_no_shadow():
    root = empty()
    light_from(root, (0.0, -1.0, 1.0), brightness=0.2)
    model, _ = compiled(root)
    assert model.nlight == 1
    assert not model.light_castshadow[0]
    np.testing.assert_allclose(model.light_dir[0], np.array([0.0, 1.0, -1.0]) / np.sqrt(2), atol=1e-6)
    np.testing.assert_allclose(model.light_diffuse[0], 0.2, atol=1e-6)


def test_light_needs_a_world():
    with pytest.raises(SettingError, match="worldbody"):
        light_from(fromstring("<mujoco/>"), (0.0, 0.0, 1.0))


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3))
@example([0.0, 5e-324, -1e-310])
def test_numbers_are_read_back(values: list[float]):
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody><body pos='{numbers(values)}'/></worldbody></mujoco>")
    np.testing.assert_allclose(model.body_pos[1], values, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(np.array(numbers(values).split(), dtype=np.float64), values, rtol=1e-8, atol=1e-12)
