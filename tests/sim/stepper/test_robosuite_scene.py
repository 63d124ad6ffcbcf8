"""Scenes from robosuite: its very models, in a quiet voice."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import mujoco
import numpy as np
import pytest

from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.errors import SettingError
from sido.sim.osc import OscSettings
from sido.sim.robosuite_scene import DATA_MIB, NEVER_TOUCH, arm_of, build_scene, make_environment, osc_of, scene_of
from sido.sim.scene import Scene, free_object


@pytest.fixture(scope="module")
def square() -> Any:
    return make_environment("NutAssemblySquare")


def test_the_model_is_robosuites(square: Any):
    theirs, ours = square.sim.model._model, scene_of(square).model
    compared = 0
    for name in dir(theirs):
        if name.startswith("_") or not isinstance(getattr(theirs, name), np.ndarray | int | float):
            continue
        if name in ("narena", "nbuffer", "nconmax", "njmax"):  # memory only
            continue
        if name.startswith(("cam_", "ncam", "name", "nnames", "signature")):  # ours has the spectator's camera, too
            continue
        if name.startswith(("exclude_", "nexclude")):  # test_what_is_never_asked_never_touches
            continue
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
        compared += 1
    assert compared > 300
    for name in ("timestep", "integrator", "cone", "solver", "tolerance", "iterations", "impratio", "gravity"):
        np.testing.assert_array_equal(getattr(ours.opt, name), getattr(theirs.opt, name), err_msg=name)
    assert ours.narena == DATA_MIB * 2**20 < theirs.narena


def test_what_is_never_asked_never_touches(square: Any):
    """The two turn about the vertical only, and one is above the other: whatever the joints, a gap remains."""
    model, data = square.sim.model._model, mujoco.MjData(square.sim.model._model)
    joint = model.joint("robot0_joint1")
    heights = []
    for (below, above), angle in itertools.product(NEVER_TOUCH, np.linspace(*joint.range, 50)):
        data.qpos[:] = square.sim.data.qpos
        data.qpos[joint.qposadr] = angle
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(abs(data.xaxis[joint.id]), [0, 0, 1], atol=1e-12)
        assert model.body(above).parentid == model.body(below).id
        heights.append((hull(model, data, above)[:, 2].min(), hull(model, data, below)[:, 2].max()))
    lowest_above, highest_below = np.array(heights).T
    assert (lowest_above - highest_below > 0.9e-3).all()


def hull(model: Any, data: Any, body: str) -> np.ndarray:
    """The vertices of what collides of it, world frame."""
    found = []
    for geom in range(model.ngeom):
        if model.geom_bodyid[geom] == model.body(body).id and model.geom_contype[geom]:
            mesh = model.geom_dataid[geom]
            first = model.mesh_vertadr[mesh]
            vertices = model.mesh_vert[first : first + model.mesh_vertnum[mesh]]
            found.append(vertices @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])
    return np.concatenate(found)


def test_square(square: Any):
    scene = scene_of(square)
    assert scene.name == "NutAssemblySquare"
    assert sorted(scene.objects) == ["RoundNut", "SquareNut"]
    nut = scene["SquareNut"]
    assert {scene.model.geom(geom).name for geom in nut.geoms} == {f"SquareNut_g{k}" for k in range(5)}
    with pytest.raises(SettingError, match="NutAssemblySquare has no such object; found 'nut'; expected SquareNut, Ro"):
        scene["nut"]


def test_stack(scene: Scene):
    assert sorted(scene.objects) == ["cubeA", "cubeB"]
    assert scene.arm.joints == 7
    np.testing.assert_allclose(scene.arm.base_pose.position, (-0.56, 0.0, 0.912), atol=1e-9)
    np.testing.assert_array_equal(scene.arm.torque_limits_nm[:, 1], (80, 80, 80, 80, 80, 12, 12))
    np.testing.assert_array_equal(scene.arm.gripper.directions, (-1, 1))
    assert scene.arm.gripper.speed == 0.2
    assert [scene.model.geom(geom).name for geom in scene.table] == ["table_collision"]
    assert [pair.name for pair in scene.grasp_contacts("cubeA")] == ["left_pad", "right_pad", "table"]
    assert set(scene.arm.gripper.left_pad) <= set(scene.arm.gripper.left_finger)
    assert not set(scene.arm.gripper.left_finger) & set(scene.arm.gripper.right_finger)


def test_another_gripper():
    gripper = arm_of(make_environment("Stack", gripper="Robotiq85Gripper")).gripper
    np.testing.assert_array_equal(gripper.directions, (1, 1))
    np.testing.assert_array_equal(gripper.control_range, [[0.0, 0.8], [0.0, 0.8]])
    assert len(gripper.joint_qpos) == 6


@pytest.mark.parametrize("gripper", ["InspireLeftHand", "XArm7Gripper"])
def test_grippers_of_another_kind_are_refused(gripper: str):
    with pytest.raises(SettingError, match=f"no model of this gripper; found {gripper}; expected PandaGripper, Rob"):
        build_scene("Stack", gripper=gripper)


def test_names_that_robosuite_does_not_know():
    with pytest.raises(SettingError, match="unknown robosuite task; found 'Stck'; expected Stack, NutAssemblySquare"):
        build_scene("Stck")
    with pytest.raises(SettingError, match=r"unknown gripper; found 'Panda'; expected .*PandaGripper"):
        build_scene("Stack", gripper="Panda")


def test_no_word_is_heard(capfd: pytest.CaptureFixture[str]):
    build_scene("Stack")
    assert capfd.readouterr() == ("", "")


def test_the_controller_is_read_back(square: Any):
    assert osc_of(square) == OscSettings(ACTION_SPECS["osc-delta"])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("impedance_mode", "variable", "impedance_mode 'fixed'"),
        ("uncoupling", False, "uncouple_pos_ori"),
        ("interpolator_pos", object(), "no interpolation"),
        ("kp", np.array([1.0, 2, 3, 4, 5, 6]), "one kp for positions and one for rotations"),
        ("output_max", np.array([0.05, 0.05, 0.1, 0.5, 0.5, 0.5]), "outputs as far in every direction"),
    ],
)
def test_controllers_that_sido_has_not(
    square: Any, name: str, value: Any, message: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(square.robots[0].composite_controller.part_controllers["right"], name, value)
    with pytest.raises(SettingError, match=f"controller_configs: sido has no such controller; expected .*{message}"):
        osc_of(square)


@pytest.mark.parametrize(
    "spec",
    [
        ActionSpec("absolute", rotation="rot6d"),
        ActionSpec("relative", frame="tool"),
        ActionSpec("absolute", gripper_open=0.0),
    ],
)
def test_actions_that_the_controller_does_not_understand(spec: ActionSpec):
    with pytest.raises(
        SettingError, match=r"OscSettings\.action_spec: the controller does not understand these actions"
    ):
        OscSettings(spec)


@pytest.mark.parametrize("value", [-1.0, float("nan")])
def test_gains_that_cannot_be(value: float):
    with pytest.raises(SettingError, match=r"OscSettings\.damping_ratio: not a usable number"):
        OscSettings(damping_ratio=value)


def test_an_object_needs_a_free_joint(scene: Scene):
    with pytest.raises(SettingError, match="no such free joint; found 'robot0_joint1'; expected cubeA_joint0, cubeB_j"):
        free_object(scene.model, "arm", "robot0_joint1")


@pytest.mark.parametrize("package", ["mujoco", "numba", "robosuite"])
def test_a_missing_package_is_named(package: str):
    code = f"""
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == {package!r} else find(name, *rest)
import sido.sim
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"simulation needs the package {package!r}, which is not installed; to mend it: pip install 'sido[sim]'" in (
        run.stderr
    )
