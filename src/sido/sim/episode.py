"""What one environment remembers from its reset on."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.geometry import Pose, rotate
from sido.motion import NoRoomError, Obstacle
from sido.sim.ending import Ending
from sido.sim.moving_object import MovingObject
from sido.sim.settings import EnvironmentSettings
from sido.sim.tasks import Task

__all__ = ["Episode", "obstacle_in"]

_MOST_PLACEMENTS = 200


@final
class Episode:
    """One episode, which its seed decides wholly but for the actions.

    Arm noise, placements, motion and estimates are drawn from streams of their own: two episodes of the same seed
    whose settings differ in one of these share the others.

    Args:
        task: What is done.
        settings: How it is played.
        seed: 0 or more.
        substeps: Physics steps in a control step.
        start_m: Where the moving object begins, x and y, base frame; where the task draws it, if not given.

    Raises:
        SettingError: the motion finds no way from any placement; a start outside of the region.
    """

    def __init__(
        self,
        task: Task,
        settings: EnvironmentSettings,
        seed: int,
        *,
        substeps: int,
        start_m: tuple[float, float] | None = None,
    ) -> None:
        streams = np.random.SeedSequence(seed).spawn(4)
        arm_rng, placement_rng, motion_rng, estimate_rng = map(np.random.default_rng, streams)
        self.seed = seed
        self.steps = 0
        """Control steps taken."""
        self.ending: Ending | None = None
        """Why it is over; None while it goes on."""
        self.object = MovingObject(
            settings.motion,
            motion_rng,
            task.region,
            period_s=1.0 / settings.action_spec.rate_hz,
            substeps=substeps,
            horizon_s=task.horizon_s,
            hangs=task.hangs,
        )
        arm, moving = task.scene.arm, task.scene[task.moving]
        if start_m is not None and not task.region.contains(np.array(start_m)):
            raise SettingError(
                f"the object of {task.name!r} cannot begin outside of its region",
                field="start_m",
                found=start_m,
                expected=f"{task.region.low_m} to {task.region.high_m}",
            )
        self.qpos = _place(task, settings, placement_rng, self.object, start_m)
        """MuJoCo's positions at its beginning."""
        self.qpos[arm.joint_qpos] += settings.arm_noise_rad * arm_rng.standard_normal(arm.joints)
        self.qvel = np.zeros(task.scene.model.nv)
        """MuJoCo's velocities then: a driven object moves from the first."""
        way = rotate(arm.base_pose.quat_wxyz, self.object.velocity())
        self.qvel[moving.dof_address : moving.dof_address + 3] = way
        self.carried_m = self.qpos[moving.qpos_address : moving.qpos_address + 3].copy()
        """Where the object is as long as it is driven, and where it was taken from afterwards; world frame."""
        self.track = settings.pose_estimator.track(estimate_rng, _pose(task, task.moving, self.qpos).position)
        """What the pose estimator knows."""


def obstacle_in(task: Task, settings: EnvironmentSettings, qpos: Float[Array, "nq"]) -> Obstacle | None:
    """The task's obstacle where it now stands, base frame, with the rule for meeting it."""
    if task.obstacle is None:
        return None
    x, y, _ = _pose(task, task.obstacle, qpos).position.tolist()
    return Obstacle((x, y), settings.clearance_m, settings.obstacle_rule)


def _place(
    task: Task,
    settings: EnvironmentSettings,
    rng: np.random.Generator,
    thing: MovingObject,
    start_m: tuple[float, float] | None,
) -> Float[Array, "nq"]:
    """A beginning from which the object has somewhere to go; the obstacle stands where its rule wants it."""
    for _ in range(_MOST_PLACEMENTS):
        qpos = task.place(rng)
        if start_m is not None:
            address = task.scene[task.moving].qpos_address
            height = _pose(task, task.moving, qpos).position[2]
            qpos[address : address + 3] = task.scene.arm.base_pose.apply(np.array([*start_m, height]))
        obstacle = obstacle_in(task, settings, qpos)
        if obstacle is not None and task.obstacle is not None:
            obstacle = obstacle.placed(task.region)
            address = task.scene[task.obstacle].qpos_address
            height = _pose(task, task.obstacle, qpos).position[2]
            qpos[address : address + 3] = task.scene.arm.base_pose.apply(np.array([*obstacle.position_m, height]))
            if start_m is not None and math.dist(start_m, obstacle.position_m) < settings.clearance_m:
                continue
        try:
            thing.start(_pose(task, task.moving, qpos), obstacle)
        except NoRoomError:
            continue
        return qpos
    raise SettingError(
        f"the motion finds no way from any of {_MOST_PLACEMENTS} placements of {task.name!r}",
        fix="another motion, or another rule for the obstacle",
    )


def _pose(task: Task, name: str, qpos: Float[Array, "nq"]) -> Pose:
    """Of a free object, base frame."""
    address = task.scene[name].qpos_address
    world = Pose(qpos[address : address + 3], qpos[address + 3 : address + 7])
    return task.scene.arm.base_pose.inverse() @ world
