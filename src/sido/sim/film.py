"""Performances as frames of a film."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from jaxtyping import UInt8

from sido.arrays import Array
from sido.errors import SettingError
from sido.sim.cameras import Cameras
from sido.sim.performance import Moment
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["film", "steps_per_frame"]

_LINGER_S = 0.8
"""For so long the film stands still when an episode is over."""


def steps_per_frame(world: VectorEnvironment, rate_hz: float) -> int:
    """Control steps from one frame to the next, of a film at the speed of life.

    Raises:
        SettingError: that is no whole number.
    """
    steps = 1 / (rate_hz * world.period_s) if rate_hz > 0 else 0.0
    if round(steps) < 1 or abs(steps - round(steps)) > 1e-6:
        raise SettingError(
            "a frame must be a whole number of control steps",
            field="rate_hz",
            found=rate_hz,
            expected=f"{1 / world.period_s:g} frames a second divided by a whole number",
        )
    return round(steps)


def film(
    moments: Iterable[Moment],
    world: VectorEnvironment,
    cameras: Cameras,
    *,
    rate_hz: float = 20.0,
    caption: Callable[[Moment], str] = lambda _: "",
) -> Iterator[UInt8[Array, "height width 3"]]:
    """Frames of a performance in `world`, its cameras' images side by side; the last of an episode lingers.

    Args:
        moments: What `perform` yields; taken one at a time.
        world: What is performed in.
        cameras: Of its scene.
        rate_hz: Frames in a second of the performance; the control rate divided by a whole number.
        caption: Written into each frame.
    """
    every = steps_per_frame(world, rate_hz)
    for moment in moments:
        over = moment.ending is not None
        if not over and moment.steps % every:
            continue
        images = cameras.render(world.scenery(0), caption=caption(moment))
        frame = np.concatenate([images[name] for name in cameras.names], axis=1)
        for _ in range(max(1, round(_LINGER_S * rate_hz)) if over else 1):
            yield frame
