"""`sido synthesize`: pretend demonstrations for a first look, without a simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro
from rich.console import Console
from rich.markup import escape

from sido.cli.interruption import interruptible
from sido.cli.progress import progress_bar
from sido.demos import ACTION_SPECS, DatasetInfo, create_dataset
from sido.demos.synthetic import reach_and_lift
from sido.errors import SettingError

__all__ = ["synthesize"]


def synthesize(
    target: Annotated[Path, tyro.conf.Positional],
    /,
    *,
    demos: int = 20,
    image_size: int | None = None,
    actions: Literal["osc-delta", "osc-absolute"] = "osc-delta",
    seed: int = 0,
    force: bool = False,
) -> int:
    """Make demonstrations by arithmetic: a hand reaches for a cube, closes, lifts. For trying sido, not for robots.

    Args:
        target: Where to write: .hdf5 for robomimic, .zarr or .zarr.zip for diffusion_policy, a folder for LeRobot.
        demos: How many.
        image_size: Draw two cameras of this many pixels; without it there are no images.
        actions: What the actions mean.
        seed: The same seed gives the same demonstrations.
        force: Replace an existing target.
    """
    for name, value in (("demos", demos), ("image-size", image_size)):
        if value is not None and value < 1:
            raise SettingError("too few", field=f"--{name}", found=value, expected="1 or more")
    cameras = () if image_size is None else ("agentview", "robot0_eye_in_hand")
    info = DatasetInfo(
        "synthetic", ACTION_SPECS[actions], cameras=cameras, object_position_source="known, since it was made up"
    )
    rng = np.random.default_rng(seed)
    with (
        interruptible() as between_steps,
        create_dataset(target, info, overwrite=force) as writer,
        progress_bar("making demonstrations") as progress,
    ):
        for index in range(demos):
            grasp_step = int(rng.integers(32, 48))
            spec = info.action_spec
            writer.write(
                reach_and_lift(rng, name=f"demo_{index}", spec=spec, grasp_step=grasp_step, image_size=image_size)
            )
            progress(index + 1, demos)
            between_steps()
    Console(soft_wrap=True).print(f"wrote {demos} synthetic demonstrations to {escape(str(target))}")
    return 0
