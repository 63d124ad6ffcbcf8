"""Environments that are stepped together."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import final

import mujoco
import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array, read_only
from sido.errors import SettingError
from sido.geometry import Pose
from sido.sim.arm import ArmModel
from sido.sim.osc import OscSettings
from sido.sim.physics import Physics
from sido.sim.stepper import libmujoco
from sido.sim.stepper.contacts import ContactPair, pair_bits
from sido.sim.stepper.drive import Drive, driven_course
from sido.sim.stepper.fault import fault_reason
from sido.sim.stepper.period import NOT_FINITE, control_period, read_state
from sido.sim.stepper.tables import Course, Watch, control_table, course_table, fleet_table, plant_table

__all__ = ["Stepper"]

ACTION_SIZE = 7


@final
class Stepper:
    """`envs` environments of one model under operational-space control, an action of each at a time.

    What it reports are arrays with one row for each environment, written anew by `step` and `reset`: copy what you
    want to keep. Each environment goes its own way: the same resets and actions give the same states to the last bit,
    whatever the number of threads and whatever the others do. One whose simulation fails has a fault: it stays as it
    was before the step that failed, and stands still until it is reset.

    Args:
        physics: Its model is shared by all; do not change it afterwards.
        arm: The robot in it.
        osc: How it is controlled.
        envs: How many environments.
        threads: How many of them at once.
        rate_hz: Control steps per second of simulated time; a whole number of the model's time steps each.
        contacts: What to watch for, in every substep: geoms of the whole model, seen or not.
        driven: Name of the free joint of the object that a `Drive` carries.
        release: Contacts that together, in one substep and with a closing command, set the driven object free.
    """

    def __init__(
        self,
        physics: Physics,
        arm: ArmModel,
        osc: OscSettings,
        *,
        envs: int,
        threads: int = 1,
        rate_hz: float = 20.0,
        contacts: Sequence[ContactPair] = (),
        driven: str | None = None,
        release: Sequence[str] = (),
    ) -> None:
        for name, value in (("envs", envs), ("threads", threads)):
            if value < 1:
                raise SettingError("too few", field=name, found=value, expected="1 or more")
        self.model = model = physics.model
        """What is stepped."""
        self.arm = arm
        self.osc = osc
        self.contact_names = tuple(pair.name for pair in contacts)
        self.data = tuple(mujoco.MjData(model) for _ in range(envs))
        """Each environment's own, of `model`: to look at. To change a state, use `reset`."""
        libmujoco.link()
        self._plant = plant_table(model, rate_hz)
        self._control = control_table(model, arm, osc)
        first, second = (bits[physics.geoms] for bits in pair_bits(contacts, physics.whole_geoms))
        self._watch = Watch(first, second, len(contacts), self._release_bits(release))
        self._can_drive = driven is not None
        self._still = course_table(model, driven, envs, self._plant.substeps)
        self._fleet = fleet_table(self.data, self._plant, arm, len(contacts))
        self._threads = min(threads, envs)
        self._pool = self._new_pool()
        self._pool_process = os.getpid()
        self._closed = False
        for i in range(envs):
            self.reset(i, model.qpos0)
        libmujoco.verify(self.data[0])

    def __enter__(self) -> Stepper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.data)

    def close(self) -> None:
        """End the threads; nothing is stepped afterwards. May be called again."""
        self._closed = True
        if self._pool is not None:
            self._pool.shutdown()

    @property
    def substeps(self) -> int:
        """`S`: physics steps in a control step."""
        return self._plant.substeps

    @property
    def timestep_s(self) -> float:
        """Length of a substep."""
        return float(self.model.opt.timestep)

    # --- the state, and what the last control step reports

    @property
    def qpos(self) -> Float[Array, "N nq"]:
        """MuJoCo's positions: metres, radians, wxyz; world."""
        return read_only(self._fleet.qpos)

    @property
    def qvel(self) -> Float[Array, "N nv"]:
        return read_only(self._fleet.qvel)

    @property
    def time_s(self) -> Float[Array, "N"]:
        """Simulated time since the reset."""
        return read_only(self._fleet.time)

    @property
    def eef_position(self) -> Float[Array, "N 3"]:
        """Of the grip site, at the same moment as `qpos` (robosuite's own is 2 ms older); metres, base frame."""
        return read_only(self._fleet.eef_position)

    @property
    def eef_quat_wxyz(self) -> Float[Array, "N 4"]:
        """Of the grip site, base frame."""
        return read_only(self._fleet.eef_quat_wxyz)

    @property
    def eef_pose(self) -> Pose:
        return Pose(self._fleet.eef_position, self._fleet.eef_quat_wxyz)

    @property
    def gripper_qpos(self) -> Float[Array, "N G"]:
        """The fingers' joints; a copy."""
        return self._fleet.qpos[:, self.arm.gripper.joint_qpos]

    @property
    def gripper_goals(self) -> Float[Array, "N F"]:
        """Where the fingers are sent, -1 to 1 of each actuator's range."""
        return read_only(self._fleet.gripper)

    @property
    def torques_nm(self) -> Float[Array, "N S J"]:
        """What the arm's motors gave in each substep."""
        return read_only(self._fleet.torques)

    @property
    def contacts(self) -> Bool[Array, "N S K"]:
        """Which of the watched contacts there were in each substep, in the order of `contact_names`."""
        return read_only(self._fleet.contacts)

    def touched(self, name: str) -> Bool[Array, "N"]:
        """Where there was that contact at any time of the last control step."""
        return self._fleet.contacts[:, :, self._contact(name)].any(axis=1)

    def touching(self, name: str) -> Bool[Array, "N"]:
        """Where there was that contact in its last substep."""
        return self._fleet.contacts[:, -1, self._contact(name)].copy()

    @property
    def driven(self) -> Bool[Array, "N"]:
        """Where the object is still driven at the end of the last control step."""
        return read_only(self._fleet.driven)

    @property
    def released_at(self) -> Int[Array, "N"]:
        """The substep in which the driven object was set free; -1 where it was not."""
        return read_only(self._fleet.released_at)

    @property
    def faults(self) -> Int[Array, "N"]:
        """0 where all is well; else a code that `fault_reason` explains."""
        return read_only(self._fleet.faults)

    def fault_reason(self, i: int) -> str | None:
        """Why environment `i` stands still; None where it does not."""
        return fault_reason(int(self._fleet.faults[i]))

    # --- what it does

    def reset(
        self,
        i: int,
        qpos: Float[Array, "nq"],
        qvel: Float[Array, "nv"] | None = None,
        *,
        rest_joints: Float[Array, "J"] | None = None,
        gripper: Float[Array, "F"] | None = None,
    ) -> None:
        """Put environment `i` into a state, at time 0, whatever became of it before.

        Args:
            i: Which.
            qpos: MuJoCo's positions.
            qvel: Its velocities; 0 if not given.
            rest_joints: The posture that free motion of the arm tends to, radians; as robosuite has it, the one of
                `qpos`, with its noise.
            gripper: Where the fingers are being sent, -1 to 1; 0 if not given.
        """
        if not 0 <= i < len(self):
            raise SettingError("no such environment", found=i, expected=f"0 to {len(self) - 1}")
        place, arm = f"reset of environment {i}", self.arm
        state = _row(qpos, self.model.nq, f"{place}, qpos")
        velocity = np.zeros(self.model.nv) if qvel is None else _row(qvel, self.model.nv, f"{place}, qvel")
        rest = state[arm.joint_qpos] if rest_joints is None else _row(rest_joints, arm.joints, f"{place}, rest_joints")
        fingers = len(arm.gripper.actuators)
        goals = np.zeros(fingers) if gripper is None else _row(gripper, fingers, f"{place}, gripper")
        data, fleet = self.data[i], self._fleet
        mujoco.mj_resetData(self.model, data)
        data.warning.number[:] = libmujoco.ALREADY_WARNED
        data.qpos[:], data.qvel[:] = state, velocity
        mujoco.mj_forward(self.model, data)
        fleet.rest_joints[i], fleet.gripper[i] = rest, goals
        fleet.faults[i], fleet.released_at[i], fleet.driven[i] = 0, -1, False
        fleet.contacts[i], fleet.torques[i] = False, 0.0
        if not read_state(i, self._plant, self._control, fleet):
            fleet.faults[i] = NOT_FINITE
            raise SettingError("beyond what mujoco simulates", field=place, expected="numbers below 1e10")

    def step(
        self, actions: Float[Array, "N A"], drive: Drive | None = None, active: Bool[Array, "N"] | None = None
    ) -> None:
        """One control step of every environment that has no fault.

        Args:
            actions: `[position 3, axis-angle 3, gripper 1]` as `osc` says; above 0 the gripper closes.
            drive: Where the driven object goes; without one, it is free everywhere.
            active: Which environments are stepped; all, if not given. The others cost nothing, and what is reported
                of them is what was.

        Raises:
            SettingError: actions of a wrong shape or not finite, a drive that is none; closed. Nothing is stepped.
        """
        if self._closed:
            raise SettingError("these environments are closed", fix="step them before `close`, inside a `with` block")
        actions = self._checked(actions)
        course = self._still if drive is None else self._course(drive)
        self._fleet.driven[:] = False if drive is None else drive.active
        stepped = range(len(self)) if active is None else np.flatnonzero(active).tolist()
        waiting = deque(stepped)  # its popleft is safe among threads

        def work() -> None:
            while True:
                try:
                    i = waiting.popleft()
                except IndexError:
                    return
                control_period(i, self._plant, self._control, course, self._watch, self._fleet, actions)

        if self._pool_process != os.getpid():  # a forked process has none of its parent's threads
            self._pool, self._pool_process = self._new_pool(), os.getpid()
        others = [self._pool.submit(work) for _ in range(self._threads - 1)] if self._pool is not None else []
        work()
        for other in others:
            other.result()

    # --- within

    def _new_pool(self) -> ThreadPoolExecutor | None:
        """The threads beside the caller's own."""
        return ThreadPoolExecutor(self._threads - 1) if self._threads > 1 else None

    def _checked(self, actions: Array) -> Array:
        expected = (len(self), ACTION_SIZE)
        if np.shape(actions) != expected:
            raise SettingError("wrong shape", field="actions", found=list(np.shape(actions)), expected=list(expected))
        values = np.array(actions, dtype=np.float64, order="C")  # a copy: compiled code tells read-only arrays apart
        broken = ~np.isfinite(values).all(axis=1)
        if broken.any():
            i = int(np.argmax(broken))
            raise SettingError(
                f"environment {i} got an action that is not finite", field=f"actions[{i}]", found=values[i].tolist()
            )
        return values

    def _course(self, drive: Drive) -> Course:
        if not self._can_drive:
            raise SettingError("there is nothing to drive", field="drive", fix="name the object's joint as `driven`")
        drive.check(len(self), self.substeps)
        return driven_course(self._still, drive, self.arm.base_pose)

    def _contact(self, name: str) -> int:
        if name not in self.contact_names:
            raise SettingError("no such contact", found=repr(name), expected=", ".join(self.contact_names) or "none")
        return self.contact_names.index(name)

    def _release_bits(self, release: Sequence[str]) -> int:
        bits = 0
        for name in release:
            bits |= 1 << self._contact(name)
        return bits


def _row(values: Array, size: int, field: str) -> Array:
    row = np.array(values, dtype=np.float64)
    if row.shape != (size,):
        raise SettingError("wrong shape", field=field, found=list(row.shape), expected=[size])
    if not np.isfinite(row).all():
        raise SettingError("not finite", field=field, found=row.tolist())
    return row
