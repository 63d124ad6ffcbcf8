"""What the compiled code is told, as tables of numbers."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from sido.arrays import Array
from sido.errors import SettingError
from sido.geometry import Pose
from sido.sim.arm import ArmModel
from sido.sim.free_object import free_joint
from sido.sim.osc import OscSettings
from sido.sim.stepper.libmujoco import Offsets, address_of, offsets

__all__ = [
    "Control",
    "Course",
    "Fleet",
    "Plant",
    "Watch",
    "control_table",
    "course_table",
    "fleet_table",
    "plant_table",
]


class Plant(NamedTuple):
    """The model, and where things are in its data."""

    model: int
    """Address of the `mjModel` that all environments share."""
    nq: int
    nv: int
    nm: int
    """How many entries the mass matrix has where mujoco keeps it, as a tree."""
    nu: int
    warnings: int
    """How many kinds of warnings mujoco counts."""
    substeps: int
    offsets: Offsets


class Control(NamedTuple):
    """The arm, its gripper and the control law, in world coordinates and SI units."""

    grip_site: int
    joint_ids: Array
    joint_qpos: Array
    joint_dofs: Array
    mass_at: Array
    """Where mujoco keeps each entry of the joints' mass matrix; -1 where it is zero."""
    actuators: Array
    torque_low: Array
    torque_high: Array
    stiffness: Array
    damping: Array
    rest_stiffness: float
    absolute: bool
    action_scale: Array
    """What one unit of a relative action is: metres (3), radians (3)."""
    frame_position: Array
    frame_rotation: Array
    """`world_from_frame`, where `frame` is the one that actions are given in."""
    base_position: Array
    base_rotation: Array
    """`world_from_base`, for what is reported."""
    gripper_actuators: Array
    gripper_centre: Array
    gripper_half_range: Array
    gripper_directions: Array
    gripper_speed: float


class Fleet(NamedTuple):
    """The environments: their state between control periods, and what the last period reports. First axis: which."""

    data: Array
    """Address of each environment's `mjData`."""
    rest_joints: Array
    gripper: Array
    qpos: Array
    qvel: Array
    time: Array
    eef_position: Array
    eef_quat_wxyz: Array
    torques: Array
    contacts: Array
    driven: Array
    released_at: Array
    faults: Array


class Course(NamedTuple):
    """The driven object: its free joint's addresses, and where it goes, in world coordinates."""

    qpos_address: int
    dof_address: int
    position: Array
    velocity: Array
    quat_wxyz: Array


class Watch(NamedTuple):
    """Contacts to report: geoms `g` and `h` are pair `k` where bit `k` is set in `first[g]` and in `second[h]`."""

    first: Array
    second: Array
    pairs: int
    release: int
    """The pairs, as bits, that together end the drive once the gripper closes; 0: none does."""


def plant_table(model: mujoco.MjModel, rate_hz: float) -> Plant:
    steps = 1 / (rate_hz * model.opt.timestep) if rate_hz > 0 else 0.0
    if round(steps) < 1 or abs(steps - round(steps)) > 1e-6:
        raise SettingError(
            "a control step must be a whole number of the model's time steps",
            field="rate_hz",
            found=rate_hz,
            expected=f"{1 / model.opt.timestep:g} Hz divided by a whole number",
        )
    if model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
        raise SettingError("mujoco cannot split a Runge-Kutta step in two", field="model.opt.integrator", found="RK4")
    return Plant(
        model=address_of(model),
        nq=model.nq,
        nv=model.nv,
        nm=model.nM,
        nu=model.nu,
        warnings=int(mujoco.mjtWarning.mjNWARNING),
        substeps=round(steps),
        offsets=offsets(),
    )


