"""Plays rollouts, many at once: the policy is asked for all that plan, and who is done makes room for the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch

from sido.arrays import Array
from sido.control import Insight, Observation
from sido.errors import SettingError, SidoError
from sido.evaluate.rollout import MOMENTS, STEPS, TURN_RAD, Rollout
from sido.evaluate.setting import Setting
from sido.evaluate.stage import Stage
from sido.policies import Actor
from sido.sim.vector_environment import Step

__all__ = ["ROWS_PER_CALL", "LoadActor", "Player", "PlayerOf", "Portion", "Troupe", "TroupeOf", "observed", "play"]

LoadActor = Callable[[], Actor]
"""Makes the policy in whatever process: to be pickled."""

ROWS_PER_CALL = 8


@final
@dataclass(frozen=True)
class Portion:
    """Some episodes of a setting: a job."""

    setting: Setting
    seeds: tuple[int, ...]


@final
@dataclass(frozen=True)
class PlayerOf:
    """Makes a `Player` in whatever process: what a `sido.jobs.Crew` is given."""

    load: LoadActor
    envs: int = 16
    rows_per_call: int = ROWS_PER_CALL
    device: str = "cpu"

    def __call__(self) -> Player:
        torch.set_num_threads(1)  # two threads wait for each other longer than they compute
        return Player(self.load(), envs=self.envs, rows_per_call=self.rows_per_call, device=self.device)


@final
class Player:
    """Plays portions; the stage of the last one is kept."""

    def __init__(self, actor: Actor, *, envs: int, rows_per_call: int = ROWS_PER_CALL, device: str = "cpu") -> None:
        self._actor, self._envs, self._rows_per_call, self._device = actor, envs, rows_per_call, device
        if isinstance(actor, torch.nn.Module):
            actor.to(device).eval()
        self._stage: Stage | None = None

    def __call__(self, portion: Portion) -> list[Rollout]:
        """In the order of its seeds."""
        stage = self._stage_of(portion.setting, min(self._envs, len(portion.seeds)))
        try:
            rollouts = {rollout.seed: rollout for rollout in play(stage, portion.seeds)}
        except SidoError as error:
            raise error.at(demo=f"{portion.setting.world}, {portion.setting.deployment}") from None
        return [rollouts[seed] for seed in portion.seeds]

    def close(self) -> None:
        """Give the last stage back."""
        if self._stage is not None:
            self._stage.close()
            self._stage = None

    def _stage_of(self, setting: Setting, envs: int) -> Stage:
        if self._stage is None or self._stage.setting != setting or len(self._stage.world) != envs:
            self.close()
            self._stage = Stage(self._actor, setting, envs=envs, rows_per_call=self._rows_per_call, device=self._device)
        return self._stage


@final
@dataclass(frozen=True)
class TroupeOf:
    """Makes a `Troupe` in whatever process."""

    envs: int = 16
    device: str = "cpu"

    def __call__(self) -> Troupe:
        return Troupe(self)


@final
class Troupe:
    """Plays portions of any policies; the player of the last one is kept, so they had better come in their order."""

    def __init__(self, made_of: TroupeOf) -> None:
        self._made_of = made_of
        self._load: LoadActor | None = None
        self._player: Player | None = None

    def __call__(self, job: tuple[LoadActor, Portion]) -> list[Rollout]:
        """A policy and what it plays."""
        load, portion = job
        if self._player is None or load != self._load:
            if self._player is not None:
                self._player.close()
            self._load = load
            self._player = PlayerOf(load, envs=self._made_of.envs, device=self._made_of.device)()
        return self._player(portion)


def play(stage: Stage, seeds: Sequence[int]) -> Iterator[Rollout]:
    """Play the episodes of these seeds, in whatever order they end.

    A rollout follows from the setting, the policy and its seed alone, to the last bit.
    """
    world, agent = stage.world, stage.agent
    if len(seeds) < len(world):
        raise SettingError(
            "more environments than episodes", field="envs", found=len(world), expected=f"{len(seeds)} at most"
        )
    waiting = list(reversed(seeds))
    begun = [waiting.pop() for _ in range(len(world))]
    world.reset(begun)
    agent.reset(begun)
    logs = {i: _Log(stage, i) for i in range(len(world))}
    while logs:
        live = world.live
        actions = agent.act(observed(stage, live), live)
        seen = _seen(stage)
        step = world.step(actions)
        after = _seen(stage)
        for i in list(logs):
            logs[i].add(seen, actions[i], agent.insight, step)
            ending = step.endings[i]
            if ending is None:
                continue
            yield logs.pop(i).finish(ending.value, after, world.fault_reason(i) or "")
            if waiting:
                seed = waiting.pop()
                world.reset([seed], [i])
                agent.reset([seed], [i])
                logs[i] = _Log(stage, i)


def observed(stage: Stage, live: Array) -> Observation:
    """What the agent is shown, with pictures for those that look at them."""
    world, agent = stage.world, stage.agent
    seen = world.observation
    images = stage.pictures(np.flatnonzero(agent.wants_images & live).tolist()) if agent.actor.cameras else {}
    return Observation(
        time_s=seen["time_s"],
        eef_position=seen["eef_position"],
        eef_quat_wxyz=seen["eef_quat_wxyz"],
        gripper=seen["gripper"],
        object_position=seen["object_position_estimated"],
        object_time_s=seen["estimate_time_s"],
        landmarks=stage.landmarks.of(world.state),
        images=images,
    )


def _seen(stage: Stage) -> dict[str, Array]:
    """What is logged of all environments at one moment; new arrays."""
    seen = stage.world.observation
    return {
        "eef_position": seen["eef_position"],
        "eef_quat_wxyz": seen["eef_quat_wxyz"],
        "gripper": seen["gripper"],
        "object_position": seen["object_position"],
        "object_velocity_mps": stage.world.object_velocity_mps,
        "seen_position": seen["object_position_estimated"],
        "seen_time_s": seen["estimate_time_s"],
        "target_position": stage.world.target_pose.position,
    }


@final
class _Log:
    """The episode that environment `i` has just begun."""

    def __init__(self, stage: Stage, i: int) -> None:
        world = stage.world
        plan = world.object_plan(i) if stage.setting.moves else None
        self._i, self._seed, self._period_s = i, int(world.seeds[i]), world.period_s
        self._turns_s = np.zeros(0) if plan is None else plan.turns_s(TURN_RAD)
        self._turns_s = self._turns_s[self._turns_s <= world.task.horizon_s]
        self._rows: dict[str, list[Any]] = {name: [] for name in (*MOMENTS, *STEPS)}

    def add(self, seen: dict[str, Array], action: Array, insight: Insight, step: Step) -> None:
        i, events = self._i, step.events
        self._see(seen)
        self._rows["action"].append(action)
        for name in ("planned", "chunk_step", "phase", "channel", "channel_time_s", "shift_m"):
            self._rows[name].append(getattr(insight, name)[i])
        for name in (
            "closing", "left_pad", "right_pad", "finger", "table", "held", "driven", "released", "resumed",
        ):  # fmt: skip
            self._rows[name].append(getattr(events, name)[i])

    def finish(self, ending: str, seen: dict[str, Array], fault: str) -> Rollout:
        self._see(seen)
        arrays = {name: _stored(np.stack(rows)) for name, rows in self._rows.items()}
        return Rollout(
            seed=self._seed,
            ending=ending,
            fault=fault,
            period_s=self._period_s,
            turns_s=self._turns_s.astype(np.float32),
            **arrays,
        )

    def _see(self, seen: dict[str, Array]) -> None:
        for name, values in seen.items():
            self._rows[name].append(values[self._i])


def _stored(array: Array) -> Array:
    kinds = {"f": np.float32, "i": np.int16, "b": np.bool_}
    return array.astype(kinds[array.dtype.kind])
