"""Many environments at once: each goes its own way, whatever becomes of the others."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

import mujoco
import numpy as np
import pytest

from hands import Reach, holding
from sido.demos import ACTION_SPECS
from sido.errors import SettingError
from sido.motion import PlaceOutside, motion_named
from sido.sim.ending import Ending
from sido.sim.experts.steering import in_action_spec
from sido.sim.pose_estimator import PoseEstimator
from sido.sim.settings import EnvironmentSettings
from sido.sim.tasks import Stack
from sido.sim.vector_environment import VectorEnvironment

MOVING = {
    "motion": motion_named("random", 0.03),
    "obstacle_rule": PlaceOutside(),
    "pose_estimator": PoseEstimator(noise_m=(0.002, 0.002, 0.004), latency_s=0.1, dropout=0.2),
}
STEPS = 45
"""Until after the grasp."""


def record(world: VectorEnvironment, seeds: Sequence[int]) -> dict[str, np.ndarray]:
    """Everything that is seen of episodes that a hand plays which looks at its own environment alone."""
    rows = [world.reset(seeds)]
    hand = Reach(world)
    rows += [world.step(hand.actions()).observation for _ in range(STEPS)]
    seen = {name: np.stack([row[name] for row in rows], axis=1) for name in rows[0]}
    return seen | {"state": world.mujoco_states}


def test_threads_and_company_change_no_bit(make_world):
    together = record(make_world(4, threads=1, **MOVING), [3, 1, 4, 1])
    threaded = record(make_world(4, threads=3, **MOVING), [3, 1, 4, 1])
    alone = record(make_world(1, **MOVING), [4])
    for name, rows in together.items():
        np.testing.assert_array_equal(threaded[name], rows, err_msg=name)
        np.testing.assert_array_equal(alone[name][0], rows[2], err_msg=name)
        np.testing.assert_array_equal(rows[1], rows[3], err_msg=f"{name}: the same seed")
    assert np.abs(together["object_position"][0] - together["object_position"][1]).max() > 0.01


def test_scenery_is_the_present_of_the_whole_model(make_world, stack: Stack):
    world: VectorEnvironment = make_world(2, **MOVING)
    world.reset([3, 4])
    kept = world.scenery(1)
    before = kept.geom_xpos.copy()
    world.step(holding(world))
    np.testing.assert_array_equal(kept.geom_xpos, before, err_msg="it stays until it is asked for again")
    for i in range(2):
        shown, expected = world.scenery(i), mujoco.MjData(stack.scene.model)
        expected.qpos[:] = world.state.qpos[i]
        mujoco.mj_forward(stack.scene.model, expected)
        for name in ("qpos", "geom_xpos", "geom_xmat", "site_xpos", "cam_xpos", "cam_xmat", "light_xpos", "light_xdir"):
            np.testing.assert_array_equal(getattr(shown, name), getattr(expected, name), err_msg=name)
        assert shown.time == pytest.approx(world.period_s)


def throw(world: VectorEnvironment, i: int, speed_mps: float, stack: Stack) -> None:
    """Give cubeA a velocity, as no action could."""
    qpos, qvel = world._stepper.qpos[i].copy(), np.zeros(stack.scene.model.nv)
    at = stack.scene["cubeA"].dof_address
    qvel[at : at + 3] = (0.0, speed_mps, speed_mps / 2)
    world._stepper.reset(i, qpos, qvel)


def test_a_fault_and_a_loss_harm_no_neighbour(make_world, stack: Stack):
    """One simulation diverges, one throws its cube out of the workspace; the third is what it is alone."""
    world: VectorEnvironment = make_world(3, threads=2)
    world.reset([5, 6, 7])
    alone: VectorEnvironment = make_world(1)
    alone.reset([7])
    throw(world, 0, 9e9, stack)
    throw(world, 1, 6.0, stack)
    hands = Reach(world), Reach(alone)
    for _ in range(STEPS):
        actions = hands[0].actions()
        actions[:2] = np.where(world.live[:2, None], holding(world)[:2], np.nan)  # nobody looks at what is over
        seen, other = world.step(actions).observation, alone.step(hands[1].actions()).observation
        for name, rows in other.items():
            np.testing.assert_array_equal(seen[name][2], rows[0], err_msg=name)
    assert world.endings == (Ending.ROBOT_FAULT, Ending.OBJECT_LOST, None)
    assert world.fault_reason(0)
    assert world.fault_reason(1) is None
    assert np.isfinite(world.mujoco_states).all()
    assert world.steps.tolist() == [1, world.steps[1], STEPS]
    assert world.steps[1] < STEPS


def test_a_reset_after_a_fault_is_a_fresh_episode(make_world, stack: Stack):
    world: VectorEnvironment = make_world(2)
    world.reset([5, 6])
    throw(world, 0, 9e9, stack)
    world.step(holding(world))
    assert world.endings[0] is Ending.ROBOT_FAULT
    world.reset([8], [0])
    fresh: VectorEnvironment = make_world(1)
    fresh.reset([8])
    for _ in range(3):
        world.step(holding(world))
        fresh.step(holding(fresh))
    np.testing.assert_array_equal(world.mujoco_states[0], fresh.mujoco_states[0])
    assert world.steps.tolist() == [3, 4]


def test_what_is_over_stays_as_it_ended(make_world, stack: Stack, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stack, "horizon_s", 0.15, raising=False)
    world: VectorEnvironment = make_world(2, motion=motion_named("y", 0.05), obstacle_rule=PlaceOutside())
    world.reset([1, 2])
    for _ in range(2):
        world.step(holding(world))
    world.reset([3], [1])
    world.step(holding(world))
    assert world.endings == (Ending.TIME, None)
    assert world.live.tolist() == [False, True]
    before = world.observation
    actions = holding(world)
    actions[0] = np.inf
    after = world.step(actions).observation
    for name in before:
        np.testing.assert_array_equal(after[name][0], before[name][0], err_msg=name)
    assert after["time_s"].tolist() == pytest.approx([0.15, 0.10])
    assert (after["object_position"][1] != before["object_position"][1]).any()


@pytest.mark.parametrize("name", ["osc-delta", "rot6d-absolute"])
def test_every_action_spec_steers_alike(make_world, name: str):
    """The same goals, said in another form, take the hand to the same place."""
    reached: list[np.ndarray] = []
    step, turn = np.array([[0.01, -0.004, 0.006]]), np.array([[0.0, 0.02, 0.05]])
    for spec in (ACTION_SPECS["osc-absolute"], ACTION_SPECS[name]):
        world: VectorEnvironment = make_world(1, action_spec=spec)
        world.reset([1])
        for _ in range(10):
            hand, base = world.eef_pose, world.scene.arm.base_pose
            world.step(in_action_spec(hand, (step, turn), np.array([False]), spec, base))
        reached.append(world.state.qpos[0])
    np.testing.assert_allclose(*reached, atol=1e-6)


# --- what cannot be


@pytest.mark.parametrize(
    ("seeds", "envs", "complaint"),
    [
        ([1], None, r"one seed for each environment; found 1 seeds for environments \[0, 1\]"),
        ([1, 2], [0, 0], "one seed for each environment"),
        ([1], [2], "no such environment; found 2; expected 0 to 1"),
        ([-1, 2], None, "seed of environment 0: not a seed; found -1"),
        ([3, 0.5], None, "seed of environment 1: not a seed; found 0.5; expected a whole number"),
        ([2**63, 2], None, "not a seed"),
    ],
)
@pytest.mark.usefixtures("as_user")
def test_resets_that_cannot_be_change_nothing(make_world, seeds, envs, complaint: str):
    world: VectorEnvironment = make_world(2)
    world.reset([1, 2])
    before = world.mujoco_states
    with pytest.raises(SettingError, match=complaint):
        world.reset(seeds, envs)
    np.testing.assert_array_equal(world.mujoco_states, before)
    assert world.seeds.tolist() == [1, 2]


def test_a_start_outside_of_the_region_is_refused(make_world):
    world: VectorEnvironment = make_world(1)
    with pytest.raises(SettingError, match=r"start_m: .*cannot begin outside of its region; found \(5.0, 0.0\)"):
        world.reset([1], starts_m=[(5.0, 0.0)])


@pytest.mark.parametrize(
    ("actions", "complaint"),
    [
        (np.zeros((2, 6)), r"actions: wrong shape; found \[2, 6\]; expected \[2, 7\]: environments, numbers of a"),
        (np.zeros(7), r"actions: wrong shape; found \[7\]"),
        ([[0.0] * 7, [float("nan")] * 7], r"actions\[1\]: environment 1 got an action that is not finite"),
        (None, "actions: "),
    ],
)
@pytest.mark.usefixtures("as_user")
def test_bad_actions_step_nobody(make_world, actions, complaint: str):
    world: VectorEnvironment = make_world(2)
    world.reset([1, 2])
    before = world.mujoco_states
    with pytest.raises(SettingError, match=complaint):
        world.step(actions)
    np.testing.assert_array_equal(world.mujoco_states, before)
    assert world.steps.tolist() == [0, 0]


def test_a_rotation_that_is_none_is_named(make_world):
    world: VectorEnvironment = make_world(1, action_spec=ACTION_SPECS["rot6d-absolute"])
    world.reset([1])
    with pytest.raises(SettingError, match=r"actions\[0\]: environment 0 got an action whose rotation is none"):
        world.step(np.zeros((1, 10)))


def test_it_is_named_by_its_environment_and_not_by_its_place_among_the_live(make_world):
    spec = ACTION_SPECS["rot6d-absolute"]
    world: VectorEnvironment = make_world(3, action_spec=spec)
    world.reset([1, 2, 3])
    world._episodes[1].ending = Ending.TIME
    actions = np.zeros((3, spec.dim))
    actions[:2, 3:9] = (1.0, 0.0, 0.0, 0.0, -1.0, 0.0)
    with pytest.raises(SettingError, match=r"actions\[2\]: environment 2 got an action whose rotation is none"):
        world.step(actions)


def test_as_many_starts_as_seeds(make_world):
    world: VectorEnvironment = make_world(2)
    with pytest.raises(SettingError, match=r"starts_m: one start for each environment .* found 1 starts for 2"):
        world.reset([1, 2], starts_m=[None])


@pytest.mark.parametrize("threads", [1, 2])
def test_nothing_is_stepped_after_the_end(make_world, threads: int):
    world: VectorEnvironment = make_world(2, threads=threads)
    world.reset([1, 2])
    world.close()
    with pytest.raises(SettingError, match="these environments are closed"):
        world.step(holding(world))


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(make_world):
    world: VectorEnvironment = make_world(3, threads=2)
    world.reset([1, 2, 3])
    world.step(holding(world))
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # without threads it would wait for its parent's
        world.step(holding(world))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_nobody_is_stepped_before_a_reset_nor_photographed_without_cameras(make_world):
    world: VectorEnvironment = make_world(2)
    with pytest.raises(SettingError, match="environment 0 of 'stack' was never reset; to mend it: reset all of them"):
        world.step(np.zeros((2, 7)))
    with pytest.raises(SettingError, match="environment 1 of 'stack' was never reset; to mend it: reset all of them"):
        world.reset([1], [0])
    world.reset([1, 2])
    with pytest.raises(SettingError, match="have no cameras; to mend it: give VectorEnvironment a `render`"):
        world.render(0)


def test_settings_that_cannot_be(stack: Stack):
    for settings, complaint in (({"arm_noise_rad": -1.0}, "arm_noise_rad"), ({"lost_after_steps": 0}, "lost_after")):
        with pytest.raises(SettingError, match=complaint):
            EnvironmentSettings(**settings)
    for envs, threads, complaint in ((0, 1, "envs: too few"), (1, 0, "threads: too few")):
        with pytest.raises(SettingError, match=complaint):
            VectorEnvironment(stack, envs=envs, threads=threads)
