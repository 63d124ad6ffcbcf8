"""What the wrist camera saw in rollouts before the grasp, and at the attempt: played again from their seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from jaxtyping import Bool, Int, UInt8

from sido.arrays import Array
from sido.atomic import atomic_path
from sido.control import Phase
from sido.evaluate import PolicySource, Setting, Stage
from sido.evaluate.player import ROWS_PER_CALL, observed
from sido.sim.collect import WRIST_CAMERA

__all__ = ["SeenRollouts", "Views", "joined", "keep_views", "read_views"]


@final
@dataclass(frozen=True, eq=False)
class Views:
    """Pictures, of which episode, and whether they are of the moment at which the gripper was told to close."""

    images: UInt8[Array, "n height width 3"]
    seeds: Int[Array, " n"]
    closing: Bool[Array, " n"]


@final
@dataclass(frozen=True)
class SeenRollouts:
    """Makes who plays one episode again and looks, in whatever process: a job is a seed."""

    source: PolicySource
    setting: Setting

    def __call__(self) -> _Looking:
        import torch

        torch.set_num_threads(1)
        return _Looking(Stage(self.source(), self.setting, envs=1, rows_per_call=ROWS_PER_CALL))


@final
class _Looking:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def __call__(self, seed: int) -> Views:
        """The views that the policy planned on, and the one with which the gripper first closed."""
        stage = self._stage
        world, agent = stage.world, stage.agent
        world.reset([seed])
        agent.reset([seed])
        images: list[Array] = []
        while world.live.any():
            actions = agent.act(observed(stage, world.live), world.live)
            closes = bool(agent.actor.action_spec.closes(actions)[0])
            if closes or (agent.insight.planned[0] and agent.insight.phase[0] == Phase.REACHING):
                images.append(stage.pictures([0])[WRIST_CAMERA][0].copy())
            if closes:
                break
            world.step(actions)
        closing = np.zeros(len(images), dtype=np.bool_)
        closing[-1:] = not world.endings[0] and bool(images)
        return Views(np.stack(images), np.full(len(images), seed), closing)


def joined(parts: Sequence[Views]) -> Views:
    """All of them."""
    return Views(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("images", "seeds", "closing")))


def keep_views(path: Path, views: Views) -> None:
    """As arrays, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path, overwrite=True) as partial, partial.open("wb") as stream:
        np.savez_compressed(stream, images=views.images, seeds=views.seeds, closing=views.closing)


def read_views(path: Path) -> Views:
    """What was kept."""
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
        return Views(file["images"], file["seeds"], file["closing"])
