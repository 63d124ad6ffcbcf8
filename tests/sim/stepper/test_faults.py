"""A simulation that fails: told, held, and no harm to its neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from sido.sim.scene import Scene
from sido.sim.stepper import Stepper
from sido.sim.stepper.fault import fault_reason

from .conftest import MakeStepper, hold, home_of


def diverge(stepper: Stepper, i: int, scene: Scene) -> None:
    """Give cubeA a velocity that no time step can follow."""
    qvel = np.zeros(scene.model.nv)
    at = scene["cubeA"].dof_address
    qvel[at : at + 6] = 9e9
    stepper.reset(i, home_of(scene), qvel)


def test_a_fault_is_told_and_held(make_stepper: MakeStepper, scene: Scene):
    stepper = make_stepper(envs=2)
    diverge(stepper, 1, scene)
    before = np.array(stepper.qpos)
    for _ in range(3):
        stepper.step(hold(stepper, 1.0))
        assert stepper.faults[0] == 0
        assert stepper.faults[1] != 0
        assert stepper.fault_reason(1)
    np.testing.assert_array_equal(stepper.qpos[1], before[1])
    np.testing.assert_array_equal(stepper.data[1].qpos, before[1])
    assert stepper.time_s[1] == stepper.data[1].time == 0.0
    assert not stepper.gripper_goals[1].any()
    assert not stepper.torques_nm[1].any()
    assert not stepper.contacts[1].any()
    assert np.isfinite(stepper.qvel).all()
    assert stepper.fault_reason(0) is None


def test_its_neighbours_do_not_notice(make_stepper: MakeStepper, scene: Scene):
    rows: list[Any] = []
    for broken in (False, True):
        stepper = make_stepper(envs=3, threads=2)
        if broken:
            diverge(stepper, 1, scene)
        for _ in range(5):
            stepper.step(hold(stepper, 1.0))
        assert (stepper.faults[1] != 0) == broken
        rows.append(np.array(stepper.qpos[[0, 2]]))
    np.testing.assert_array_equal(*rows)


def test_a_reset_mends_it(make_stepper: MakeStepper, scene: Scene):
    stepper, healthy = make_stepper(), make_stepper()
    diverge(stepper, 0, scene)
    stepper.step(hold(stepper))
    stepper.reset(0, home_of(scene))
    assert stepper.faults[0] == 0
    for _ in range(3):
        stepper.step(hold(stepper))
        healthy.step(hold(healthy))
    np.testing.assert_array_equal(stepper.qpos, healthy.qpos)


def test_mujoco_says_nothing_and_writes_no_log(
    make_stepper: MakeStepper,
    scene: Scene,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    stepper = make_stepper()
    diverge(stepper, 0, scene)
    stepper.step(hold(stepper))
    assert stepper.faults[0] != 0
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_a_goal_beyond_all_measure(make_stepper: MakeStepper):
    stepper = make_stepper(envs=2)
    actions = hold(stepper)
    actions[1, :3] = 1e308
    stepper.step(actions)
    assert stepper.faults[0] == 0
    assert np.isfinite(stepper.qpos).all()
    assert np.isfinite(stepper.torques_nm).all()


def test_a_drive_beyond_all_measure(make_stepper: MakeStepper):
    from sido.sim.stepper import Drive

    stepper = make_stepper(envs=1)
    far = np.full((1, stepper.substeps, 3), 1e11)
    drive = Drive(far, far, np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([True]))
    stepper.step(hold(stepper), drive)
    assert stepper.faults[0] != 0
    assert not stepper.driven[0]


def test_every_code_has_a_reason():
    assert fault_reason(0) is None
    reasons = [fault_reason(code) for code in range(1, 3 + int(mujoco.mjtWarning.mjNWARNING))]
    assert all(reasons)
    assert len(set(reasons)) == len(reasons)
    assert not any("mjWARN" in str(reason) for reason in reasons)
