"""The engine: a script is a list of stages, played in all environments at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.geometry import Pose
from sido.sim.experts.expert import ExpertSettings
from sido.sim.experts.reaction import Reaction
from sido.sim.experts.sight import Goal, Sight
from sido.sim.experts.steering import Steering, in_action_spec
from sido.sim.experts.wander import GraspOffsets, Wander
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["Script", "Stage", "is_held", "is_let_go", "never"]

Condition = Callable[[Sight], Bool[Array, "N"]]

NEVER_HELD = 10_000
"""Steps since the object was held, before it ever was."""
FELT_STEPS = 3
"""After that many steps without contact of both pads, the object is no longer felt in the hand."""


def never(sight: Sight) -> Bool[Array, "N"]:
    """Nowhere."""
    return np.zeros(len(sight.steps), dtype=np.bool_)


def is_held(sight: Sight) -> Bool[Array, "N"]:
    """Both pads touch the object."""
    return sight.held


def is_let_go(sight: Sight) -> Bool[Array, "N"]:
    """They no longer do."""
    return sight.unheld_steps > 2


@final
@dataclass(frozen=True)
class Stage:
    """One part of a script. Its functions see all environments and answer for all; only those in it are asked."""

    name: str
    goal: Callable[[Sight], Goal]
    """Where the hand is sent."""
    done: Condition
    """The next stage begins; after the last, the hand keeps to the last one's goal."""
    closed: bool = False
    """What the gripper is told."""
    failed: Condition = never
    """The attempt is given up: back to the stage `again`. It comes before `done`."""
    again: str = ""
    """By default, the first."""
    least_steps: int = 1
    """Before it can be done or failed."""
    most_steps: int = 10_000
    """It then counts as done."""
    speed_mps: float = 0.25
    """Of the hand, seen from the goal, at most."""
    turning_radps: float = 1.5


