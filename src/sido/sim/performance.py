"""Episodes as they are played, one control step after the other: what a film and a window show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

from jaxtyping import Float

from sido.arrays import Array
from sido.sim.ending import Ending
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["Actor", "Moment", "perform"]


@runtime_checkable
class Actor(Protocol):
    """Who plays a world: a scripted expert, or whatever else chooses an action at every step."""

    def begin(self, envs: Sequence[int], seeds: Sequence[int]) -> None:
        """These environments were reset, to episodes of these seeds."""
        ...

    def actions(self) -> Float[Array, "N A"]:
        """The next action of each environment, in the world's own spec."""
        ...


@final
@dataclass(frozen=True)
class Moment:
    """Where a performance has come to."""

    seed: int
    """Of the episode."""
    time_s: float
    """Since it began."""
    steps: int
    ending: Ending | None
    """Why it is over; None while it goes on."""
    fault: str | None
    """What went wrong, where a robot's fault ended it."""

    def __str__(self) -> str:
        if self.ending is None:
            return f"seed {self.seed}: {self.time_s:.1f} s"
        why = f" ({self.fault})" if self.fault else ""
        return f"seed {self.seed}: {self.ending}{why} after {self.time_s:.1f} s"


def perform(world: VectorEnvironment, actor: Actor, seeds: Iterable[int]) -> Iterator[Moment]:
    """Play the episodes of these seeds in a world of one environment, each to its end.

    Yields:
        Before every control step, and when an episode is over.
    """
    for seed in seeds:
        world.reset([seed])
        actor.begin([0], [seed])
        yield _moment(world)
        while world.live.any():
            world.step(actor.actions())
            yield _moment(world)


def _moment(world: VectorEnvironment) -> Moment:
    steps = int(world.steps[0])
    return Moment(int(world.seeds[0]), steps * world.period_s, steps, world.endings[0], world.fault_reason(0))
