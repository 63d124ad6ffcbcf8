"""robosuite itself says the same of the same states: its names, its orders, its numbers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from hands import holding
from sido.sim.collect.demonstration import dataset_info, portable_model
from sido.sim.collect.observations import Observations
from sido.sim.collect.recipe import Recipe
from sido.sim.collect.recorder import RECORDED, Recorder
from sido.sim.robosuite_scene import make_environment
from sido.sim.silence import silence
from sido.sim.tasks import shared_task
from sido.sim.vector_environment import VectorEnvironment

STEPS = 8


def recorded(task: str) -> dict[str, Any]:
    """The beginning of an episode: the hand goes down and turns, the fingers close."""
    with VectorEnvironment(shared_task(task), envs=2, settings=Recipe(task, 1).environment_settings()) as world:
        world.reset([4, 5])
        recorder, goals = Recorder(world), holding(world) + np.array([0, 0.02, -0.03, 0.1, 0.0, 0.1, 2.0])
        for _ in range(STEPS):
            recorder.before(goals)
            recorder.after(world.step(goals).events)
        return recorder.arrays(1, Observations(shared_task(task)))


@pytest.mark.parametrize(("task", "environment", "size"), [("stack", "Stack", 23), ("square", "NutAssemblySquare", 14)])
def test_robosuite_sees_the_same(task: str, environment: str, size: int):
    arrays = recorded(task)
    ours = {name.removeprefix(f"{RECORDED}obs/"): rows for name, rows in arrays.items() if f"{RECORDED}obs/" in name}
    assert len(ours) == 10
    assert ours["object"].shape == (STEPS, size)
    with silence():
        theirs = make_environment(environment)
        theirs.reset_from_xml_string(portable_model(shared_task(task).scene.mjcf))
        for t in range(STEPS):
            theirs.sim.set_state_from_flattened(arrays[f"{RECORDED}states"][t])
            theirs.sim.forward()
            for _ in range(2):  # what is relative to the hand is relative to where it was seen last
                seen = theirs._get_observations(force_update=True)
            seen["object"] = seen["object-state"]
            for name, rows in ours.items():
                np.testing.assert_allclose(rows[t], same_sign(seen[name], rows[t], name), atol=1e-6, err_msg=name)
        theirs.close()
    told = dataset_info(Recipe(task, 1), shared_task(task), {}).environment
    assert told is not None
    document = json.loads(told.json)
    assert (document["env_name"], document["env_version"], document["type"]) == (environment, "1.5.2", 1)


def same_sign(theirs: Any, ours: Any, name: str) -> Any:
    """A quaternion and its negative are one rotation."""
    return theirs if not name.endswith(("quat", "quat_site")) or np.dot(theirs, ours) > 0 else -theirs


@pytest.mark.parametrize(
    ("task", "objects", "size"),
    [("mug", {"object", "drawer"}, 29), ("gantry", {"capsule", "box"}, 28), ("peachtree", {"peach", "basket"}, 28)],
)
def test_tasks_of_our_own(task: str, objects: set[str], size: int):
    arrays, scene = recorded(task), shared_task(task).scene
    poses = f"{RECORDED}datagen_info/object_poses/"
    assert {name.removeprefix(poses) for name in arrays if name.startswith(poses)} == objects
    observed = arrays[f"{RECORDED}obs/object"]
    assert observed.shape == (STEPS, size)
    base = scene.arm.base_pose
    np.testing.assert_allclose(observed[:, :3], base.apply(arrays["object_position"]), atol=1e-12)
    hand = arrays[f"{RECORDED}datagen_info/eef_pose"][:, :3, 3]
    np.testing.assert_allclose(
        np.linalg.norm(observed[:, 7:10], axis=1), np.linalg.norm(observed[:, :3] - hand, axis=1)
    )
    told = dataset_info(Recipe(task, 1), shared_task(task), {}).environment
    assert told is not None
    assert (told.name, json.loads(told.json)["type"]) == (f"sido/{task.capitalize()}-v0", 2)


def test_the_goal_is_where_the_action_sends_the_hand():
    arrays = recorded("stack")
    base = shared_task("stack").scene.arm.base_pose
    target = arrays[f"{RECORDED}datagen_info/target_pose"]
    np.testing.assert_allclose(target[:, :3, 3], base.apply(arrays["actions"][:, :3]), atol=1e-12)
    assert (arrays[f"{RECORDED}datagen_info/gripper_action"] == 1.0).all()


def test_the_model_names_no_path_of_this_machine():
    text = portable_model(shared_task("mug").scene.mjcf)
    assert 'file="/' not in text
    assert 'file="robosuite/models/assets/' in text
