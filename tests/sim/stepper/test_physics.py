"""What is only seen makes no difference to what moves, and is not stepped."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sido.errors import SettingError
from sido.sim.osc import OscSettings
from sido.sim.physics import Physics, physics_of
from sido.sim.scene import Scene
from sido.sim.stepper import Stepper
from sido.sim.tasks import TASKS, shared_task

from .conftest import hold

REPORTS = ("qpos", "qvel", "eef_position", "eef_quat_wxyz", "torques_nm", "contacts")
SAME_NUMBERS = ("nq", "nv", "nu", "nbody", "njnt", "nsite", "ncam", "nmocap", "neq", "ntendon", "nsensor", "nexclude")


@pytest.mark.parametrize("name", TASKS)
def test_it_moves_to_the_last_bit_as_the_whole_model_does(name: str):
    """The hand goes down to where the object lies while the gripper closes: there is something to collide with."""
    task = shared_task(name)
    scene, qpos = task.scene, task.place(np.random.default_rng(3))
    contacts = (*scene.grasp_contacts(task.moving), *task.contacts)
    both = [
        Stepper(physics, scene.arm, OscSettings(), envs=1, contacts=contacts)
        for physics in (scene.physics, Physics.of(scene.model))
    ]
    place = qpos[scene[task.moving].qpos_address :][:3] - scene.arm.base_pose.position
    touched = 0
    for stepper in both:
        stepper.reset(0, qpos)
    for step in range(30):
        action = hold(both[0], 1.0 if step > 15 else -1.0)
        action[:, :3] += 0.15 * (place - action[:, :3])
        for stepper in both:
            stepper.step(action)
        touched += both[0].contacts.sum()
        for report in REPORTS:
            np.testing.assert_array_equal(getattr(both[0], report), getattr(both[1], report), err_msg=report)
    assert touched, "the contacts that are watched are found among its own geoms"


@pytest.mark.parametrize("name", TASKS)
def test_only_shapes_are_left_out(name: str):
    scene = shared_task(name).scene
    whole, model = scene.model, scene.physics.model
    for number in SAME_NUMBERS:
        assert getattr(model, number) == getattr(whole, number), number
    assert scene.physics.whole_geoms == whole.ngeom > 2 * model.ngeom
    assert (model.geom_contype | model.geom_conaffinity).all()
    for table in ("geom_type", "geom_bodyid", "geom_size", "geom_friction", "geom_contype", "geom_conaffinity"):
        np.testing.assert_array_equal(getattr(model, table), getattr(whole, table)[scene.physics.geoms], err_msg=table)
    for field in ("timestep", "disableflags", "enableflags", "cone", "impratio", "tolerance", "iterations"):
        assert getattr(model.opt, field) == getattr(whole.opt, field), field


def test_a_watched_geom_that_is_only_seen_touches_nothing(scene: Scene):
    seen = tuple(int(geom) for geom in range(scene.model.ngeom) if geom not in scene.physics.geoms)
    pairs = [pair.__class__("seen", seen, seen) for pair in scene.grasp_contacts("cubeA")[:1]]
    stepper = Stepper(scene.physics, scene.arm, OscSettings(), envs=1, contacts=pairs)
    stepper.reset(0, scene.home_qpos)
    stepper.step(hold(stepper))
    assert not stepper.contacts.any()


def test_the_whole_model():
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/><geom size='2'/></worldbody></mujoco>")
    physics = Physics.of(model)
    assert physics.model is model
    assert physics.geoms.tolist() == [0, 1]
    assert physics.whole_geoms == 2


def test_a_mass_that_would_be_lost():
    mjcf = """
    <mujoco><worldbody><body><freejoint/>
      <geom size="0.1"/><geom size="0.2" contype="0" conaffinity="0"/>
    </body></worldbody></mujoco>"""
    with pytest.raises(SettingError, match="a shape that does not collide has a mass; to mend it: give it mass='0'"):
        physics_of(mjcf, mujoco.MjModel.from_xml_string(mjcf))
