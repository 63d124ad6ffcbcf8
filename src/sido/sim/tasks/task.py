"""The contract of a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.geometry import Pose
from sido.motion import Region
from sido.sim.scene import Scene
from sido.sim.scenes import Carrier
from sido.sim.stepper import ContactPair
from sido.sim.tasks.state import TaskState
from sido.sim.tasks.workspace import Workspace

__all__ = ["Task"]


@runtime_checkable
class Task(Protocol):
    """What is done in a scene: a value that never changes, so that one task serves any number of environments.

    It judges all environments at once, from a `TaskState`, in the world frame; where its object may move is said in
    the robot's base frame, as motions are. `tests/contracts/task.py` holds what every task must satisfy.
    """

    @property
    def name(self) -> str:
        """As in `TASKS` and in `sido/Stack-v0`."""
        ...

    @property
    def description(self) -> str:
        """What is done, in words."""
        ...

    @property
    def scene(self) -> Scene:
        """What it is done with."""
        ...

    @property
    def moving(self) -> str:
        """The object that moves and is grasped, by its name in the scene."""
        ...

    @property
    def hangs(self) -> bool:
        """Whether nothing lies under the moving object: it then stays up, even if still, until it is grasped."""
        ...

    @property
    def carriers(self) -> tuple[Carrier, ...]:
        """What is seen to move it; in pictures only."""
        ...

    @property
    def obstacle(self) -> str | None:
        """The free object that stands in the moving one's way, if any does."""
        ...

    @property
    def region(self) -> Region:
        """Where the object moves; base frame."""
        ...

    @property
    def workspace(self) -> Workspace:
        """Where the robot can work: an object outside of it is lost."""
        ...

    @property
    def horizon_s(self) -> float:
        """How long an episode may take."""
        ...

    @property
    def contacts(self) -> tuple[ContactPair, ...]:
        """What it watches, beside the contacts of the moving object with the fingers and the table."""
        ...

    @property
    def subtasks(self) -> tuple[str, ...]:
        """The names of `signals` in the order in which they come; one is "grasp"."""
        ...

    def place(self, rng: np.random.Generator, /) -> Float[Array, "nq"]:
        """Everything where an episode may begin, as MuJoCo's positions: the arm at home, the moving object at rest."""
        ...

    def success(self, state: TaskState, /) -> Bool[Array, "N"]:
        """Where it is done."""
        ...

    def signals(self, state: TaskState, /) -> Mapping[str, Bool[Array, "N"]]:
        """For each subtask, where it is achieved at this moment: MimicGen's annotation. A signal may flicker."""
        ...

    def drivable(self, state: TaskState, /) -> Bool[Array, "N"]:
        """Where a moving object that has been let go lies so that it can be driven again."""
        ...

    def target(self, state: TaskState, /) -> Pose:
        """Where the moving object is to be let go, world frame, one for each environment: for experts."""
        ...
