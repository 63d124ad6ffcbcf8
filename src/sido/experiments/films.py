"""Short films of rollouts: played again from their seeds, to the last bit the same, and filmed this time."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path

from jaxtyping import UInt8

from sido.arrays import Array
from sido.demos.film import write_film
from sido.evaluate import Setting, Stage
from sido.evaluate.player import ROWS_PER_CALL, observed
from sido.policies import Actor
from sido.sim.cameras import PRETTY, Cameras

__all__ = ["film_rollout"]

_PLAIN = dataclasses.replace(PRETTY, shadows=False, reflections=False)
"""Either would draw the whole scene again in every frame."""
_EVERY = 2
"""Control steps from one frame to the next."""
_LONGEST_S = 12.0
_LINGER = 8


def film_rollout(actor: Actor, setting: Setting, seed: int, *, size: int = 240) -> bytes:
    """An MP4 of the spectator's view, at the speed of life; the last frame lingers."""
    stage = Stage(actor, setting, envs=1, rows_per_call=ROWS_PER_CALL)
    try:
        with (
            Cameras(stage.task.scene, ["spectator"], size=(size, size), quality=_PLAIN) as cameras,
            tempfile.TemporaryDirectory() as folder,
        ):
            path = Path(folder) / "film.mp4"
            write_film(path, _frames(stage, cameras, seed), 1.0 / (stage.world.period_s * _EVERY))
            return path.read_bytes()
    finally:
        stage.close()


def _frames(stage: Stage, cameras: Cameras, seed: int) -> Iterator[UInt8[Array, "height width 3"]]:
    world, agent = stage.world, stage.agent
    world.reset([seed])
    agent.reset([seed])
    frame = cameras.render(world.scenery(0))["spectator"]
    while world.live.any() and world.steps[0] * world.period_s < _LONGEST_S:
        if world.steps[0] % _EVERY == 0:
            frame = cameras.render(world.scenery(0))["spectator"]
            yield frame
        world.step(agent.act(observed(stage, world.live), world.live))
    frame = cameras.render(world.scenery(0))["spectator"]
    for _ in range(_LINGER):
        yield frame
