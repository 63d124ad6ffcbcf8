"""Chunks executed in the simulator from moments of demonstrations: what the hand really does when it is told so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.demos.action_spec import ActionSpec
from sido.demos.demo import Demo
from sido.errors import DataError
from sido.geometry import rotate
from sido.sim.commands import checked_actions, controller_commands, controller_spec
from sido.sim.osc import OscSettings
from sido.sim.stepper import Stepper
from sido.sim.tasks import Task

__all__ = ["ChunkExecutor", "ExecutedChunks", "Snapshots"]

_STATES = "states"  # where a demonstration's records have [time, qpos, qvel], as robomimic does


@final
@dataclass(frozen=True, eq=False)
class Snapshots:
    """All that decides how a simulated robot goes on, at `N` moments of demonstrations."""

    qpos: Float[Array, "N nq"]
    qvel: Float[Array, "N nv"]
    rest_joints: Float[Array, "N J"]
    """The posture that the arm's free motion tends to: the one at which its episode began, radians."""
    gripper: Float[Array, "N F"]
    """Where the fingers are being sent, -1 to 1."""

    def __len__(self) -> int:
        return len(self.qpos)

    @classmethod
    def of(cls, demo: Demo, steps: Sequence[int], task: Task) -> Snapshots:
        """A demonstration as it was before its actions at `steps`.

        Raises:
            DataError: it has no record of the simulator's states, or of another model.
        """
        model, arm = task.scene.model, task.scene.arm
        width = 1 + model.nq + model.nv
        states = demo.recorded.get(_STATES)
        if states is None or states.shape[1] != width:
            raise DataError(
                "no states from which the simulator could go on",
                demo=demo.name,
                field=_STATES,
                found="none" if states is None else f"{states.shape[1]} numbers a step",
                expected=f"{width}: time, qpos and qvel of {task.name!r}",
                fix="collect the demonstrations with `sido collect`, which records them",
            )
        rows = np.asarray(states[list(steps)], dtype=np.float64)
        begun = np.asarray(states[0, 1 : 1 + model.nq], dtype=np.float64)
        return cls(
            qpos=rows[:, 1 : 1 + model.nq],
            qvel=rows[:, 1 + model.nq :],
            rest_joints=np.tile(begun[arm.joint_qpos], (len(rows), 1)),
            gripper=_gripper_goals(demo, task)[list(steps)],
        )

    @classmethod
    def joined(cls, parts: Sequence[Snapshots]) -> Snapshots:
        """All of them, one after another."""
        return cls(
            np.concatenate([part.qpos for part in parts]),
            np.concatenate([part.qvel for part in parts]),
            np.concatenate([part.rest_joints for part in parts]),
            np.concatenate([part.gripper for part in parts]),
        )

    def teleported(self, task: Task, displacement_m: Float[Array, "N 3"]) -> Snapshots:
        """The same moments with the task's object elsewhere; metres, base frame."""
        address = task.scene[task.moving].qpos_address
        qpos = self.qpos.copy()
        qpos[:, address : address + 3] += rotate(task.scene.arm.base_pose.quat_wxyz, displacement_m)
        return Snapshots(qpos, self.qvel, self.rest_joints, self.gripper)


@final
@dataclass(frozen=True, eq=False)
class ExecutedChunks:
    """What came of them; metres, base frame. Row 0 is before the first action."""

    eef_position: Float[Array, "N K 3"]
    object_position: Float[Array, "N K 3"]

    @property
    def hand_object_offset(self) -> Float[Array, "N K 3"]:
        """`r_t(k)`, realised."""
        return self.eef_position - self.object_position


@final
class ChunkExecutor:
    """Plays chunks open loop in the native simulator, each in an environment of its own.

    Args:
        task: Whose robot and objects.
        spec: What the actions mean.
        envs: How many are played at a time: memory is theirs, whatever the number of chunks.
        threads: How many environments are stepped at once.
    """

    def __init__(self, task: Task, spec: ActionSpec, *, envs: int = 50, threads: int = 1) -> None:
        self._task, self._spec, self._envs = task, spec, envs
        self._stepper = Stepper(
            task.scene.physics,
            task.scene.arm,
            OscSettings(controller_spec(spec)),
            envs=envs,
            threads=threads,
            rate_hz=spec.rate_hz,
        )
        self._base_from_world = task.scene.arm.base_pose.inverse()

    def __call__(self, snapshots: Snapshots, actions: Float[Array, "N H A"]) -> ExecutedChunks:
        """Go on from each snapshot with its chunk.

        Raises:
            DataError: the simulation of one of them fails.
        """
        parts = [
            self._play(snapshots, actions, np.arange(start, min(start + self._envs, len(snapshots))))
            for start in range(0, len(snapshots), self._envs)
        ]
        eef, things = (np.concatenate(rows) for rows in zip(*parts, strict=True))
        return ExecutedChunks(eef, things)

    def close(self) -> None:
        """End the threads."""
        self._stepper.close()

    def _play(self, snapshots: Snapshots, actions: Array, which: Array) -> tuple[Array, Array]:
        stepper = self._stepper
        live = np.arange(self._envs) < len(which)
        for i, row in enumerate(which):
            stepper.reset(
                i,
                snapshots.qpos[row],
                snapshots.qvel[row],
                rest_joints=snapshots.rest_joints[row],
                gripper=snapshots.gripper[row],
            )
        resting = np.zeros((self._envs, 6))
        padded = np.zeros((self._envs, *actions.shape[1:]))
        padded[: len(which)] = actions[which]
        eef, things = [self._eef(len(which))], [self._object(len(which))]
        for k in range(actions.shape[1]):
            checked = checked_actions(padded[:, k], self._spec, live)
            stepper.step(controller_commands(checked, self._spec, live, resting), active=live)
            eef.append(self._eef(len(which)))
            things.append(self._object(len(which)))
        for i, row in enumerate(which):
            if (reason := stepper.fault_reason(i)) is not None:
                raise DataError("the simulation of a chunk failed", field=f"chunk {row}", found=reason)
        return np.stack(eef, axis=1), np.stack(things, axis=1)

    def _eef(self, count: int) -> Array:
        return self._stepper.eef_position[:count].copy()

    def _object(self, count: int) -> Array:
        address = self._task.scene[self._task.moving].qpos_address
        return self._base_from_world.apply(self._stepper.qpos[:count, address : address + 3])


def _gripper_goals(demo: Demo, task: Task) -> Float[Array, "T F"]:
    """Where the fingers are being sent before each action: the running sum of what was commanded, cut to its range."""
    gripper, spec = task.scene.arm.gripper, demo.action_spec
    closing = (demo.actions[:, -1] - spec.gripper_open) / (spec.gripper_closed - spec.gripper_open)
    goals = np.zeros((len(demo), len(gripper.actuators)))
    for t, command in enumerate(np.sign(2.0 * closing[:-1] - 1.0)):
        goals[t + 1] = np.clip(goals[t] + gripper.speed * gripper.directions * command, -1.0, 1.0)
    return goals
