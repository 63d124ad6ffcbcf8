"""`sido collect`: demonstrations from a scripted expert."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sido.cli.duration import shown_duration
from sido.cli.progress import progress_bar
from sido.demos import action_spec
from sido.errors import MissingExtraError, SettingError
from sido.jobs import Crew, Here, Processes, RayCluster

if TYPE_CHECKING:
    from sido.sim.collect import Recipe, Report, Standing

__all__ = ["collect"]


def collect(
    task: Annotated[str, tyro.conf.Positional],
    /,
    *,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])],
    demos: Annotated[int | None, tyro.conf.arg(aliases=["-n"])] = None,
    motion: str = "still",
    speed: float | None = None,
    obstacle: str = "reverse",
    placements: Literal["random", "x", "y", "grid"] | None = None,
    actions: str = "osc-absolute",
    cameras: bool = False,
    agent_camera: str = "agentview",
    image_size: int = 84,
    reaction_delay: float = 0.0,
    action_noise: float = 0.0,
    grasp_offset: float = 0.0,
    seed: int = 0,
    workers: int = 1,
    ray: str | None = None,
    format: Literal["robomimic", "lerobot", "lerobot-video", "zarr"] | None = None,
    force: bool = False,
    json: bool = False,
) -> int:
    """Let a scripted expert play a task until enough attempts succeed, and write them as a dataset.

    Attempt k has the seed SEED + k; the dataset is the first N that succeed, whoever plays them: on however many
    processes or machines, interrupted or not, the file is the same. Stopped (Ctrl-C, or killed), it goes on where it
    was when the same command is given again. At the end it says what the collection cost.

    Args:
        task: stack, square, mug, gantry or peachtree.
        out: The dataset: .hdf5 for robomimic, .zarr or .zarr.zip for diffusion_policy, a folder for LeRobot.
        demos: How many demonstrations; by default as many as the paper has.
        motion: How the object moves: still, x, y, circle, random, variable-speed, gantry, peachtree, accelerating,
            stop-and-go.
        speed: Its speed in m/s; by default the motion's own.
        obstacle: What it does where another object stands in its way: reverse, pass-beside, outside.
        placements: Where it begins: random, as the task draws it; x, y or grid, spread evenly over the region, and each
            place tried until it succeeds. By default as in the paper: a grid for gantry, else random.
        actions: What they mean: osc-absolute, osc-delta, rot6d-absolute, or a JSON object of ActionSpec's fields.
        cameras: Record images of the agent's camera and of the wrist's (robot0_eye_in_hand) at every step.
        agent_camera: agentview, as robosuite has it; or closeview (stack, square), in which things are three times as
            large: for images of 64 or 84 pixels.
        image_size: Their height and width in pixels.
        reaction_delay: The expert knows of the moving object only what was so many seconds ago, as people do.
        action_noise: Standard deviation of slow noise on where it sends the hand, in metres.
        grasp_offset: Standard deviation of how far beside the object's middle it grasps, in metres. From 0.006,
            policies learn to cope with their own errors.
        seed: The same seed gives the same demonstrations.
        workers: How many processes of this machine play.
        ray: The address of a Ray cluster that plays instead: auto, head:6379, ray://head:10001.
        format: The format to write, where the name does not say it.
        force: Replace an existing dataset.
        json: Print the report as JSON.
    """
    try:
        from sido.sim.collect import WRIST_CAMERA, Recipe, preset
        from sido.sim.experts import ExpertSettings
    except ModuleNotFoundError as error:
        raise MissingExtraError("sido collect", str(error.name), "sim") from error
    chosen, usual = preset(task, placements)
    number = usual if demos is None else demos
    if number is None:
        raise SettingError(
            f"the paper has no {task} demonstrations with --placements {chosen}", fix="say how many you want with -n"
        )
    recipe = Recipe(
        task=task,
        demos=number,
        action_spec=action_spec(actions),
        motion=motion,
        speed_mps=speed,
        obstacle=obstacle,
        expert=ExpertSettings(reaction_delay, action_noise, grasp_offset),
        placements=chosen,
        cameras=(agent_camera, WRIST_CAMERA) if cameras else (),
        image_size=image_size,
        seed=seed,
    )
    report = _collect(recipe, out, _crew(workers, ray), format, force)
    if report is None:
        return 130
    if json:
        print(json_format.dumps({"dataset": str(out), "recipe": recipe.to_dict(), **report.to_dict()}, indent=2))
    else:
        _print(report, out)
    return 0


def _crew(workers: int, ray: str | None) -> Crew:
    if ray is None:
        return Here() if workers == 1 else Processes(workers)
    if workers != 1:
        raise SettingError("a cluster has workers of its own", field="--workers, --ray", fix="leave one of them out")
    return RayCluster(ray)


def _collect(recipe: Recipe, out: Path, crew: Crew, format: str | None, force: bool) -> Report | None:
    """The report; None where Ctrl-C came first."""
    from sido.sim.collect import collect

    latest = ""
    try:
        with progress_bar("collecting") as bar:

            def progress(standing: Standing) -> None:
                nonlocal latest
                latest = f"{standing}; the same command goes on from there"
                bar(standing.demos, standing.wanted, _detail(standing))

            return collect(recipe, out, crew, format=format, overwrite=force, progress=progress)
    except KeyboardInterrupt:
        Console(stderr=True, soft_wrap=True).print(f"stopped: {latest or 'nothing was played yet'}")
        return None


def _detail(standing: Standing) -> str:
    share = f", {standing.demos / standing.attempts:.0%}" if standing.attempts else ""
    return f"{standing.attempts} attempts{share}"


def _print(report: Report, out: Path) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    unused = {ending: count for ending, count in report.endings.items() if ending != "success"}
    for name, value in (
        ("demonstrations", f"{report.demos}, in {out}"),
        ("attempts", str(report.attempts)),
        ("success rate", f"{report.success} (95 %, Wilson)"),
        ("failures", ", ".join(f"{count} {ending}" for ending, count in unused.items()) or "none"),
        ("robot time", f"{shown_duration(report.robot_time_s)}, in all attempts"),
        ("wall time", shown_duration(report.elapsed_s)),
    ):
        table.add_row(f"[bold]{name}[/]", escape(value))
    Console(soft_wrap=True).print(table)
