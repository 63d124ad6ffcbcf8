"""What `sido play` and `sido view` share: which performance."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sido.errors import MissingExtraError

if TYPE_CHECKING:
    from sido.sim.performance import Actor
    from sido.sim.vector_environment import VectorEnvironment

__all__ = ["PlayOptions"]


@dataclass(frozen=True)
class PlayOptions:
    """How a task is played."""

    motion: str = "still"
    """How the object moves: still, x, y, circle, random, variable-speed, gantry, peachtree, accelerating,
    stop-and-go."""
    speed: float | None = None
    """Its speed in m/s; by default the motion's own."""
    obstacle: str = "reverse"
    """What it does where another object stands in its way: reverse, pass-beside, outside."""
    reaction_delay: float = 0.0
    """The expert knows of the moving object only what was so many seconds ago, as people do."""
    action_noise: float = 0.0
    """Standard deviation of slow noise on where it sends the hand, in metres."""
    grasp_offset: float = 0.0
    """Standard deviation of how far beside the object's middle it grasps, in metres."""

    @contextmanager
    def stage(self, task: str) -> Generator[tuple[VectorEnvironment, Actor]]:
        """A world of one environment, and its scripted expert."""
        try:
            from sido.sim.experts import ExpertSettings, expert_for
            from sido.sim.settings import EnvironmentSettings, obstacle_rule
            from sido.sim.tasks import task_named
            from sido.sim.vector_environment import VectorEnvironment
        except ModuleNotFoundError as error:
            raise MissingExtraError("playing tasks", str(error.name), "sim") from error
        from sido.motion import motion_named

        settings = EnvironmentSettings(
            motion=motion_named(self.motion, self.speed), obstacle_rule=obstacle_rule(self.obstacle)
        )
        expert = ExpertSettings(self.reaction_delay, self.action_noise, self.grasp_offset)
        with VectorEnvironment(task_named(task), envs=1, settings=settings) as world:
            yield world, expert_for(world, expert)

    def describe(self, task: str, world: VectorEnvironment) -> str:
        """In a few words."""
        speed_mps = world.settings.motion.speed_mps
        return f"{task}, {self.motion}" + (f" at {100 * speed_mps:g} cm/s" if speed_mps else "")
