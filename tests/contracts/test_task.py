"""The contract, on every task; and on broken ones, which it rejects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contracts.task import check_task
from sido.geometry import Pose
from sido.sim.tasks import TASKS, Stack, Task, task_named


@pytest.mark.parametrize("name", TASKS)
def test_keeps_the_contract(name: str):
    check_task(task_named(name))


@pytest.fixture(scope="module")
def stack() -> Stack:
    return Stack()


class Broken:
    """Stack with one fault."""

    def __init__(self, stack: Stack, fault: str) -> None:
        self._stack, self._fault, self._calls = stack, fault, 0

    def __getattr__(self, name: str) -> Any:
        if name == "obstacle" and self._fault == "no such obstacle":
            return "cubeC"
        if name == "subtasks" and self._fault == "unannotated":
            return ("reach",)
        return getattr(self._stack, name)

    def place(self, rng: np.random.Generator) -> np.ndarray:
        self._calls += 1
        if self._fault == "unseeded":
            rng = np.random.default_rng(self._calls)
        if self._fault == "always the same":
            rng = np.random.default_rng(0)
        qpos = self._stack.place(rng)
        cube = self._stack.scene["cubeA"].qpos_address
        if self._fault == "outside":
            qpos[cube] += 0.3
        if self._fault == "falls":
            qpos[cube + 2] += 0.05
        if self._fault == "sunk":
            qpos[cube + 2] -= 0.01
        if self._fault == "moved arm":
            qpos[0] += 0.1
        if self._fault == "writes home":
            self._stack.scene.home_qpos[cube] += 1e-3
        return qpos

    def success(self, state: Any) -> Any:
        done = self._stack.success(state)
        if self._fault == "eager":
            return np.ones_like(done)
        if self._fault == "never":
            return np.zeros_like(done)
        if self._fault == "one answer for all":
            return np.array([done.any()])
        if self._fault == "looks at others":
            return done & (len(done) > 1)
        return done

    def signals(self, state: Any) -> Any:
        signals = dict(self._stack.signals(state))
        return {"reach": signals["grasp"]} if self._fault == "another signal" else signals

    def drivable(self, state: Any) -> Any:
        able = self._stack.drivable(state)
        return np.zeros_like(able) if self._fault == "never driven again" else able

    def target(self, state: Any) -> Pose:
        target = self._stack.target(state)
        if self._fault == "target beside":
            return Pose(target.position + np.array([0.1, 0.0, 0.0]), target.quat_wxyz)
        return target


def test_accepts_what_is_not_broken(stack: Stack):
    assert isinstance(Broken(stack, ""), Task)
    check_task(Broken(stack, ""))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ("no such obstacle", "the obstacle is in the scene"),
        ("unannotated", "the grasp is annotated"),
        ("unseeded", "the same generator"),
        ("always the same", "another generator"),
        ("outside", "in its region"),
        ("falls", "at rest"),
        ("sunk", "at rest"),
        ("moved arm", "the arm is at home"),
        ("writes home", "not written to"),
        ("eager", "success is False"),
        ("never", "success is True"),
        ("one answer for all", "one answer for each"),
        ("looks at others", "others do not matter"),
        ("another signal", "signals are the subtasks"),
        ("never driven again", "may be driven"),
        ("target beside", "success is True"),
    ],
)
def test_rejects_a_broken_task(stack: Stack, fault: str, complaint: str):
    home = stack.scene.home_qpos.copy()
    try:
        with pytest.raises(AssertionError, match=complaint):
            check_task(Broken(stack, fault))  # pyright: ignore[reportArgumentType]
    finally:
        stack.scene.home_qpos[:] = home
