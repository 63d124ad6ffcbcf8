"""`sido view`: a window on a task being played."""

from __future__ import annotations

import itertools
from typing import Annotated

import tyro
from rich.console import Console
from rich.markup import escape

from sido.cli.play_options import PlayOptions

__all__ = ["view"]


def view(
    task: Annotated[str, tyro.conf.Positional],
    /,
    *,
    seed: int = 0,
    options: Annotated[PlayOptions, tyro.conf.OmitArgPrefixes] = PlayOptions(),
) -> int:
    """Watch the scripted expert at a task in MuJoCo's viewer, one episode after the other, until it is closed.

    It needs a screen; without one, `sido play` makes a film.

    Args:
        task: stack, square, mug, gantry or peachtree.
        seed: Of the first episode.
        options: How the task is played.
    """
    with options.stage(task) as (world, actor):
        import mujoco

        from sido.sim.performance import perform
        from sido.sim.window import open_window, show

        shown = mujoco.MjData(world.scene.model)
        with open_window(world.scene.model, shown) as window:
            console = Console(soft_wrap=True)
            console.print(escape(f"{options.describe(task, world)}; close the window to end"))
            for moment in show(perform(world, actor, itertools.count(seed)), world, shown, window):
                if moment.ending is not None:
                    console.print(escape(str(moment)))
    return 0
