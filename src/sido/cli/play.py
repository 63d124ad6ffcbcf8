"""`sido play`: a film of a task being played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from rich.console import Console
from rich.markup import escape

from sido.cli.play_options import PlayOptions
from sido.cli.progress import Bar, progress_bar
from sido.errors import SettingError

if TYPE_CHECKING:
    from sido.sim.performance import Moment

__all__ = ["play"]


def play(
    task: Annotated[str, tyro.conf.Positional],
    /,
    *,
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    episodes: Annotated[int, tyro.conf.arg(aliases=["-n"])] = 1,
    seed: int = 0,
    cameras: tuple[str, ...] = ("spectator", "robot0_eye_in_hand"),
    size: int = 480,
    fps: float = 20.0,
    caption: bool = True,
    force: bool = False,
    options: Annotated[PlayOptions, tyro.conf.OmitArgPrefixes] = PlayOptions(),
) -> int:
    """Film the scripted expert at a task, at the speed of life, and say how each episode ended.

    The episodes are those of the seeds SEED, SEED + 1, ..., as `sido collect` plays them with random placements.

    Args:
        task: stack, square, mug, gantry or peachtree.
        out: The film: .mp4, or .gif; by default the task's name, then .mp4, here.
        episodes: How many, one after the other.
        seed: Of the first.
        cameras: Side by side, each SIZE pixels wide and high: spectator, agentview, robot0_eye_in_hand, frontview,
            birdview, sideview.
        size: Height and width of each camera's picture.
        fps: Frames per second: 20, or 20 divided by a whole number. A GIF is smaller with 10.
        caption: Write task, motion, seed and outcome into the picture.
        force: Replace an existing file.
        options: How the task is played.
    """
    if episodes < 1:
        raise SettingError("nothing to play", field="--episodes", found=episodes, expected="1 or more")
    path = out or Path(f"{task}.mp4")
    from sido.demos.film import check_film, write_film

    check_film(path, fps)
    with options.stage(task) as (world, actor):
        from sido.sim.cameras import PRETTY, Cameras
        from sido.sim.film import film, steps_per_frame
        from sido.sim.performance import perform

        steps_per_frame(world, fps)
        about = options.describe(task, world)
        over: list[Moment] = []
        with (
            Cameras(world.scene, cameras, size=(size, size), quality=PRETTY) as views,
            progress_bar("filming") as bar,
        ):
            moments = _told(perform(world, actor, range(seed, seed + episodes)), over, episodes, bar)
            frames = film(
                moments, world, views, rate_hz=fps, caption=(lambda moment: f"{about}\n{moment}") if caption else _none
            )
            count = write_film(path, frames, fps, overwrite=force)
    console = Console(soft_wrap=True)
    for moment in over:
        console.print(escape(str(moment)))
    console.print(f"film: {escape(str(path))}, {count / fps:.1f} s")
    return 0


def _none(_: Moment) -> str:
    return ""


def _told(moments: Iterable[Moment], over: list[Moment], episodes: int, bar: Bar) -> Iterator[Moment]:
    """The moments, told to the bar as they pass; those that end an episode are kept in `over`."""
    for moment in moments:
        if moment.ending is not None:
            over.append(moment)
        bar(len(over), episodes, str(moment))
        yield moment
