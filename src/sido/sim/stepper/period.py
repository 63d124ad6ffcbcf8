"""One control period of one environment: what runs between two actions, in a single call."""

from __future__ import annotations

from typing import Any

from sido.arrays import Array
from sido.sim.stepper.algebra import multiply
from sido.sim.stepper.arm_control import control_arm, grip_pose, move_gripper
from sido.sim.stepper.contacts import touching
from sido.sim.stepper.drive import place_object, turn_object
from sido.sim.stepper.libmujoco import ALREADY_WARNED
from sido.sim.stepper.native import (
    floats,
    ints,
    member,
    mj_kinematics,
    mj_step1,
    mj_step2,
    mju_mat2quat,
    native,
    native_entry,
    sources_digest,
)
from sido.sim.stepper.tables import Control, Course, Fleet, Plant, Watch
from sido.sim.stepper.torques import scratch

__all__ = ["ARM_SINGULAR", "FIRST_WARNING", "NOT_FINITE", "control_period", "read_state"]

ARM_SINGULAR, NOT_FINITE, FIRST_WARNING = 1, 2, 3
"""Fault codes; from the third on, mujoco's own warnings in their order."""

LARGEST = 1e10  # mujoco's own bound, mjMAXVAL


@native
def warned(data: int, plant: Plant) -> int:
    """The fault code of mujoco's first warning in this environment, 0 for none."""
    counts = ints(data + plant.offsets.warning_number, plant.warnings * plant.offsets.warning_stride)
    for kind in range(plant.warnings):
        if counts[kind * plant.offsets.warning_stride] != ALREADY_WARNED:
            return FIRST_WARNING + kind
    return 0


@native
def copy_state(i: int, plant: Plant, control: Control, fleet: Fleet) -> bool:
    """Copy the state out, hand pose in the base frame; False, and nothing copied, where it is not finite."""
    data, offsets = fleet.data[i], plant.offsets
    qpos, qvel = floats(member(data, offsets.qpos), plant.nq), floats(member(data, offsets.qvel), plant.nv)
    for values in (qpos, qvel):
        for value in values:
            if not abs(value) < LARGEST:  # so written, NaN is refused as well
                return False
    mj_kinematics(plant.model, data)  # poses of this very moment, not of the last substep's start
    fleet.qpos[i], fleet.qvel[i] = qpos, qvel
    fleet.time[i] = floats(data + offsets.time, 1)[0]
    position, rotation = grip_pose(data, plant, control)
    to_base = control.base_rotation.T
    for row in range(3):
        fleet.eef_position[i, row] = 0.0
        for column in range(3):
            fleet.eef_position[i, row] += to_base[row, column] * (position[column] - control.base_position[column])
    in_base = multiply(to_base, rotation)
    mju_mat2quat(fleet.eef_quat_wxyz[i].ctypes.data, in_base.ctypes.data)
    return True


@native
def restore_state(i: int, plant: Plant, fleet: Fleet) -> None:
    """Put back into mujoco's data what was copied out last; mujoco has reset what diverged."""
    data, offsets = fleet.data[i], plant.offsets
    floats(member(data, offsets.qpos), plant.nq)[:] = fleet.qpos[i]
    floats(member(data, offsets.qvel), plant.nv)[:] = fleet.qvel[i]
    floats(data + offsets.time, 1)[0] = fleet.time[i]
    mj_kinematics(plant.model, data)


@native
def simulate(i: int, plant: Plant, control: Control, course: Course, watch: Watch, fleet: Fleet, action: Array) -> int:
    """Step mujoco through one control period; the fault code, 0 where all went well."""
    data = fleet.data[i]
    work = scratch(control.joint_dofs.size)
    for k in range(plant.substeps):
        if fleet.driven[i]:
            turn_object(i, plant, course, fleet, k)
        mj_step1(plant.model, data)
        fault = warned(data, plant)
        if fault:
            return fault
        if k == 0:
            move_gripper(i, plant, control, fleet, action[6])
        if not control_arm(i, plant, control, fleet, work, action, k):
            return ARM_SINGULAR
        held = touching(i, plant, watch, fleet, k) & watch.release
        mj_step2(plant.model, data)
        fault = warned(data, plant)
        if fault:
            return fault
        if fleet.driven[i]:
            if watch.release != 0 and held == watch.release and action[6] > 0.0:
                fleet.driven[i] = False
                fleet.released_at[i] = k
            else:
                place_object(i, plant, course, fleet, k)
    return 0


@native
def clear_report(i: int, fleet: Fleet) -> None:
    fleet.released_at[i] = -1
    fleet.contacts[i] = False
    fleet.torques[i] = 0.0


def _entries(digest: str) -> tuple[Any, Any]:
    """What Python calls, compiled of the sources of that digest."""

    def read_state(i: int, plant: Plant, control: Control, fleet: Fleet) -> bool:
        _ = digest
        return copy_state(i, plant, control, fleet)

    def control_period(
        i: int, plant: Plant, control: Control, course: Course, watch: Watch, fleet: Fleet, actions: Array
    ) -> None:
        _ = digest
        clear_report(i, fleet)
        if fleet.faults[i] == 0:
            gripper = fleet.gripper[i].copy()
            fault = simulate(i, plant, control, course, watch, fleet, actions[i])
            if fault == 0 and not copy_state(i, plant, control, fleet):
                fault = NOT_FINITE
            if fault != 0:
                fleet.faults[i] = fault
                fleet.gripper[i] = gripper
                clear_report(i, fleet)
                restore_state(i, plant, fleet)
        if fleet.faults[i] != 0:
            fleet.driven[i] = False

    return native_entry(read_state), native_entry(control_period)


read_state, control_period = _entries(sources_digest())
"""`read_state(i, plant, control, fleet)` reports environment `i` as it is; False where its state is not finite.

`control_period(i, plant, control, course, watch, fleet, actions)` takes it through one action. One that has a fault is
left as it was before the period that broke it. No call touches another environment's rows, so that threads may make
them in any order, with the same results to the last bit.
"""
