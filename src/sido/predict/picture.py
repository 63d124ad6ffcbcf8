"""Histories, futures and forecasts, seen from above, as in the paper's figure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sido.arrays import Array
from sido.demos.picture import figure, save_figure
from sido.errors import DataError
from sido.predict.assessing import Exam
from sido.predict.predictor import Predictor

__all__ = ["draw_forecasts"]

_COLUMNS = 4
_COLOURS = ("tab:red", "tab:blue", "tab:green", "tab:purple", "tab:orange", "tab:brown", "tab:pink", "tab:gray")


def draw_forecasts(
    exam: Exam, predictors: Mapping[str, Predictor], path: Path, *, panels: int = 8, seed: int = 0
) -> None:
    """Draw some questions, half of them where the object has turned in the last second, if there are such.

    Grey the poses that were seen, light green the last of them, dark green where the object will be; each predictor's
    forecast in its colour. In centimetres from the last pose.
    """
    if not predictors:
        raise DataError("no predictor to draw")
    chosen = _chosen(exam, panels, np.random.default_rng(seed))
    rows = -(-len(chosen) // _COLUMNS)
    drawing = figure(3.1 * _COLUMNS, 3.1 * rows + 0.6)
    axes = list(drawing.subplots(rows, _COLUMNS, squeeze=False).flat)
    answers = {name: predictor(exam.history, exam.horizon_s).positions for name, predictor in predictors.items()}
    for panel in axes:
        panel.set_axis_off()
    for panel, i in zip(axes, chosen, strict=False):
        here = exam.history.latest[i, :2]
        seen = _cm(exam.history.positions[i][exam.history.valid[i]], here)
        panel.set_axis_on()
        panel.set_aspect("equal", adjustable="datalim")
        panel.plot(seen[:, 0], seen[:, 1], "--", color="gray", linewidth=1.0, marker=".", markersize=3, label="seen")
        panel.plot(0, 0, "o", color="lightgreen", markeredgecolor="gray", markersize=9, label="now")
        then = _cm(exam.truth[i], here)
        panel.plot(then[0], then[1], "o", color="darkgreen", markersize=9, label=f"in {exam.horizon_s:g} s")
        for (name, positions), colour in zip(answers.items(), _COLOURS * len(answers), strict=False):
            said = _cm(positions[i], here)
            panel.plot(said[0], said[1], "X", color=colour, markersize=8, markeredgecolor="white", label=name)
        since = exam.since_turn_s[i]
        panel.set_title("no turn yet" if np.isinf(since) else f"{since:.1f} s after a turn", fontsize=9)
        panel.set(xlabel="x, cm", ylabel="y, cm")
    handles, labels = drawing.axes[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6), frameon=False, fontsize=9)
    save_figure(drawing, path)


def _chosen(exam: Exam, panels: int, rng: np.random.Generator) -> Array:
    """Questions of different episodes, as far as there are so many."""
    recent = exam.since_turn_s < 1.0
    order = rng.permutation(len(exam.truth))
    ranked = [*order[recent[order]][: panels // 2], *order[~recent[order]], *order]
    unlike: dict[int, int] = {}
    for i in ranked:
        unlike.setdefault(int(exam.episode[i]), int(i))
    return np.array(list(unlike.values())[:panels], dtype=np.int64)


def _cm(positions: Array, origin: Array) -> Array:
    return (positions[..., :2] - origin) * 100.0
