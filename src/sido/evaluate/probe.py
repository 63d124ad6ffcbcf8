"""Does a policy follow the pose channel or the pixels? It is shown a moment in which they disagree, and asked.

At moments of static episodes that the policy plays itself, before the grasp, it plans from what it saw; then again,
with the same noise, where

    the channel alone says that the object is displaced by d;
    the images alone do: the object is moved in the scene, and photographed;
    both do.

The response is the share of `d` by which the planned goal at `T_a` moves, along `d`: 1 follows, 0 does not. A policy
from state has no pixels to follow; its other features (the way from the hand) follow the channel.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Float

from sido.arrays import Array
from sido.control import Observation, Phase
from sido.control.window import Window
from sido.errors import SettingError
from sido.evaluate.player import observed
from sido.evaluate.setting import Setting
from sido.evaluate.stage import Stage
from sido.policies import Actor

__all__ = ["CHANGES", "NEAR_M", "Change", "Response", "Share", "probe", "shares"]

Change = Literal["channel", "pixels", "both"]
CHANGES: tuple[Change, ...] = ("channel", "pixels", "both")
NEAR_M = 0.10
"""A hand nearer to the object than this is near the grasp."""
_DIRECTIONS = 4


@final
@dataclass(frozen=True)
class Response:
    """Of one question: how the planned goals moved, along the displacement, as a share of it."""

    seed: int
    time_s: float
    distance_m: float
    """From the hand to the object."""
    change: Change
    at_action_horizon: float
    at_prediction_horizon: float

    @property
    def near(self) -> bool:
        return self.distance_m < NEAR_M


class Share(NamedTuple):
    """The mean response, its standard error over episodes, and of how many questions."""

    mean: float
    error: float
    questions: int


def probe(actor: Actor, *, task: str = "stack", seeds: Sequence[int], shift_m: float = 0.016) -> Iterator[Response]:
    """Play static episodes of these seeds and ask at every plan before the grasp, for displacements each way.

    Raises:
        SettingError: actions that are no goals, or a policy without a pose channel and without images.
    """
    if actor.action_spec.kind != "absolute":
        raise SettingError("only absolute goals can be compared", field="action_spec", found=actor.action_spec.kind)
    stage = Stage(actor, Setting(task=task), envs=1, rows_per_call=1)
    turns = np.arange(_DIRECTIONS) * (2 * np.pi / _DIRECTIONS)
    shifts = shift_m * np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=1)
    try:
        for seed in seeds:
            yield from _asked(stage, seed, shifts)
    finally:
        stage.close()


def shares(responses: Sequence[Response]) -> dict[tuple[Change, bool], Share]:
    """By what was changed, and whether near the grasp. Episodes count alike, however many questions they had."""
    found: dict[tuple[Change, bool], Share] = {}
    for change in CHANGES:
        for near in (False, True):
            asked = [response for response in responses if (response.change, response.near) == (change, near)]
            if not asked:
                continue
            by_seed: dict[int, list[float]] = {}
            for response in asked:
                by_seed.setdefault(response.seed, []).append(response.at_action_horizon)
            means = np.array([np.mean(values) for values in by_seed.values()])
            error = float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else float("nan")
            found[change, near] = Share(float(means.mean()), error, len(asked))
    return found


def _asked(stage: Stage, seed: int, shifts: Float[Array, "D 3"]) -> Iterator[Response]:
    world, agent = stage.world, stage.agent
    world.reset([seed])
    agent.reset([seed])
    before: Observation | None = None
    while world.live.any():
        now = observed(stage, world.live)
        actions = agent.act(now, world.live)
        insight = agent.insight
        if insight.planned[0] and insight.phase[0] == Phase.REACHING:
            yield from _responses(stage, seed, [before or now, now], shifts)
        if insight.phase[0] == Phase.HOLDING:
            return
        before = now
        world.step(actions)


def _responses(stage: Stage, seed: int, window: list[Observation], shifts: Float[Array, "D 3"]) -> Iterator[Response]:
    actor, now = stage.agent.actor, window[-1]
    distance = float(np.linalg.norm(stage.world.object_position[0] - now.eef_position[0]))
    nothing = np.zeros(3)
    there = _shown(stage, window, nothing)
    plain = _goals(actor, seed, there, nothing)
    changes: tuple[Change, ...] = CHANGES if actor.cameras else CHANGES[:1]
    for shift in shifts:
        moved = _shown(stage, window, shift)
        for change in changes:
            told = nothing if change == "pixels" else shift
            goals = _goals(actor, seed, there if change == "channel" else moved, told)
            along = (goals - plain) @ shift / (shift @ shift)
            yield Response(
                seed=seed,
                time_s=float(now.time_s[0]),
                distance_m=distance,
                change=change,
                at_action_horizon=float(along[stage.setting.action_horizon - 1]),
                at_prediction_horizon=float(along[-1]),
            )


def _goals(actor: Actor, seed: int, window: list[Observation], told: Float[Array, "3"]) -> Float[Array, "H 3"]:
    """The positions of the chunk that is planned from there, always with the same noise."""
    seen = Window(1, actor.observation_steps, actor.cameras)
    for moment in window[-actor.observation_steps :]:
        seen.push(np.array([0]), moment, moment.object_position + told)
    chunk = actor.predict(seen.of(np.array([0])), [torch.Generator().manual_seed(seed)])
    return chunk[0, :, :3].double().numpy()


def _shown(stage: Stage, window: list[Observation], shift: Float[Array, "3"]) -> list[Observation]:
    """The window with pictures of the present scene, its object displaced: the same at each of its steps."""
    if not stage.agent.actor.cameras:
        return window
    images = stage.pictures_displaced(0, shift)
    return [dataclasses.replace(moment, images=images) for moment in window]
