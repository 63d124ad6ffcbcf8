"""The arm and its gripper under an action, compiled."""

from __future__ import annotations

import math

import numpy as np

from sido.arrays import Array
from sido.sim.stepper.algebra import increment_of, multiply, rotation_of
from sido.sim.stepper.native import floats, member, native
from sido.sim.stepper.tables import Control, Fleet, Plant
from sido.sim.stepper.torques import Scratch, osc_torques

__all__ = ["control_arm", "grip_pose", "move_gripper"]


@native
def grip_pose(data: int, plant: Plant, control: Control) -> tuple[Array, Array]:
    """Views of the grip site's position and rotation matrix, world."""
    position = floats(member(data, plant.offsets.site_xpos) + 3 * 8 * control.grip_site, 3)
    rotation = floats(member(data, plant.offsets.site_xmat) + 9 * 8 * control.grip_site, 9)
    return position, rotation.reshape((3, 3))


@native
def set_goal(action: Array, control: Control, position: Array, rotation: Array, work: Scratch) -> None:
    """Where an action sends the hand, world coordinates: to `F a` if absolute, else on from the pose it has now."""
    frame = control.frame_rotation
    if control.absolute:
        work.goal_position[:] = control.frame_position
        work.goal_rotation[:] = multiply(frame, rotation_of(action[3:6]))
    else:
        increment = np.empty(6)
        for axis in range(6):
            increment[axis] = min(max(action[axis], -1.0), 1.0) * control.action_scale[axis]
        action = increment
        work.goal_position[:] = position
        turn = multiply(multiply(frame, increment_of(action[3:6])), frame.T)
        work.goal_rotation[:] = multiply(turn, rotation)
    for row in range(3):
        for column in range(3):
            work.goal_position[row] += frame[row, column] * action[column]


@native
def hand_error(work: Scratch, position: Array, rotation: Array, axis: int) -> float:
    """Metres from the goal for axes 0-2; for axes 3-5 the rotation's `1/2 sum_i r_i x g_i` over both's columns."""
    if axis < 3:
        return work.goal_position[axis] - position[axis]
    after, last = (axis - 2) % 3, (axis - 1) % 3
    error = 0.0
    for column in range(3):
        error += rotation[after, column] * work.goal_rotation[last, column]
        error -= rotation[last, column] * work.goal_rotation[after, column]
    return 0.5 * error


@native
def turning_column(work: Scratch, joint: int, position: Array, anchors: int, axes: int, number: int) -> None:
    """The hand's velocity for one radian per second of a hinge: `axis x (hand - anchor)`, and the axis itself."""
    anchor, axis = floats(anchors + 3 * 8 * number, 3), floats(axes + 3 * 8 * number, 3)
    x, y, z = position[0] - anchor[0], position[1] - anchor[1], position[2] - anchor[2]
    work.jacobian[0, joint] = axis[1] * z - axis[2] * y
    work.jacobian[1, joint] = axis[2] * x - axis[0] * z
    work.jacobian[2, joint] = axis[0] * y - axis[1] * x
    for k in range(3):
        work.jacobian[3 + k, joint] = axis[k]


@native
def control_arm(
    i: int, plant: Plant, control: Control, fleet: Fleet, work: Scratch, action: Array, substep: int
) -> bool:
    """Set the arm's torques after `mj_step1`; the goal as well, in the first substep. False where it is singular."""
    data, nv, offsets = fleet.data[i], plant.nv, plant.offsets
    position, rotation = grip_pose(data, plant, control)
    if substep == 0:
        set_goal(action, control, position, rotation, work)
    mass = floats(member(data, offsets.qM), plant.nm)
    anchors, axes = member(data, offsets.xanchor), member(data, offsets.xaxis)
    qpos, qvel = floats(member(data, offsets.qpos), plant.nq), floats(member(data, offsets.qvel), nv)
    qfrc_bias = floats(member(data, offsets.qfrc_bias), nv)
    rest_damping = 2.0 * math.sqrt(control.rest_stiffness)
    joints = control.joint_dofs.size
    for joint in range(joints):
        dof = control.joint_dofs[joint]
        for other in range(joints):
            place = control.mass_at[joint, other]
            work.mass[joint, other] = mass[place] if place >= 0 else 0.0
        turning_column(work, joint, position, anchors, axes, control.joint_ids[joint])
        away = fleet.rest_joints[i, joint] - qpos[control.joint_qpos[joint]]
        work.rest[joint] = control.rest_stiffness * away - rest_damping * qvel[dof]
        work.bias[joint] = qfrc_bias[dof]
    for axis in range(6):
        velocity = 0.0
        for joint in range(joints):  # nothing else moves the hand: the base is fixed
            velocity += work.jacobian[axis, joint] * qvel[control.joint_dofs[joint]]
        error = hand_error(work, position, rotation, axis)
        work.wrench[axis] = control.stiffness[axis] * error - control.damping[axis] * velocity
    torques = fleet.torques[i, substep]
    regular = osc_torques(work, torques)
    ctrl = floats(member(data, offsets.ctrl), plant.nu)
    for joint in range(joints):
        torques[joint] = min(max(torques[joint], control.torque_low[joint]), control.torque_high[joint])
        ctrl[control.actuators[joint]] = torques[joint]
    return regular


@native
def move_gripper(i: int, plant: Plant, control: Control, fleet: Fleet, command: float) -> None:
    """Once per control period: the fingers' goals move by `speed` of their half range, whatever the command's size."""
    ctrl = floats(member(fleet.data[i], plant.offsets.ctrl), plant.nu)
    for finger in range(control.gripper_actuators.size):
        step = control.gripper_speed * control.gripper_directions[finger] * np.sign(command)
        fleet.gripper[i, finger] = min(max(fleet.gripper[i, finger] + step, -1.0), 1.0)
        goal = control.gripper_centre[finger] + control.gripper_half_range[finger] * fleet.gripper[i, finger]
        ctrl[control.gripper_actuators[finger]] = goal
