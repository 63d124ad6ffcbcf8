"""A motion under way: stepped, interrupted by a grasp, and taken up again from wherever the object was dropped."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.motion.motion import Motion
from sido.motion.obstacle import Obstacle
from sido.motion.region import Region
from sido.motion.settings import require_above
from sido.motion.trajectory import Trajectory

__all__ = ["Drive"]

_FIRST_PLAN_S = 32.0


class Drive:
    """The state of one driven object.

    - The motion's clock, `time_s`, runs only while the object is driven: `hold` stops it, `resume` starts a new one.
    - `resume` plans the motion afresh from where the object now lies: a circle gets a new centre, a sway a new line,
      the pace a new phase. Continuing the old way displaced would leave the region.
    - The n-th plan is the same for the same seed and the same place, however long the earlier ones lasted.
    """

    def __init__(
        self,
        motion: Motion,
        rng: np.random.Generator,
        start: Float[Array, "3"],
        region: Region,
        obstacle: Obstacle | None = None,
    ) -> None:
        self.motion = motion
        self.region = region
        self.obstacle = obstacle
        self._seed = int(rng.integers(2**63))
        self._plans = 0
        self._begin(start)

    def _begin(self, start: Float[Array, "3"]) -> None:
        trajectory = self._plan(start, self._plans, _FIRST_PLAN_S)  # it may raise: then nothing has changed
        self._start = start.copy()
        self._trajectory = trajectory
        self._plans += 1
        self.time_s = 0.0
        self.held = False

    def _plan(self, start: Float[Array, "3"], number: int, duration_s: float) -> Trajectory:
        rng = np.random.default_rng([self._seed, number])
        return self.motion.trajectory(rng, start, self.region, duration_s, self.obstacle)

    def trajectory(self, until_s: float) -> Trajectory:
        """The current plan, at least up to `until_s` on the motion's clock, for native code to follow.

        A plan that is too short is made again, twice as long: its beginning does not change.
        """
        while self._trajectory.duration_s < until_s:
            longer = 2.0 * self._trajectory.duration_s
            self._trajectory = self._plan(self._start, self._plans - 1, longer)
        return self._trajectory

    @property
    def position(self) -> Float[Array, "3"]:
        """Where the drive has the object; while it is held, where it was taken from."""
        return self.trajectory(self.time_s).position(self.time_s)

    @property
    def velocity(self) -> Float[Array, "3"]:
        """How it drives the object: not at all while it is held."""
        return np.zeros(3) if self.held else self.trajectory(self.time_s).velocity(self.time_s)

    def step(self, dt_s: float) -> None:
        """Let `dt_s` pass. Nothing happens to an object that is held."""
        require_above(0.0, dt_s, "dt_s")
        if not self.held:
            self.time_s += dt_s

    def hold(self) -> None:
        """The object has been grasped: it is no longer driven."""
        self.held = True

    def resume(self, position: Float[Array, "3"]) -> None:
        """Drive the object again, from where it now lies.

        Raises `SettingError` outside of the region, and `NoRoomError` where the obstacle or a corner leaves no room.
        The drive then is as it was: the object may be left lying.
        """
        self._begin(position)

    def future(self, ahead_s: float) -> Float[Array, "3"] | None:
        """Where the object will be in `ahead_s`, exactly; None where a random draw, or the hand, decides it.

        Walls and obstacle are known to it. For what will come, random draws included: `trajectory(t).position(t)`.
        """
        require_above(0.0, ahead_s, "ahead_s")
        then = self.time_s + ahead_s
        plan = self.trajectory(then)
        if self.held or then > plan.predictable_until(self.time_s):
            return None
        return plan.position(then)
