"""The object is driven as its motion says, is let go when grasped, and driven again when lost."""

from __future__ import annotations

import numpy as np
import pytest

from hands import Reach, holding
from sido.errors import SettingError
from sido.motion import MOTIONS, Driven, PassBeside, PlaceOutside, Resampled, Reverse, motion_named
from sido.sim.tasks import Gantry, Peachtree, Stack, shared_task
from sido.sim.vector_environment import VectorEnvironment

SEEDS = (3, 11)
FITTING = [
    name for name, motion in MOTIONS.items() if name not in ("still", "peachtree")
]  # the sway of 30 cm does not fit into Stack's 25


@pytest.mark.parametrize("name", FITTING)
def test_it_goes_as_fast_as_commanded_and_stays_in_its_region(make_world, stack: Stack, name: str):
    motion = motion_named(name, 0.03)
    with make_world(2, motion=motion, obstacle_rule=PlaceOutside()) as world:
        world.reset(SEEDS)
        hold, places = holding(world), [world.object_position.copy()]
        for _ in range(12 * 20):  # seconds; whole periods of the paces
            world.step(hold)
            places.append(world.object_position.copy())
            assert world.driven.all()
        path = np.stack(places)
    assert stack.region.contains(path).all()
    assert np.ptp(path[..., 2]) < 1e-12, "it neither hops nor sinks"
    chords = np.linalg.norm(np.diff(path, axis=0), axis=-1)
    drawn = isinstance(motion, Driven) and isinstance(motion.pace, Resampled)
    # A chord across a reflection is shorter than the way: 1 % of twelve seconds' steps has one.
    assert chords.sum(axis=0) / 12 == pytest.approx(0.03, rel=0.6 if drawn else 0.02)
    if not drawn and motion.pace.peak_speed_mps == motion.speed_mps:
        assert np.median(chords, axis=0) * 20 == pytest.approx(0.03, rel=1e-3), "and steadily"


def test_its_velocity_is_that_of_its_way(make_world):
    world: VectorEnvironment = make_world(motion=motion_named("circle", 0.05), obstacle_rule=PlaceOutside())
    world.reset([5])
    hold = holding(world)
    for step in range(30):
        before, velocity = world.object_position.copy(), world.object_velocity_mps
        assert np.linalg.norm(velocity) == pytest.approx(0.05, rel=1e-9), step
        world.step(hold)
        middle = (velocity + world.object_velocity_mps) / 2
        np.testing.assert_allclose(world.object_position - before, middle * 0.05, atol=1e-5)


def test_it_keeps_its_attitude_and_foresees_its_way(make_world):
    world: VectorEnvironment = make_world(motion=motion_named("random", 0.04))
    world.reset([9])
    turned = world.object_pose.quat_wxyz.copy()
    foreseen = world.object_future(0, 1.0)
    for _ in range(20):
        world.step(holding(world))
    np.testing.assert_allclose(world.object_position[0], foreseen, atol=1e-9)
    np.testing.assert_allclose(world.object_pose.quat_wxyz, turned, atol=1e-12)


def test_grasped_it_is_free_and_lost_it_is_driven_again(make_world):
    """A whole story: driven, grasped, lifted, dropped, at rest on the table, driven from where it lies."""
    world: VectorEnvironment = make_world(motion=motion_named("y", 0.02), obstacle_rule=PlaceOutside())
    world.reset([1])
    hand, story = Reach(world), []
    while hand.stage[0] != "lift" or hand.steps[0] < 12:
        step = world.step(hand.actions())
        story.append(step.events)
        assert len(story) < 150, hand.stage
    released = [k for k, events in enumerate(story) if events.released[0]]
    assert len(released) == 1, "a grasp ends the drive, once"
    k = released[0]
    assert story[k].left_pad[0]
    assert story[k].right_pad[0]
    assert story[k].closing[0]
    assert all(events.driven[0] for events in story[:k])
    assert not any(events.driven[0] for events in story[k:])
    assert not any(events.left_pad[0] and events.right_pad[0] and events.closing[0] for events in story[:k])
    assert world.object_future(0, 0.1) is None
    assert world.state.held[0]
    assert world.object_position[0, 2] > -0.092 + 0.05, "lifted with the hand, for it is free"
    untouched, resumed = 0, -1
    for step in range(60):
        where = world.eef_pose.position[0] + np.array([0.0, 0.0, 0.01])
        events = world.step(np.concatenate([where, hand.down[0], [-1.0]])[None]).events
        if events.resumed[0]:
            resumed = step
            break
        assert not events.driven[0]
        untouched = 0 if events.finger[0] else untouched + 1
    assert resumed >= 0, "the lost object is driven again"
    assert untouched + 1 >= world.settings.lost_after_steps
    before = world.object_position.copy()
    assert events.driven[0]
    for _ in range(20):
        world.step(holding(world))
    np.testing.assert_allclose(np.linalg.norm(world.object_position - before), 0.02, rtol=0.02)


def test_a_still_object_is_free_from_the_start(make_world):
    world: VectorEnvironment = make_world(3)
    world.reset([1, 2, 3])
    before = world.object_position.copy()
    for _ in range(20):
        events = world.step(holding(world)).events
        assert not events.driven.any()
        assert not events.resumed.any()
        assert events.table.all()
    assert np.linalg.norm(world.object_position - before, axis=1).max() < 1e-3
    assert world.object_future(0, 0.1) is None


def test_speed_zero_is_still(make_world):
    world: VectorEnvironment = make_world(motion=motion_named("x", 0.0))
    world.reset([1])
    assert not world.step(holding(world)).events.driven.any()


def test_a_still_peach_hangs(make_world, peachtree: Peachtree):
    world: VectorEnvironment = make_world(task=peachtree)
    world.reset([4])
    before = world.object_position.copy()
    for _ in range(10):
        world.step(holding(world))
    np.testing.assert_allclose(world.object_position, before, atol=1e-12)


@pytest.mark.parametrize("rule", [Reverse(), PassBeside(), PlaceOutside()])
def test_the_rule_for_the_obstacle_is_kept(make_world, stack: Stack, rule):
    world: VectorEnvironment = make_world(4, motion=motion_named("random", 0.1), obstacle_rule=rule)
    world.reset([1, 2, 3, 4])
    base_from_world = stack.scene.arm.base_pose.inverse()
    other = base_from_world.apply(world.state.position("cubeB"))
    first = np.linalg.norm((world.object_position - other)[:, :2], axis=1)
    assert stack.region.contains(other).any() == (not isinstance(rule, PlaceOutside))
    for _ in range(100):
        world.step(holding(world))
        gap = np.linalg.norm((world.object_position - other)[:, :2], axis=1)
        assert (gap > np.minimum(first, world.settings.clearance_m) - 1e-9).all()


@pytest.mark.parametrize(
    ("task", "motion", "complaint"),
    [
        (Stack, motion_named("x", 2.0), "too fast for the region; found 2 m/s; expected 0.625 m/s at most"),
        (Stack, motion_named("peachtree"), "the sway is longer than the region"),
        (Peachtree, motion_named("circle"), "the circle is wider than the region"),
        (Gantry, motion_named("gantry", 0.7), "too fast for the region"),
    ],
)
def test_a_motion_that_does_not_fit_is_refused_at_once(make_world, task, motion, complaint: str):
    with pytest.raises(SettingError) as caught:
        make_world(task=shared_task(task.name), motion=motion)
    assert f"environment of '{task.name}' > " in str(caught.value)
    assert complaint in str(caught.value)