@final
class Script:
    """An `Expert` that plays stages.

    Each environment is in one stage. At every step it moves on at most once, is sent to its stage's goal by
    `Steering`, and is told to open or close the gripper.

    Args:
        world: What it plays.
        stages: From first to last.
        settings: How well.
    """

    def __init__(self, world: VectorEnvironment, stages: Sequence[Stage], settings: ExpertSettings) -> None:
        envs, spec = len(world), world.settings.action_spec
        self.world = world
        self.stages = tuple(stages)
        names = [stage.name for stage in stages]
        self._again = np.array([names.index(stage.again) if stage.again else 0 for stage in stages])
        self._closed = np.array([stage.closed for stage in stages])
        self._least = np.array([stage.least_steps for stage in stages])
        self._most = np.array([stage.most_steps for stage in stages])
        self._speed_mps = np.array([stage.speed_mps for stage in stages]) * settings.speed
        self._turning_radps = np.array([stage.turning_radps for stage in stages]) * settings.speed
        self._reaction = Reaction(envs, delay_s=settings.reaction_delay_s, period_s=world.period_s)
        self._wander = Wander(envs, sigma_m=settings.action_noise_m, period_s=world.period_s, horizon=world.horizon)
        self._offsets = GraspOffsets(envs, sigma_m=settings.grasp_offset_m)
        self._steering = Steering(envs, spec=spec, speed=settings.speed)
        self._stage = np.full(envs, -1)
        self._steps = np.zeros(envs, dtype=np.int64)
        self._unheld = np.full(envs, NEVER_HELD)
        self._base_from_world = world.scene.arm.base_pose.inverse()
        self._last_hand: Float[Array, "N 3"] = world.eef_pose.position
        self._entry, self._home = world.eef_pose, world.eef_pose

    @property
    def stage_names(self) -> tuple[str, ...]:
        """The stage that each environment is in; "" before its first episode."""
        return tuple(self.stages[stage].name if stage >= 0 else "" for stage in self._stage)

    def begin(self, envs: Sequence[int], seeds: Sequence[int]) -> None:
        """As `Expert` says."""
        fresh = np.isin(np.arange(len(self.world)), list(envs))
        for env, seed in zip(envs, seeds, strict=True):
            self._wander.begin(env, seed)
            self._offsets.begin(env, seed)
        self._reaction.forget(fresh)
        self._steering.forget(fresh)
        self._stage, self._unheld = np.where(fresh, 0, self._stage), np.where(fresh, NEVER_HELD, self._unheld)
        hand = self.world.eef_pose
        self._home = _chosen(fresh, hand, self._home)
        self._last_hand = np.where(fresh[:, None], hand.position, self._last_hand)
        self._enter(fresh, hand)

    def actions(self) -> Float[Array, "N A"]:
        """As `Expert` says.

        Raises:
            SettingError: an environment of which it was not told that an episode began.
        """
        if (self._stage < 0).any():
            raise SettingError(
                f"the expert does not know of environment {int(np.argmin(self._stage))}",
                fix="call begin(envs, seeds) after each reset",
            )
        sight = self._moved_on(self._look())
        limits = self._speed_mps[self._stage], self._turning_radps[self._stage]
        way = self._steering.steer(sight.hand, self._goal(sight), *limits)
        self._steps = self._steps + 1
        spec, base = self.world.settings.action_spec, self.world.scene.arm.base_pose
        return in_action_spec(sight.hand, way, self._closed[self._stage], spec, base)

    def _look(self) -> Sight:
        world = self.world
        true, velocity_mps, held = world.object_position, world.object_velocity_mps, world.state.held
        self._unheld = np.where(held, 0, np.minimum(self._unheld + 1, NEVER_HELD))
        felt = (self._unheld <= FELT_STEPS)[:, None]
        hand, last = world.eef_pose, self._last_hand
        self._last_hand = hand.position
        seen, seen_mps = self._reaction.look(true, velocity_mps)
        return Sight(
            world=world,
            base_from_world=self._base_from_world,
            hand=hand,
            hand_mps=(hand.position - last) / world.period_s,
            thing_position=np.where(felt, true, seen),
            velocity_mps=np.where(felt, velocity_mps, seen_mps),
            held=held,
            unheld_steps=self._unheld,
            steps=self._steps,
            entry=self._entry,
            home=self._home,
            grasp_offset=self._offsets.now,
        )

    def _moved_on(self, sight: Sight) -> Sight:
        """The next stages begin where they must; what is known in them."""
        ripe = self._steps >= self._least[self._stage]
        failed, done = self._asked(sight, "failed") & ripe, self._asked(sight, "done") & ripe
        done = (done | (self._steps >= self._most[self._stage])) & ~failed & (self._stage < len(self.stages) - 1)
        if not (failed | done).any():
            return sight
        self._stage = np.where(failed, self._again[self._stage], self._stage + done)
        self._unheld = np.where(failed, NEVER_HELD, self._unheld)
        self._offsets.again(failed)
        self._enter(failed | done, sight.hand)
        return dataclasses.replace(
            sight,
            unheld_steps=self._unheld,
            steps=self._steps,
            entry=self._entry,
            grasp_offset=self._offsets.now,
        )

    def _asked(self, sight: Sight, condition: Literal["done", "failed"]) -> Bool[Array, "N"]:
        """What the stage that each environment is in says."""
        answer = np.zeros(len(self._stage), dtype=np.bool_)
        for k in np.unique(self._stage):
            here = self._stage == k
            answer[here] = getattr(self.stages[k], condition)(sight)[here]
        return answer

    def _goal(self, sight: Sight) -> Goal:
        """Where the hands are to come, with all noise."""
        envs, wander = len(self._stage), self._wander.step()
        whole = Goal(np.empty((envs, 3)), np.empty((envs, 4)), np.empty((envs, 3)))
        for k in np.unique(self._stage):
            here, goal = self._stage == k, self.stages[k].goal(sight)
            for values, said in zip(whole, goal, strict=True):
                values[here] = said[here] if said.ndim == 2 else said
        return Goal(whole.position + wander, whole.quat_wxyz, whole.velocity_mps)

    def _enter(self, which: Bool[Array, "N"], hand: Pose) -> None:
        self._steps = np.where(which, 0, self._steps)
        self._entry = _chosen(which, hand, self._entry)


def _chosen(which: Bool[Array, "N"], one: Pose, other: Pose) -> Pose:
    rows = which[:, None]
    return Pose(np.where(rows, one.position, other.position), np.where(rows, one.quat_wxyz, other.quat_wxyz))
