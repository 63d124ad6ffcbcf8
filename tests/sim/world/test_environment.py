"""The tasks as Gymnasium has them: its own checker is content, and an episode is the vectorised world's."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from hands import Reach, holding
from sido.errors import SettingError, SidoError
from sido.motion import motion_named
from sido.sim.environment import Environment, environment_id, register_environments
from sido.sim.pose_estimator import PoseEstimator
from sido.sim.settings import EnvironmentSettings
from sido.sim.tasks import TASKS, Stack, shared_task
from sido.sim.vector_environment import VectorEnvironment

IDS = ["sido/Stack-v0", "sido/Square-v0", "sido/Mug-v0", "sido/Gantry-v0", "sido/Peachtree-v0"]


@pytest.fixture(autouse=True)
def built_once(stack: Stack, monkeypatch: pytest.MonkeyPatch):
    """A scene takes seconds to build, and nothing changes it."""
    monkeypatch.setitem(TASKS, "stack", lambda: stack)


def test_all_five_are_registered():
    register_environments()  # again, as whoever imports the module twice
    assert [environment_id(task) for task in TASKS] == IDS
    assert set(IDS) <= set(gymnasium.registry)


@pytest.mark.parametrize("name", IDS)
def test_gymnasium_is_content(name: str, monkeypatch: pytest.MonkeyPatch):
    task = shared_task(name[5:-3].lower())
    monkeypatch.setitem(TASKS, task.name, lambda: task)
    cameras = ("agentview",) if name == "sido/Stack-v0" else ()
    with gymnasium.make(name, motion="y", cameras=cameras, image_size=24) as made:
        assert isinstance(made.unwrapped, Environment)
        check_env(made.unwrapped, skip_render_check=True)


def test_an_episode_is_that_of_the_vectorised_world(stack: Stack):
    settings = EnvironmentSettings(
        motion=motion_named("circle", 0.03), pose_estimator=PoseEstimator(noise_m=(1e-3,) * 3)
    )
    one = Environment(
        "stack", motion="circle", speed_mps=0.03, actions="osc-absolute", pose_estimator=settings.pose_estimator
    )
    with one, VectorEnvironment(stack, envs=2, settings=settings) as world:
        seen, info = one.reset(seed=7)
        rows = world.reset([3, 7])
        hand = Reach(world)
        for _ in range(60):
            for name, row in rows.items():
                np.testing.assert_array_equal(seen[name], row[1], err_msg=name)
            assert one.observation_space.contains(seen)
            actions = hand.actions()
            rows, _, events = world.step(actions)
            seen, reward, terminated, truncated, info = one.step(actions[1])
            assert (reward, terminated, truncated) == (0.0, False, False)
            assert info["driven"] == events.driven[1]
            assert (info["held"], info["released"]) == (events.held[1], events.released[1])
        assert info["seed"] == 7
        assert not info["driven"], "it was grasped meanwhile"


def test_images_are_those_of_the_moment():
    with Environment("stack", cameras=("robot0_eye_in_hand", "spectator"), image_size=24) as one:
        before, _ = one.reset(seed=1)
        assert {name for name in before if name.endswith("_image")} == {"robot0_eye_in_hand_image", "spectator_image"}
        assert before["spectator_image"].shape == (24, 24, 3)
        assert one.observation_space.contains(before)
        action = one.action_space.sample()
        for _ in range(3):
            after, *_ = one.step(action)
        assert (before["robot0_eye_in_hand_image"] != after["robot0_eye_in_hand_image"]).any()


def test_a_picture_for_people(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sido.sim.environment._PICTURE_SIZE", (48, 64))
    with Environment("stack", render_mode="rgb_array") as one:
        one.reset(seed=1)
        picture = one.render()
        assert picture.shape == (48, 64, 3)
        assert picture.std() > 20
    with Environment("stack") as one:
        one.reset(seed=1)
        assert one.render() is None


def test_without_a_seed_episodes_differ_and_follow_from_the_first():
    def episodes() -> list[int]:
        with Environment("stack") as one:
            return [one.reset(seed=seed)[1]["seed"] for seed in (5, None, None)]

    first = episodes()
    assert first == episodes()
    assert len(set(first)) == 3


# --- why it ends


def still_action(one: Environment) -> np.ndarray:
    return holding(one.world)[0]


def test_time_truncates(stack: Stack, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stack, "horizon_s", 0.2, raising=False)
    with Environment("stack", actions="osc-absolute") as one:
        one.reset(seed=1)
        told = [one.step(still_action(one))[2:] for _ in range(4)]
        assert [(terminated, truncated) for terminated, truncated, _ in told] == [(False, False)] * 3 + [(False, True)]
        assert [info["ended"] for *_, info in told] == ["", "", "", "time"]
        with pytest.raises(SettingError, match=r"the episode is over: time; to mend it: call reset\(\)"):
            one.step(still_action(one))
        _, info = one.reset(seed=1)
        assert info["ended"] == ""


def test_success_is_rewarded_and_terminates():
    with Environment("stack", actions="osc-absolute") as one:
        one.reset(seed=2)
        hand, told = Reach(one.world, then_stack=True), ()
        while not told or not (told[2] or told[3]):
            told = one.step(hand.actions()[0])
        _, reward, terminated, truncated, info = told
    assert (reward, terminated, truncated, info["ended"], info["success"]) == (1.0, True, False, "success", True)


def throw(one: Environment, velocity: float, stack: Stack) -> None:
    """Give the cube a velocity, as no action could."""
    stepper, at = one.world._stepper, stack.scene["cubeA"].dof_address
    qpos, qvel = stepper.qpos[0].copy(), np.zeros(stack.scene.model.nv)
    qvel[at : at + 3] = (0.0, velocity, velocity / 2)
    stepper.reset(0, qpos, qvel)


@pytest.mark.parametrize(("velocity", "ending"), [(6.0, "object out of the workspace"), (9e9, "robot fault")])
def test_a_lost_object_and_a_fault_terminate(stack: Stack, velocity: float, ending: str):
    with Environment("stack", actions="osc-absolute") as one:
        one.reset(seed=2)
        throw(one, velocity, stack)
        for _ in range(20):
            seen, reward, terminated, truncated, info = one.step(still_action(one))
            if terminated:
                break
        assert (reward, terminated, truncated, info["ended"]) == (0.0, True, False, ending)
        assert bool(info["fault"]) == (ending == "robot fault")
        assert all(np.isfinite(values).all() for values in seen.values())


# --- what cannot be


@pytest.mark.parametrize(
    ("action", "complaint"),
    [
        (np.zeros(6), r"actions: wrong shape; found \[1, 6\]; expected \[1, 7\]"),
        (np.zeros((2, 7)), r"actions: wrong shape; found \[1, 2, 7\]"),
        (np.array([0, 0, 0, 0, np.nan, 0, 0]), r"actions\[0\]: environment 0 got an action that is not finite"),
        (np.array([0, 0, 0, 0, 0, 0, np.inf]), r"actions\[0\]: environment 0 got an action that is not finite"),
        ("up", "actions: not numbers"),
    ],
)
@pytest.mark.usefixtures("as_user")
def test_a_bad_action_changes_nothing(action, complaint: str):
    with Environment("stack", actions="osc-absolute") as one:
        before, _ = one.reset(seed=1)
        with pytest.raises(SettingError, match=complaint):
            one.step(action)
        np.testing.assert_array_equal(one.world.observation["joint_position"][0], before["joint_position"])
        assert one.world.steps[0] == 0


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"task": "stak"}, "unknown task; found 'stak'; expected one of stack, square, .* did you mean 'stack'"),
        ({"task": "stack", "motion": "cirle"}, "unknown motion; found 'cirle'; .* did you mean 'circle'"),
        (
            {"task": "stack", "actions": "osc-absolut"},
            "unknown action spec; found 'osc-absolut'; expected one of .*osc-absolute",
        ),
        ({"task": "stack", "obstacle": "reverze"}, "unknown rule for the obstacle; .* did you mean 'reverse'"),
        ({"task": "stack", "motion": "x", "speed_mps": -0.1}, "found -0.1"),
        ({"task": "stack", "motion": "x", "speed_mps": float("nan")}, "found nan"),
        ({"task": "stack", "motion": "x", "speed_mps": 3.0}, "too fast for the region; found 3 m/s"),
        ({"task": "stack", "render_mode": "human"}, "unknown render mode; found 'human'"),
        ({"task": "stack", "cameras": ("agentvew",)}, "no such camera; found 'agentvew'; expected .*agentview"),
        ({"task": "stack", "cameras": ("agentview",), "image_size": 0}, "not the size of an image"),
    ],
)
def test_settings_that_cannot_be(settings: dict, complaint: str):
    with pytest.raises(SidoError, match=complaint):
        Environment(**settings)


def test_resets_that_cannot_be():
    with Environment("stack") as one:
        with pytest.raises(SettingError, match=r"there are no options; found \['easy'\]"):
            one.reset(options={"easy": True})
        with pytest.raises(SettingError, match="environment 0 of 'stack' was never reset"):
            one.step(one.action_space.sample())
