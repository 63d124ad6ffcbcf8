"""Counterfactual chunks beside the demonstrated ones, as a person would check them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sido.arrays import Array
from sido.augment.invariant import commanded_path
from sido.demos.chunks import ChunkBatch
from sido.demos.picture import figure, save_figure
from sido.errors import DataError

__all__ = ["draw_counterfactuals"]

_COLUMNS = 4
_DEMONSTRATED, _COUNTERFACTUAL, _OBJECT = "tab:gray", "tab:blue", "tab:orange"


def draw_counterfactuals(
    before: ChunkBatch, after: ChunkBatch, action_horizon: int, path: Path, *, relative_gain: float = 1.0
) -> None:
    """Draw each sample twice: from above, and from the side that looks across its displacement.

    Grey is the demonstrated path of the hand, blue the counterfactual one; the object is hollow where it was and
    full where it has been put; a circle marks `T_a`, a square `T_p`. All in centimetres from the object's old place.
    """
    if len(after) == 0:
        raise DataError("there is no chunk to draw")
    rows = -(-len(after) // _COLUMNS)
    drawing = figure(3.1 * _COLUMNS, 4.6 * rows)
    axes = drawing.subplots(2 * rows, _COLUMNS, squeeze=False)
    for panel in axes.flat:
        panel.set_axis_off()
    origin = before.object_position[:, -1:].double()
    paths = [
        ((commanded_path(batch, relative_gain=relative_gain).double() - origin) * 100).numpy()
        for batch in (before, after)
    ]
    deltas_cm = after.displacement.double().numpy() * 100
    for sample in range(len(after)):
        row, column = divmod(sample, _COLUMNS)
        above, side = axes[2 * row, column], axes[2 * row + 1, column]
        delta = deltas_cm[sample]
        length = float(np.linalg.norm(delta))
        along = delta / length if length else np.array([1.0, 0.0, 0.0])
        old, new = (path[sample] for path in paths)
        _draw(above, old[:, :2], new[:, :2], delta[:2], action_horizon)
        lift = np.array([0.0, 0.0, 1.0])
        views = [np.stack([points @ along, points @ lift], axis=-1) for points in (old, new)]
        _draw(side, views[0], views[1], np.array([length, 0.0]), action_horizon)
        above.set_title(f"demo {int(after.demo_index[sample])}, step {int(after.step[sample])}", fontsize=9)
        above.set(xlabel="x, cm", ylabel="y, cm")
        side.set(xlabel="along the displacement, cm", ylabel="z, cm")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    save_figure(drawing, path)


def _draw(panel: Any, old: Array, new: Array, moved: Array, action_horizon: int) -> None:
    panel.set_axis_on()
    panel.set_aspect("equal", adjustable="datalim")
    for path, colour, label in ((old, _DEMONSTRATED, "demonstrated"), (new, _COUNTERFACTUAL, "counterfactual")):
        panel.plot(path[:, 0], path[:, 1], color=colour, linewidth=1.2, marker=".", markersize=3, label=label)
        panel.plot(*path[action_horizon - 1], "o", color=colour, fillstyle="none", markersize=8)
        panel.plot(*path[-1], "s", color=colour, fillstyle="none", markersize=8)
    panel.plot(0, 0, "D", color=_OBJECT, fillstyle="none", label="object as demonstrated")
    panel.plot(*moved, "D", color=_OBJECT, label="object displaced")
    panel.plot([], [], "o", color="black", fillstyle="none", label="$T_a$")
    panel.plot([], [], "s", color="black", fillstyle="none", label="$T_p$")
