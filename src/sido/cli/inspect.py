"""`sido inspect`: what is in a dataset, and what is wrong with it."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sido.cli.dataset_options import DatasetOptions
from sido.cli.progress import progress_bar
from sido.demos import DatasetSummary, summarise

__all__ = ["inspect"]


def inspect(
    path: Annotated[str, tyro.conf.Positional],
    /,
    *,
    plot: Path | None = None,
    json: bool = False,
    prediction_horizon: int = 16,
    options: Annotated[DatasetOptions, tyro.conf.OmitArgPrefixes] = DatasetOptions(),
) -> int:
    """Say what a dataset holds: format, lengths, cameras, what actions mean, grasps, eligible chunks, problems.

    Reads robomimic and MimicGen HDF5, LeRobot folders (v3.0, v2.1), diffusion_policy zarr, DROID folders.
    Exits with 1 when some demonstration cannot be used as it is.

    Args:
        path: The dataset: a file or a folder.
        plot: Also draw grasp indices, object placements and end-effector paths into this picture (.png, .pdf, .svg).
        json: Print one JSON document instead of tables.
        prediction_horizon: T_p, in control steps: a chunk is eligible if it ends before the grasp.
        options: How to read the dataset.
    """
    with options.open(path) as dataset, progress_bar("reading demonstrations") as progress:
        summary = summarise(dataset, prediction_horizon=prediction_horizon, progress=progress)
    if plot is not None:
        from sido.demos.picture import draw_dataset

        draw_dataset(summary, plot)
    if json:
        print(json_format.dumps(summary.to_dict(), indent=2))
    else:
        _print(summary, plot)
    return 1 if summary.problems else 0


def _print(summary: DatasetSummary, plot: Path | None) -> None:
    console = Console(soft_wrap=True)
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in _rows(summary):
        table.add_row(f"[bold]{name}[/]", escape(value))
    console.print(table)
    for text in summary.warnings:
        console.print(f"[yellow]warning:[/] {escape(text)}")
    for text in summary.problems:
        console.print(f"[red]problem:[/] {escape(text)}")
    if plot is not None:
        console.print(f"picture: {escape(str(plot))}")


def _rows(summary: DatasetSummary) -> list[tuple[str, str]]:
    spec, demos = summary.action_spec, summary.demos
    lengths = [demo.steps for demo in demos]
    grasps = sorted(demo.grasp_index for demo in demos if demo.grasp_index is not None)
    share = summary.eligible / max(summary.steps, 1)
    cameras = (f"{camera} {height}x{width}" for camera, (height, width) in summary.cameras.items())
    sources = (f"{source} ({count})" for source, count in summary.grasp_sources.items())
    return [
        ("dataset", summary.path),
        ("format", summary.format),
        ("environment", summary.environment or "not said"),
        ("demonstrations", f"{len(demos)} readable, {summary.steps} steps, {_span(lengths)} each"),
        ("subsets", ", ".join(f"{key} ({count})" for key, count in summary.filter_keys.items()) or "none"),
        ("cameras", ", ".join(cameras) or "none"),
        (
            "actions",
            f"{spec['kind']}, rotation {spec['rotation']}, frame {spec['frame']}, {spec['position_scale_m']:g} m and "
            f"{spec['rotation_scale_rad']:g} rad a unit, gripper {spec['gripper_open']:g} open to "
            f"{spec['gripper_closed']:g} closed, {spec['rate_hz']:g} Hz",
        ),
        ("object position", summary.object_position_source or "none"),
        ("grasp index", f"{_span(grasps)}, median {grasps[len(grasps) // 2]}" if grasps else "none found"),
        ("grasp source", ", ".join(sources) or "none"),
        (
            "eligible chunks",
            f"{summary.eligible} of {summary.steps} ({share:.1%}) end before the grasp at T_p = "
            f"{summary.prediction_horizon}",
        ),
    ]


def _span(numbers: list[int]) -> str:
    if not numbers:
        return "none"
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"
