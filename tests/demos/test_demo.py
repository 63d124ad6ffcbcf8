from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from sido.demos import ACTION_SPECS, Demo, Frames, Grasp
from sido.demos.synthetic import REALISED_SHARE, reach_and_lift
from sido.errors import DataError, SettingError


def demo(**changes) -> Demo:
    return dataclasses.replace(reach_and_lift(np.random.default_rng(0), image_size=8), **changes)


def spoiled(array: np.ndarray, step: int, entry: int, value: float) -> np.ndarray:
    copy = array.copy()
    copy[step, entry] = value
    return copy


def test_arrays_are_read_only_and_the_callers_own_are_not():
    actions = np.zeros((80, 7))
    built = demo(actions=actions)
    with pytest.raises(ValueError, match="read-only"):
        built.actions[0, 0] = 1.0
    actions[0, 0] = 1.0  # still ours


@pytest.mark.parametrize("horizon", [1, 8, 16, 40, 41])
def test_eligible_steps_are_those_whose_chunk_ends_before_the_grasp(horizon: int):
    whole = demo(grasp=Grasp(40, "test", window_start=5))
    expected = [t for t in range(len(whole)) if t >= 5 and t + horizon <= 40]
    assert np.flatnonzero(whole.eligible_steps(horizon)).tolist() == expected
    assert [t for t in range(len(whole)) if whole.grasp.eligible(t, horizon)] == expected


def test_without_a_grasp_nothing_is_eligible():
    assert not demo(grasp=None).eligible_steps(4).any()


MESSAGES = {
    "nan": (
        lambda d: {"actions": spoiled(d.actions, 3, 1, np.nan)},
        "demo_0 > actions: not a finite number; found [",
    ),
    "infinite pose": (
        lambda d: {"object_position": spoiled(d.object_position, 9, 2, np.inf)},
        "demo_0 > object_position: not a finite number; found [",
    ),
    "beyond range": (
        lambda d: {"actions": spoiled(d.actions, 7, 2, 1.5)},
        "demo_0 > actions[7, 2]: an action is beyond its range; found 1.5; expected -1 to 1 (relative actions); to "
        "mend it: if the actions have another meaning, name it with --action-spec; else rescale them",
    ),
    "gripper beyond range": (
        lambda d: {"actions": spoiled(d.actions, 7, 6, -3)},
        "demo_0 > actions[7, 6]: an action is beyond its range; found -3; expected -1 to 1",
    ),
    "lengths": (
        lambda d: {"gripper": d.gripper[:-2]},
        "demo_0 > gripper: lengths differ; found 78 steps; expected 80, as many as actions; to mend it: record the "
        "demonstration again, or cut both to the same length",
    ),
    "image length": (
        lambda d: {"images": {"agentview": Frames.of_array(np.zeros((79, 8, 8, 3), np.uint8))}},
        "demo_0 > images of agentview: lengths differ; found 79 steps; expected 80",
    ),
    "empty": (
        lambda d: {"actions": d.actions[:0]},
        "demo_0 > actions: the demonstration is empty; to mend it: delete it from the file",
    ),
    "width": (
        lambda d: {"actions": d.actions[:, :6]},
        "demo_0 > actions: the actions do not fit their spec; found [80, 6]; expected [T, 7] (relative, rotation as "
        "axis_angle); to mend it: name the right spec with --action-spec",
    ),
    "part of a step": (
        lambda d: {"grasp": Grasp(30.5, "test")},
        "demo_0 > grasp: not a step; found Grasp(index=30.5, source='test', window_start=0); expected whole numbers",
    ),
    "no name": (lambda d: {"name": None}, "name: not a name; found None; expected text"),
    "no hand": (lambda d: {"eef_position": None}, "demo_0 > eef_position: not an array of numbers; found None"),
    "no rotation": (
        lambda d: {"eef_quat_wxyz": spoiled(spoiled(d.eef_quat_wxyz, slice(2, 3), slice(None), 0.0), 5, 0, 1.0)},
        "demo_0 > eef_quat_wxyz: not a rotation; found [0.0, 0.0, 0.0, 0.0] at step 2; expected (w, x, y, z), not all",
    ),
    "wide signal": (
        lambda d: {"subtask_signals": {"grasp": np.zeros((80, 2), bool)}},
        "demo_0 > subtask signal grasp: wrong shape; found [80, 2]; expected [T]",
    ),
    "text": (lambda d: {"actions": "abc"}, "demo_0 > actions: not an array of numbers; found 'abc'"),
    "no actions": (lambda d: {"actions": None}, "demo_0 > actions: not an array of numbers; found None"),
    "one number": (lambda d: {"actions": 1.0}, "demo_0 > actions: the actions do not fit their spec; found []"),
    "complex": (
        lambda d: {"actions": d.actions.astype(complex)},
        "demo_0 > actions: not an array of numbers; found",
    ),
    "recorded list": (
        lambda d: {"recorded": {"states": [1.0] * 80}},
        "demo_0 > states: not an array over the steps; found list",
    ),
    "recorded number": (
        lambda d: {"recorded": {"states": np.array(1.0)}},
        "demo_0 > states: not an array over the steps; found ndarray of shape []",
    ),
    "grasp": (
        lambda d: {"grasp": Grasp(80, "test")},
        "demo_0 > grasp: the grasp lies outside the demonstration",
    ),
}


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize("case", MESSAGES)
def test_a_bad_demonstration_cannot_be_built(case: str):
    change, text = MESSAGES[case]
    with pytest.raises(DataError) as raised:
        demo(**change(demo()))
    assert str(raised.value).startswith(text)
    assert "\n" not in str(raised.value)


def test_absolute_actions_may_lie_anywhere():
    absolute = reach_and_lift(np.random.default_rng(0), spec=ACTION_SPECS["osc-absolute"])
    assert np.abs(absolute.actions[:, 3:6]).max() > 1


def test_the_synthetic_arm_realises_its_share():
    made = reach_and_lift(np.random.default_rng(3))
    realised = np.diff(made.eef_position, axis=0)
    np.testing.assert_allclose(realised, REALISED_SHARE * 0.05 * made.actions[:-1, :3], atol=1e-12)
    with pytest.raises(SettingError, match="10 steps"):
        reach_and_lift(np.random.default_rng(3), steps=40, grasp_step=35)


def test_frames_read_only_what_is_asked_for():
    asked: list[list[int]] = []
    pixels = np.random.default_rng(0).integers(0, 255, (20, 4, 5, 3), dtype=np.uint8)

    def read(steps: np.ndarray) -> np.ndarray:
        asked.append(steps.tolist())
        return pixels[steps]

    frames = Frames((20, 4, 5, 3), read)
    np.testing.assert_array_equal(frames[3], pixels[3])
    np.testing.assert_array_equal(frames[-1], pixels[-1])
    np.testing.assert_array_equal(frames[4:20:5], pixels[4:20:5])
    np.testing.assert_array_equal(frames[np.array([7, 2, 7])], pixels[[7, 2, 7]])
    assert asked == [[3], [19], [4, 9, 14, 19], [7, 2, 7]]
    assert len(frames) == 20
    with pytest.raises(IndexError, match="of 20 steps"):
        frames[20]


def test_frames_that_are_not_what_was_announced():
    frames = Frames((20, 4, 5, 3), lambda steps: np.zeros((len(steps), 4, 4, 3), np.uint8))
    with pytest.raises(DataError, match="not what the file announced"):
        frames[0]