def control_table(model: mujoco.MjModel, arm: ArmModel, osc: OscSettings) -> Control:
    spec, gripper = osc.action_spec, arm.gripper
    base = arm.base_pose
    frame = base if spec.frame == "base" else Pose.identity()
    stiffness = np.repeat((osc.position_stiffness, osc.rotation_stiffness), 3)
    low, high = gripper.control_range.T
    return Control(
        grip_site=arm.grip_site,
        joint_ids=hinges(model, arm),
        joint_qpos=_ids(arm.joint_qpos),
        joint_dofs=_ids(arm.joint_dofs),
        mass_at=mass_addresses(model, arm.joint_dofs),
        actuators=_ids(arm.actuators),
        torque_low=arm.torque_limits_nm[:, 0].copy(),
        torque_high=arm.torque_limits_nm[:, 1].copy(),
        stiffness=stiffness,
        damping=2 * osc.damping_ratio * np.sqrt(stiffness),
        rest_stiffness=osc.rest_stiffness,
        absolute=spec.kind == "absolute",
        action_scale=np.repeat((spec.position_scale_m, spec.rotation_scale_rad), 3),
        frame_position=frame.position.copy(),
        frame_rotation=frame.matrix[:3, :3].copy(),
        base_position=base.position.copy(),
        base_rotation=base.matrix[:3, :3].copy(),
        gripper_actuators=_ids(gripper.actuators),
        gripper_centre=(low + high) / 2,
        gripper_half_range=(high - low) / 2,
        gripper_directions=gripper.directions.astype(np.float64),
        gripper_speed=gripper.speed,
    )


def hinges(model: mujoco.MjModel, arm: ArmModel) -> Array:
    """The arm's joints, each of which turns the hand.

    Raises:
        SettingError: one does not.
    """
    joints = model.dof_jntid[arm.joint_dofs]
    hand = int(model.site_bodyid[arm.grip_site])
    moving = set[int]()
    while hand > 0:
        moving.add(hand)
        hand = int(model.body_parentid[hand])
    for joint in joints.tolist():
        if model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_HINGE or int(model.jnt_bodyid[joint]) not in moving:
            raise SettingError(
                "a joint of the arm does not turn the hand", found=str(model.joint(joint).name), expected="hinges only"
            )
    return _ids(joints)


def mass_addresses(model: mujoco.MjModel, dofs: Array) -> Array:
    """Where `mjData.qM` keeps the mass matrix's entry of each two of these degrees of freedom; -1 where it is zero.

    mujoco has a row for each, with what stands between it and the root: itself, its parent, and so on.
    """
    places = np.full((len(dofs), len(dofs)), -1, dtype=np.int64)
    row_of = {int(dof): row for row, dof in enumerate(dofs)}
    for dof, row in row_of.items():
        place, other = int(model.dof_Madr[dof]), dof
        while other >= 0:
            if other in row_of:
                places[row, row_of[other]] = places[row_of[other], row] = place
            place, other = place + 1, int(model.dof_parentid[other])
    return places


def fleet_table(data: tuple[mujoco.MjData, ...], plant: Plant, arm: ArmModel, contacts: int) -> Fleet:
    envs = len(data)
    return Fleet(
        data=np.array([address_of(one) for one in data], dtype=np.intp),
        rest_joints=np.zeros((envs, arm.joints)),
        gripper=np.zeros((envs, len(arm.gripper.actuators))),
        qpos=np.zeros((envs, plant.nq)),
        qvel=np.zeros((envs, plant.nv)),
        time=np.zeros(envs),
        eef_position=np.zeros((envs, 3)),
        eef_quat_wxyz=np.zeros((envs, 4)),
        torques=np.zeros((envs, plant.substeps, arm.joints)),
        contacts=np.zeros((envs, plant.substeps, contacts), dtype=np.bool_),
        driven=np.zeros(envs, dtype=np.bool_),
        released_at=np.full(envs, -1, dtype=np.int64),
        faults=np.zeros(envs, dtype=np.int64),
    )


def course_table(model: mujoco.MjModel, driven: str | None, envs: int, substeps: int) -> Course:
    """The driven object's joint, and nowhere to go."""
    joint = None if driven is None else free_joint(model, driven)
    nowhere = np.zeros((envs, substeps, 3))
    return Course(
        qpos_address=0 if joint is None else int(model.jnt_qposadr[joint]),
        dof_address=0 if joint is None else int(model.jnt_dofadr[joint]),
        position=nowhere,
        velocity=nowhere,
        quat_wxyz=np.zeros((envs, 4)),
    )


def _ids(ids: Array) -> Array:
    return np.array(ids, dtype=np.int64)
