"""The object of one episode: driven, grasped, lost, and driven again."""

from __future__ import annotations

from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.geometry import Pose
from sido.motion import Drive, Motion, NoRoomError, Obstacle, Region, Trajectory

__all__ = ["MovingObject"]

_BLOCK_STEPS = 20
"""So many control steps of the way are computed at once: one by one, it would cost a tenth of the physics."""


@final
class MovingObject:
    """Where it is driven, in control steps of `period_s`; metres, base frame.

    Args:
        motion: How it moves. At speed 0 it is not driven, unless it hangs.
        rng: Decides the motion.
        region: Where it may move.
        period_s: Of a control step.
        substeps: Of the physics in it.
        horizon_s: For how long there must be a way to go.
        hangs: Whether it must be held up until it is grasped.
    """

    def __init__(
        self,
        motion: Motion,
        rng: np.random.Generator,
        region: Region,
        *,
        period_s: float,
        substeps: int,
        horizon_s: float,
        hangs: bool,
    ) -> None:
        self.region = region
        self._motion = motion
        self._needs_drive = hangs or motion.speed_mps > 0.0
        self._rng = rng
        self._period_s = period_s
        self._substeps = substeps
        self._horizon_s = horizon_s + _BLOCK_STEPS * period_s
        self._untouched = 0
        self._tried = False
        self._drive: Drive | None = None

    @property
    def driven(self) -> bool:
        """Whether it is driven in the next step."""
        return self._drive is not None

    def start(self, pose: Pose, obstacle: Obstacle | None) -> None:
        """Drive it from there on, if it moves or hangs.

        Raises:
            NoRoomError: the motion has nowhere to go from there.
        """
        if not self._needs_drive:
            return
        drive = Drive(self._motion, self._rng, pose.position, self.region, obstacle)
        drive.trajectory(self._horizon_s)
        self._drive = drive
        self.quat_wxyz = pose.quat_wxyz
        self._step = 0
        self._compute_block()

    def path(self) -> tuple[Float[Array, "S 3"], Float[Array, "S 3"]]:
        """Its positions and velocities at the end of each substep of the next control step."""
        row = self._step % _BLOCK_STEPS
        return self._positions[row], self._velocities[row]

    def velocity(self) -> Float[Array, "3"]:
        """At this moment; m/s."""
        return np.zeros(3) if self._drive is None else self._drive.velocity

    def plan(self, until_s: float) -> Trajectory | None:
        """Its whole way, from when it began to be driven: an oracle. None if not driven."""
        return None if self._drive is None else self._drive.trajectory(until_s)

    def future(self, ahead_s: float) -> Float[Array, "3"] | None:
        """Where it will be in `ahead_s` if nobody grasps it, random draws included: an oracle. None if not driven."""
        if self._drive is None:
            return None
        then = self._drive.time_s + ahead_s
        return self._drive.trajectory(then).position(then)

    def advance(self, *, driven: bool) -> None:
        """A control step is over; a grasp may have ended the drive in it."""
        if self._drive is None:
            return
        if not driven:
            self._drive = None
            self._untouched, self._tried = 0, False
            return
        self._step += 1
        self._drive.step(self._period_s)
        if self._step % _BLOCK_STEPS == 0:
            self._compute_block()

    def touch(self, *, touched: bool) -> None:
        """Whether a finger touched it in a control step in which it was not driven."""
        self._untouched = 0 if touched else self._untouched + 1
        self._tried = self._tried and not touched

    def is_lost(self, after_steps: int) -> bool:
        """Whether it is to be driven again once it lies at rest: no finger has touched it for so many steps."""
        return self._needs_drive and not self.driven and not self._tried and self._untouched >= after_steps

    def resume(self, pose: Pose, obstacle: Obstacle | None) -> bool:
        """Drive a lost object again from where it lies at rest.

        It is tried once: where the object lies outside of its region, or has nowhere to go, it is left lying until a
        finger moves it.
        """
        self._tried = True
        if not self.region.contains(pose.position):
            return False
        try:
            self.start(pose, obstacle)
        except NoRoomError:
            return False
        return self.driven

    def _compute_block(self) -> None:
        assert self._drive is not None
        first = self._step * self._substeps + 1
        times = np.arange(first, first + _BLOCK_STEPS * self._substeps) * (self._period_s / self._substeps)
        trajectory = self._drive.trajectory(float(times[-1]))
        shape = (_BLOCK_STEPS, self._substeps, 3)
        self._positions = trajectory.position(times).reshape(shape)
        self._velocities = trajectory.velocity(times).reshape(shape)
