"""The simulator says in which order it concatenates its objects, where its hand is, and where its robot stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from demos.robomimic.raw_file import env_args
from robosuite_simulator import make_environment, model_of
from sido.demos.robomimic import RobomimicSource
from sido.demos.robomimic.object_layouts import OBJECT_LAYOUTS, object_layout
from sido.demos.robomimic.robot_base import base_in_model, known_base
from sido.demos.source import Environment, Hints
from sido.errors import DataError
from sido.geometry import Pose, quat_angle, wxyz_from_xyzw

IN_ROBOSUITE = [name for name in OBJECT_LAYOUTS if name != "MugCleanup"]  # that one is MimicGen's
VERSION = "1.5.2"


@pytest.mark.parametrize("name", IN_ROBOSUITE)
def test_the_simulator_agrees(name: str, tmp_path: Path) -> None:
    environment = make_environment(name)
    observation = environment.reset()
    simulation = environment.sim
    layout = OBJECT_LAYOUTS[name]
    fields = layout.fields(VERSION)
    assert fields is not None

    active = [key for key, observable in environment._observables.items() if observable.modality == "object"]
    found = tuple((key, max(1, np.size(observation[key]))) for key in active if key in observation)
    assert tuple((key.replace("gripper0_right", "gripper"), size) for key, size in found) == fields

    vector = observation["object-state"]
    position = vector[layout.position_of(layout.moving, VERSION, len(vector))]
    there = _place(simulation, layout.moving)
    np.testing.assert_allclose(position, there, atol=1e-12)

    model = model_of(environment)
    base = simulation.model.body_name2id("robot0_base")
    stands = Pose(simulation.data.body_xpos[base].copy(), simulation.data.body_xquat[base].copy())
    assert base_in_model(model) == stands
    assert known_base(Environment(name, VERSION), "Panda") == stands

    path = tmp_path / "one.hdf5"
    _write_steps(path, observation, env_args(name, VERSION), model)
    demo = RobomimicSource(path, Hints()).read(0)
    assert demo.object_position is not None
    np.testing.assert_allclose(demo.object_position[0], there - stands.position, atol=1e-12)
    _check_hand(observation, path)
    environment.close()


def _place(simulation: Any, name: str) -> np.ndarray:
    """Where the simulator has an object; ToolHang's frame is observed at its corner."""
    if name == "frame":
        return simulation.data.site_xpos[simulation.model.site_name2id("frame_intersection_site")].copy()
    return simulation.data.body_xpos[simulation.model.body_name2id(f"{name}_main")].copy()


def _check_hand(observation: dict[str, np.ndarray], path: Path) -> None:
    """The site's orientation from the wrist's: a quarter turn about z."""
    site = wxyz_from_xyzw(observation["robot0_eef_quat_site"].astype(np.float64))
    wrist = wxyz_from_xyzw(observation["robot0_eef_quat"])
    assert quat_angle(site, wrist) > 1.5
    with h5py.File(path, "a") as file:
        del file["data/demo_0/obs/robot0_eef_quat_site"]
    demo = RobomimicSource(path, Hints()).read(0)
    assert quat_angle(demo.eef_quat_wxyz[0], site) < 1e-6


def _write_steps(path: Path, observation: dict[str, np.ndarray], args: str, model: str) -> None:
    """A demonstration of two equal steps, as robomimic's converter names its arrays."""
    with h5py.File(path, "w") as file:
        file.create_group("data").attrs["env_args"] = args
        group = file.create_group("data/demo_0")
        group.attrs["model_file"] = model
        group["actions"] = np.zeros((2, 7))
        for key, value in observation.items():
            name = "object" if key == "object-state" else key
            group[f"obs/{name}"] = np.stack([value, value])


@pytest.mark.parametrize(
    ("variant", "name"),
    [
        ("Stack_D0", "Stack"),
        ("Stack_D1", "Stack"),
        ("Square_D2", "NutAssemblySquare"),
        ("NutAssemblySquare", "NutAssemblySquare"),
        ("MugCleanup_O1", "MugCleanup"),
        ("PickPlaceCan", "PickPlaceCan"),
    ],
)
def test_variants_of_mimicgen_share_a_layout(variant: str, name: str) -> None:
    assert object_layout(Environment(variant)) is OBJECT_LAYOUTS[name]


def test_the_order_of_1_4() -> None:
    """As read out of robosuite 1.4.1 and MimicGen."""
    square, mug = OBJECT_LAYOUTS["NutAssemblySquare"], OBJECT_LAYOUTS["MugCleanup"]
    assert square.position_of("SquareNut", "1.4.1", 14) == slice(0, 3)
    assert square.position_of("SquareNut", "1.5.0", 14) == slice(7, 10)
    assert mug.position_of("object", "1.4.1", 29) == slice(0, 3)
    assert mug.position_of("drawer", "1.4.1", 29) == slice(14, 17)
    stack = OBJECT_LAYOUTS["Stack"]
    assert stack.fields("1.4.1") != stack.fields("1.5.0")
    assert stack.position_of("cubeB", "1.4.1", 23) == slice(7, 10)
    assert OBJECT_LAYOUTS["Lift"].position_of("cube", "", 10) == slice(0, 3)  # the same in every version


def test_what_is_unknown_says_so() -> None:
    assert object_layout(Environment("StackThree_D0")) is None
    assert object_layout(None) is None
    with pytest.raises(DataError, match=r"another size.*found 14 numbers; expected 23 \(cubeA_pos, "):
        OBJECT_LAYOUTS["Stack"].position_of("cubeA", "1.4.1", 14)
    with pytest.raises(DataError, match=r"no such object; found 'mug'; expected one of \['cubeA', 'cubeB'\]"):
        OBJECT_LAYOUTS["Stack"].position_of("mug", "1.4.1", 23)
    with pytest.raises(DataError, match=r"unknown for this version of robosuite; found '1.5.2'; expected 1.4;"):
        OBJECT_LAYOUTS["MugCleanup"].position_of("object", "1.5.2", 29)


def test_bases_that_are_nested_turned_or_told_otherwise() -> None:
    def model(body: str) -> str:
        return f"<mujoco><worldbody><body name='a'><body name='b'/></body>{body}</worldbody></mujoco>"

    nested = '<body name="mount" pos="1 0 0" quat="0 0 0 1"><body name="robot0_base" pos="0.5 0 2"/></body>'
    found = base_in_model(model(nested))
    assert found is not None
    np.testing.assert_allclose(found.position, [0.5, 0.0, 2.0], atol=1e-15)
    assert base_in_model(model("")) is None
    with pytest.raises(DataError, match=r"body 'robot0_base': .* not a quaternion; found \['euler'\]"):
        base_in_model(model('<body name="robot0_base" euler="0 0 1"/>'))
    assert known_base(Environment("Stack", "1.4.1"), "Sawyer") is None
