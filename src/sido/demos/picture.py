"""A dataset at a glance: when objects are grasped, where they lie, how the hand gets there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sido.atomic import atomic_path
from sido.demos.summary import DatasetSummary
from sido.errors import DataError, MissingExtraError, SettingError

__all__ = ["draw_dataset", "figure", "save_figure"]

_MOST_PATHS = 60  # more lines than this are a blot


def draw_dataset(summary: DatasetSummary, path: Path) -> None:
    """Draw grasp indices, object placements and end-effector paths of a summarised dataset into a picture file."""
    if not summary.demos:
        raise DataError("no readable demonstration to draw", file=summary.path)
    drawing = figure(11, 3.6)
    grasps, above, side = drawing.subplots(1, 3)
    indices = [demo.grasp_index for demo in summary.demos if demo.grasp_index is not None]
    grasps.hist(indices, bins=min(30, max(5, len(indices))), color="tab:blue")
    grasps.axvline(summary.prediction_horizon, color="tab:red", linestyle="--", label="$T_p$")
    grasps.set(title="grasp index $T_g$", xlabel="control step", ylabel="demonstrations")
    grasps.legend(frameon=False)
    shown = summary.demos[:: max(1, len(summary.demos) // _MOST_PATHS)]
    for axes, second in ((above, 1), (side, 2)):
        for demo in shown:
            until = len(demo.eef_path) if demo.grasp_index is None else demo.grasp_index + 1
            path_cm = demo.eef_path[:until] * 100
            axes.plot(path_cm[:, 0], path_cm[:, second], color="tab:gray", alpha=0.4, linewidth=0.8)
        placed = np.array([demo.object_start for demo in summary.demos if demo.object_start is not None])
        if placed.size:
            axes.scatter(
                placed[:, 0] * 100, placed[:, second] * 100, s=14, color="tab:orange", zorder=3, label="object"
            )
            axes.legend(frameon=False)
        axes.set(xlabel="x, cm", ylabel=f"{'xyz'[second]}, cm")
        axes.set_aspect("equal", adjustable="datalim")
    above.set_title("from above: hand until the grasp")
    side.set_title("from the side")
    drawing.suptitle(f"{Path(summary.path).name}: {len(summary.demos)} demonstrations", fontsize=10)
    save_figure(drawing, path)


def figure(width_inch: float, height_inch: float) -> Any:
    """An empty matplotlib figure, made without the global state of pyplot."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("drawing pictures", "matplotlib", "report") from error
    return Figure(figsize=(width_inch, height_inch), layout="constrained")


def save_figure(drawing: Any, path: Path) -> None:
    """Write a figure to a file, whole or not at all; the ending chooses the format."""
    kinds = ("png", "pdf", "svg")
    if path.suffix.lstrip(".") not in kinds:
        raise SettingError(
            "not a picture's ending", file=path, found=repr(path.suffix), expected=f".{', .'.join(kinds)}"
        )
    with atomic_path(path, overwrite=True) as partial:
        drawing.savefig(partial, dpi=150)
